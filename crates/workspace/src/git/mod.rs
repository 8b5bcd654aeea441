//! Reads the state of a git repository from its files. Git is not run, because a repository's configuration can name
//! programs that git would run.

mod index;

use std::io::Read;
use std::path::{Path, PathBuf};

use omp_stdx::sanitize::hides_something;

use crate::open::open_regular;

/// Size limit for files that hold a name.
const LONGEST_FILE: u64 = 4 * 1024;
/// Maximum number of characters shown of a branch name.
const LONGEST_NAME: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitStatus {
    /// See [`checked_out`].
    pub head: String,
    /// Number of tracked files that are missing or differ in size or time from the index. `None` if unknown, for example for
    /// lack of time.
    pub changed: Option<usize>,
}

/// Returns the state of the repository that contains a folder, as far as it can be determined until `is_over` returns true.
pub fn git_status(folder: &Path, is_over: &dyn Fn() -> bool) -> Option<GitStatus> {
    let repository = GitFolder::around(folder)?;
    let head = repository.head()?;
    let changed = index::changed(&repository.git.join("index"), &repository.root, is_over);
    Some(GitStatus { head, changed })
}

/// Returns the branch of the repository that contains a folder, or the abbreviated commit if no branch is checked out.
pub fn checked_out(folder: &Path) -> Option<String> {
    GitFolder::around(folder)?.head()
}

struct GitFolder {
    /// The root of the tracked files.
    root: PathBuf,
    /// The `.git` folder.
    git: PathBuf,
}

impl GitFolder {
    fn around(folder: &Path) -> Option<Self> {
        let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
        let (marker, real_root) = (root.join(".git"), root.canonicalize().ok()?);
        let named = match marker.is_dir() {
            true => marker.clone(),
            // In a worktree, `.git` is a file that names its git folder.
            false => root.join(short_file(&marker)?.strip_prefix("gitdir:")?.trim()),
        };
        let git = named.canonicalize().ok()?;
        let is_own = git.starts_with(&real_root) || is_worktree(&git, &real_root) || is_submodule(&git, &real_root);
        is_own.then(|| Self { root: root.to_owned(), git })
    }

    fn head(&self) -> Option<String> {
        let head = short_file(&self.git.join("HEAD"))?;
        let head = head.lines().next()?.trim();
        let shown = match head.strip_prefix("ref:") {
            Some(name) => name.trim().trim_start_matches("refs/heads/").chars().take(LONGEST_NAME).collect::<String>(),
            // Anything but hex digits is not a commit, but the content of a file that the name leads to.
            None => head.get(..8).filter(|_| head.bytes().all(|byte| byte.is_ascii_hexdigit()))?.to_owned(),
        };
        Some(
            shown.replace(|char: char| char.is_control() || hides_something(char.encode_utf8(&mut [0; 4])), "\u{fffd}"),
        )
    }
}

/// Checks that the repository lists this worktree: otherwise a folder could claim any repository of the user as its own.
fn is_worktree(git: &Path, root: &Path) -> bool {
    let known = short_file(&git.join("gitdir")).map(|text| PathBuf::from(text.trim()));
    known.and_then(|known| git.join(known).canonicalize().ok()).is_some_and(|known| known == root.join(".git"))
}

/// Returns whether `git` is a submodule's folder in `.git/modules` of a repository above.
fn is_submodule(git: &Path, root: &Path) -> bool {
    root.ancestors().skip(1).any(|above| git.starts_with(above.join(".git/modules")))
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
        assert_eq!(git_status(&worktree, &|| false), Some(GitStatus { head: "side".into(), changed: None }));
    }

    #[cfg(unix)]
    #[test]
    fn a_repository_of_somebody_else_is_not_read() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().canonicalize().unwrap().join(name);
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), text).unwrap();
        };
        write("private/.git/HEAD", "ref: refs/heads/secret-plan\n");
        write("private/key", "-----BEGIN KEY\n");
        let private = path("private/.git").display().to_string();
        write("file/.git", &format!("gitdir: {private}\n"));
        write("dots/.git", "gitdir: ../private/.git\n");
        std::fs::create_dir_all(path("link")).unwrap();
        std::os::unix::fs::symlink(&private, path("link/.git")).unwrap();
        std::fs::create_dir_all(path("head/.git")).unwrap();
        std::os::unix::fs::symlink(path("private/key"), path("head/.git/HEAD")).unwrap();
        // A bare repository among the files.
        write("bare/HEAD", "ref: refs/heads/evil\n");
        write("bare/config", "[core]\n\tbare = true\n\tfsmonitor = touch ran\n");
        for name in ["file", "dots", "link", "head", "bare"] {
            assert_eq!(checked_out(&path(name)), None, "{name}");
        }
        write("private/.git/worktrees/tree/HEAD", "ref: refs/heads/side\n");
        write("private/.git/worktrees/tree/gitdir", &format!("{}\n", path("tree/.git").display()));
        write("tree/.git", &format!("gitdir: {private}/worktrees/tree\n"));
        write("thief/.git", &format!("gitdir: {private}/worktrees/tree\n"));
        write("private/.git/modules/sub/HEAD", "ref: refs/heads/inner\n");
        write("private/sub/.git", "gitdir: ../.git/modules/sub\n");
        let heads = ["tree", "thief", "private/sub"].map(|name| checked_out(&path(name)));
        assert_eq!(heads, [Some("side".to_owned()), None, Some("inner".to_owned())]);
    }

    #[test]
    fn a_branch_is_shown_without_tricks() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(".git")).unwrap();
        for (name, expect) in [
            ("$(touch ran)", "$(touch ran)"),
            ("--upload-pack=x", "--upload-pack=x"),
            ("a\u{202e}b\u{200b}c", "a\u{fffd}b\u{fffd}c"),
        ] {
            std::fs::write(temp.path().join(".git/HEAD"), format!("ref: refs/heads/{name}\n")).unwrap();
            assert_eq!(checked_out(temp.path()).as_deref(), Some(expect));
        }
    }
}
