//! Normalizes names inside archives and refuses those that leave the archive.

use unicode_normalization::UnicodeNormalization;

use super::ArchiveError;

/// Normalizes a typed path for lookup or writing: `/` as the separator, no `.`, and never outside the archive.
pub fn inner_path(typed: &str) -> Result<String, ArchiveError> {
    if typed.contains('\0') {
        return Err(ArchiveError::Nul);
    }
    let slashed = typed.replace('\\', "/");
    if slashed.starts_with('/') || has_drive(&slashed) {
        return Err(ArchiveError::Absolute(typed.into()));
    }
    let parts: Vec<&str> = slashed.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    match () {
        () if parts.contains(&"..") => Err(ArchiveError::ParentPart),
        () if parts.is_empty() => Err(ArchiveError::NoEntryNamed),
        () => Ok(parts.join("/")),
    }
}

/// Like [`inner_path`], for the target of a write: refuses a trailing slash, which names a folder.
pub fn target_path(typed: &str) -> Result<String, ArchiveError> {
    match typed.trim() {
        "" => Err(ArchiveError::NoEntryNamed),
        _ if typed.ends_with(['/', '\\']) => Err(ArchiveError::FolderTarget),
        _ => inner_path(typed),
    }
}

/// Returns the normalized name of an entry, or `None` if it leads out of the archive.
pub fn reachable(name: &str) -> Option<String> {
    inner_path(name).ok()
}

/// Maps names that some file systems treat as the same file to the same string.
pub fn folded(name: &str) -> String {
    // Uppercase first, because `ß` and `SS`, and `ς` and `σ`, have the same uppercase form.
    name.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect()
}

fn has_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && bytes.next() == Some(b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_paths() {
        for (typed, want) in [
            ("a/b.txt", Ok("a/b.txt")),
            ("./a//b/./c", Ok("a/b/c")),
            ("a\\b", Ok("a/b")),
            ("a..b/..c", Ok("a..b/..c")),
            ("", Err("must target a file inside")),
            (".", Err("must target a file inside")),
            ("dir/", Err("not a directory")),
            ("dir\\", Err("not a directory")),
            ("../x", Err("cannot contain '..'")),
            ("a/../b", Err("cannot contain '..'")),
            ("a\\..\\b", Err("cannot contain '..'")),
            ("/etc/passwd", Err("cannot be absolute")),
            ("\\\\host\\share", Err("cannot be absolute")),
            ("C:/x", Err("cannot be absolute")),
            ("c:x", Err("cannot be absolute")),
            ("a\0b", Err("NUL")),
        ] {
            match (target_path(typed), want) {
                (Ok(got), Ok(want)) => assert_eq!(got, want, "{typed}"),
                (Err(got), Err(want)) => assert!(got.to_string().contains(want), "{typed}: {got}"),
                (got, want) => panic!("{typed}: {got:?} is not {want:?}"),
            }
        }
    }

    #[test]
    fn names_that_some_disks_cannot_tell_apart() {
        for (left, right, same) in [
            ("README.md", "readme.MD", true),
            ("caf\u{e9}", "cafe\u{301}", true),
            ("stra\u{df}e", "STRASSE", true),
            ("a/b", "a/c", false),
            ("e", "\u{e9}", false),
        ] {
            assert_eq!(folded(left) == folded(right), same, "{left} {right}");
        }
    }
}
