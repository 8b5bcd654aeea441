//! What a git repository says of itself, read from its files: git is not started, for a repository's configuration can
//! name programs that git would run.

mod index;

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::open::open_regular;

/// The files that hold a name are short.
const LONGEST_FILE: u64 = 4 * 1024;
/// Characters of a branch that are shown.
const LONGEST_NAME: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitStatus {
    /// See [`checked_out`].
    pub head: String,
    /// Tracked files that are gone or have another size or time than git noted. `None` where that is not known.
    pub changed: Option<usize>,
}

/// The state of the repository around a folder.
pub fn git_status(folder: &Path) -> Option<GitStatus> {
    let repository = Repository::around(folder)?;
    let head = repository.head()?;
    let changed = index::changed(&repository.git.join("index"), &repository.root);
    Some(GitStatus { head, changed })
}

/// The branch of the repository around a folder, or the beginning of the commit that is checked out without one.
pub fn checked_out(folder: &Path) -> Option<String> {
    Repository::around(folder)?.head()
}

struct Repository {
    /// Where the files are that are tracked.
    root: PathBuf,
    /// Where git keeps its own.
    git: PathBuf,
}

impl Repository {
    fn around(folder: &Path) -> Option<Self> {
        let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
        let marker = root.join(".git");
        let git = match marker.is_dir() {
            true => marker,
            // A worktree names the folder of its own.
            false => root.join(short_file(&marker)?.strip_prefix("gitdir:")?.trim()),
        };
        Some(Self { root: root.to_owned(), git })
    }

    fn head(&self) -> Option<String> {
        let head = short_file(&self.git.join("HEAD"))?;
        let head = head.lines().next()?.trim();
        let shown = match head.strip_prefix("ref:") {
            Some(name) => name.trim().trim_start_matches("refs/heads/").chars().take(LONGEST_NAME).collect::<String>(),
            None => head.get(..8)?.to_owned(),
        };
        Some(shown.replace(char::is_control, "\u{fffd}"))
    }
}

fn short_file(path: &Path) -> Option<String> {
    let (file, _) = open_regular(path).ok()?;
    let mut text = String::new();
    file.take(LONGEST_FILE).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_of_the_repository_around_a_folder() {
        let temp = tempfile::tempdir().unwrap();
        let inner = temp.path().join("src/deep");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(checked_out(&inner), None);
        let git = temp.path().join(".git");
        std::fs::create_dir(&git).unwrap();
        assert_eq!(checked_out(&inner), None, "a broken repository has no branch");
        for (head, expect) in [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref: refs/heads/a/b\n", Some("a/b")),
            ("0123456789abcdef\n", Some("01234567")),
            ("ref: refs/heads/\u{1b}[2J\n", Some("\u{fffd}[2J")),
            ("0123", None),
            ("", None),
        ] {
            std::fs::write(git.join("HEAD"), head).unwrap();
            assert_eq!(checked_out(&inner).as_deref(), expect, "{head:?}");
        }
        let worktree = temp.path().join("tree");
        std::fs::create_dir_all(worktree.join("of")).unwrap();
        std::fs::write(worktree.join(".git"), "gitdir: of\n").unwrap();
        std::fs::write(worktree.join("of/HEAD"), "ref: refs/heads/side\n").unwrap();
        assert_eq!(git_status(&worktree), Some(GitStatus { head: "side".into(), changed: None }));
    }
}
