//! Determines the workspace of a session: the repository that omp was started in, or the folder alone.

use std::path::{Path, PathBuf};

use omp_stdx::real_path::of as real;
use omp_types::WorkspaceScope;

use crate::repository::top_of;

/// The workspace of a session that starts in `folder`, with links resolved.
///
/// It is the folder itself if the repository is that of the home folder (`~/.git`), is above it, belongs to another user,
/// or is not one that git would use: `~/.git` must not open the whole home folder to a session in `~/project`.
pub fn workspace_of(folder: &Path, home: &Path, scope: WorkspaceScope) -> PathBuf {
    let folder = real(folder);
    let top = match scope {
        WorkspaceScope::Repository => top_of(&folder).map(Path::to_owned),
        WorkspaceScope::Folder => None,
    };
    match top {
        Some(top) if is_workspace(&top, &folder, home) => top,
        _ => folder,
    }
}

/// Whether the repository at `top` is that of the home folder, or contains it.
pub(crate) fn is_of_home(top: &Path, home: &Path) -> bool {
    real(home).starts_with(top)
}

/// Anybody, including commands, can create a repository there.
const SHARED: [&str; 5] = ["/tmp", "/private/tmp", "/var/tmp", "/private/var/tmp", "/dev/shm"];

fn is_workspace(top: &Path, folder: &Path, home: &Path) -> bool {
    let is_shared = SHARED.iter().any(|shared| top == Path::new(shared));
    let below = folder.strip_prefix(top).unwrap_or(folder);
    let in_git = below.iter().any(|name| name == ".git");
    top.parent().is_some() && !is_shared && !in_git && !is_of_home(top, home) && is_repository(top) && is_users(top)
}

/// Applies git's rule: a folder with a `HEAD`, or a file that points to one.
fn is_repository(top: &Path) -> bool {
    let git = top.join(".git");
    git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
}

/// Git refuses a repository of another user, who could have created it above any folder (`/tmp/.git`).
#[cfg(unix)]
fn is_users(top: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = nix::unistd::geteuid().as_raw();
    [top.to_owned(), top.join(".git")].iter().all(|path| path.symlink_metadata().is_ok_and(|data| data.uid() == user))
}

#[cfg(not(unix))]
fn is_users(_top: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(paths: &[&str]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for path in paths {
                let path = tree.path(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "x").unwrap();
            }
            tree
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(path)
        }

        #[track_caller]
        fn check(&self, folder: &str, scope: WorkspaceScope, expect: &str) {
            let found = workspace_of(&self.path(folder), &self.path("home"), scope);
            assert_eq!(found, self.path(expect), "{folder} {scope:?}");
        }
    }

    #[test]
    fn the_workspace_is_the_repository() {
        use WorkspaceScope::{Folder, Repository};
        let tree = Tree::new(&[
            "home/app/.git/HEAD",
            "home/app/crates/a/x",
            "home/app/vendored/.git/HEAD",
            "home/app/vendored/deep/x",
            "home/linked/.git",
            "home/linked/deep/x",
            "home/plain/deep/x",
            "home/empty/.git/nothing",
            "home/empty/deep/x",
        ]);
        tree.check("home/app", Repository, "home/app");
        tree.check("home/app/crates/a", Repository, "home/app");
        tree.check("home/app/crates/a", Folder, "home/app/crates/a");
        // A nested repository such as a submodule; a linked worktree.
        tree.check("home/app/vendored/deep", Repository, "home/app/vendored");
        tree.check("home/linked/deep", Repository, "home/linked");
        tree.check("home/plain/deep", Repository, "home/plain/deep");
        tree.check("home/empty/deep", Repository, "home/empty/deep");
        tree.check("home/app/.git", Repository, "home/app/.git");
    }

    #[test]
    fn a_repository_of_the_home_folder_opens_nothing() {
        let tree = Tree::new(&["home/.git/HEAD", "home/project/x", "home/own/.git/HEAD", "home/own/deep/x"]);
        tree.check("home/project", WorkspaceScope::Repository, "home/project");
        tree.check("home", WorkspaceScope::Repository, "home");
        tree.check("home/own/deep", WorkspaceScope::Repository, "home/own");
        let above = Tree::new(&[".git/HEAD", "home/project/x", "srv/x"]);
        above.check("srv", WorkspaceScope::Repository, "srv");
        above.check("home/project", WorkspaceScope::Repository, "home/project");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_a_repository_of_another_user_opens_nothing() {
        let tree = Tree::new(&["home/app/.git/HEAD", "home/app/deep/x"]);
        std::os::unix::fs::symlink(tree.path("home/app/deep"), tree.path("link")).unwrap();
        tree.check("link", WorkspaceScope::Repository, "home/app");
        if nix::unistd::geteuid().is_root() {
            std::os::unix::fs::lchown(tree.path("home/app/.git"), Some(12345), None).unwrap();
            tree.check("home/app/deep", WorkspaceScope::Repository, "home/app/deep");
        }
    }
}
