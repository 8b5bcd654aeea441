//! Whether a path is inside another, if names that look different may be equal to a file system.
//!
//! Denied paths are denied in every spelling on every system, because a case-insensitive disk can be mounted anywhere.
//! Allowed paths are allowed in other spellings only if the system itself treats them as equal.

use std::borrow::Cow;
use std::path::Path;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

const NAMES_FOLD: bool = cfg!(any(target_os = "macos", windows));

pub(super) fn is_allowed_by(root: &Path, real: &Path) -> bool {
    real.starts_with(root) || NAMES_FOLD && is_within_folded(root, real)
}

pub(super) fn is_denied_by(root: &Path, real: &Path) -> bool {
    real.starts_with(root) || is_within_folded(root, real)
}

/// Returns the same text for all paths that a file system may treat as equal: lower case, composed.
pub fn folded_path(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    let is_plain = |char: char| char.is_ascii() && !char.is_ascii_uppercase();
    if text.chars().all(is_plain) {
        return text;
    }
    // Lower-casing can decompose characters (U+0130), so they are composed last.
    let small: String = text.nfd().flat_map(char::to_lowercase).collect();
    match is_nfc_quick(small.chars()) {
        IsNormalized::Yes => small.into(),
        _ => small.nfc().collect::<String>().into(),
    }
}

fn is_within_folded(root: &Path, real: &Path) -> bool {
    Path::new(&*folded_path(real)).starts_with(Path::new(&*folded_path(root)))
}

/// Whether git runs this or reads its settings from it, in any repository: worktrees and submodules have theirs in
/// subfolders.
pub(super) fn decides_for_git(real: &Path) -> bool {
    const NAMES: &[&str] = &["hooks", "config", "config.worktree", "commondir"];
    let folded = folded_path(real);
    let mut parts = folded.split('/').skip_while(|part| *part != ".git").skip(1);
    match parts.next() {
        Some("info") => parts.next() == Some("attributes"),
        Some("modules" | "worktrees") => parts.any(|part| NAMES.contains(&part)),
        Some(name) => NAMES.contains(&name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_hooks_of_any_repository() {
        for (path, expect) in [
            ("/w/sub/.git/config", true),
            ("/w/sub/.GIT/Hooks/pre-commit", true),
            ("/w/.git/modules/a/b/hooks/x", true),
            ("/w/.git/modules/a/b/index", false),
            ("/w/.git/worktrees/x/commondir", true),
            ("/w/.git/info/attributes", true),
            ("/w/.git/info/exclude", false),
            ("/w/.git/index", false),
            ("/w/.git", false),
            ("/w/hooks/config", false),
            ("/w/.github/hooks", false),
        ] {
            assert_eq!(decides_for_git(Path::new(path)), expect, "{path}");
        }
    }

    #[track_caller]
    fn check(root: &str, real: &str, expect: bool) {
        assert_eq!(is_within_folded(Path::new(root), Path::new(real)), expect, "{real} within {root}");
    }

    #[test]
    fn spellings() {
        check("/u/.ssh", "/u/.ssh/id", true);
        check("/u/.ssh", "/U/.SSH/id", true);
        check("/u/.ssh", "/u/.ssh2/id", false);
        check("/u/.ssh", "/u", false);
        check("/u/caf\u{e9}", "/u/cafe\u{301}/x", true);
        check("/u/cafe\u{301}", "/u/CAF\u{c9}/x", true);
        check("/u/stra\u{df}e", "/u/STRA\u{1e9e}E", true);
        check("/u/i", "/u/\u{130}", false);
        check("/u/.ssh/", "/u/.ssh/id", true);
        check("/u/\u{212a}eys", "/u/keys", true);
    }

    #[test]
    fn plain_paths_are_not_copied() {
        assert!(matches!(folded_path(Path::new("/w/app/src/main.rs")), Cow::Borrowed(_)));
        assert_eq!(folded_path(Path::new("/Home")), "/home");
    }
}
