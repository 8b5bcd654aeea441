//! Finds local repositories that git could not push to: git reports the failure and the repository on different lines.

use std::path::{Path, PathBuf};

/// Messages that git prints if it cannot write to the remote repository.
const SIGNS: &[&str] = &[
    "nable to create temporary object directory",
    "insufficient permission for adding an object",
    "nable to create temporary file",
    "unpacker error",
    "annot lock ref",
    "failed to update ref",
];

/// Returns the folders that git tried to write to.
pub(super) fn remotes(lines: &[&str], cwd: &Path) -> Vec<PathBuf> {
    if !lines.iter().any(|line| SIGNS.iter().any(|sign| line.contains(sign))) {
        return Vec::new();
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    for name in lines.iter().filter_map(|line| remote_in(line)) {
        let Some(path) = local(name) else { continue };
        let folder = omp_stdx::real_path::of(&cwd.join(path));
        let of_git = Some(folder.join(".git")).filter(|of_git| of_git.is_dir());
        let folder = of_git.unwrap_or(folder);
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// `To /srv/remote.git`, `error: failed to push some refs to '/srv/remote.git'`.
fn remote_in(line: &str) -> Option<&str> {
    let refs = line.split_once("failed to push some refs to ").map(|(_, name)| name.trim().trim_matches('\''));
    refs.or_else(|| line.strip_prefix("To ").map(str::trim)).filter(|name| !name.is_empty())
}

/// Distinguishes paths from addresses as git does: an address has a scheme, or a colon before the first slash.
fn local(name: &str) -> Option<&str> {
    if let Some(path) = name.strip_prefix("file://") {
        return path.starts_with('/').then_some(path);
    }
    let first = name.split('/').next().unwrap_or_default();
    (!first.contains(':')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_is_found_by_every_name_that_git_prints() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for made in ["app", "bare.git", "other/.git"] {
            std::fs::create_dir_all(top.join(made)).unwrap();
        }
        let of = |name: &str| {
            let refs = format!("error: failed to push some refs to '{name}'");
            let to = format!("To {name}");
            let lines = ["error: remote unpack failed: unable to create temporary object directory", &to, &refs];
            remotes(&lines, &top.join("app"))
        };
        let bare = top.join("bare.git");
        assert_eq!(of("../bare.git"), std::slice::from_ref(&bare));
        assert_eq!(of(&format!("file://{}", bare.display())), std::slice::from_ref(&bare));
        assert_eq!(of(&bare.display().to_string()), [bare]);
        // A push to a repository with a work tree writes to its `.git` folder.
        assert_eq!(of("../other"), [top.join("other/.git")]);
        for far in ["git@host.example:a.git", "https://host.example/a.git", "host.example:/srv/a.git"] {
            assert_eq!(of(far), [""; 0].map(PathBuf::from), "{far}");
        }
    }
}
