//! Resolves the links of a path.

use std::path::{Path, PathBuf};

/// Resolves links as far as the path exists.
pub fn of(path: &Path) -> PathBuf {
    if let Some(real) = existing(path) {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => of(parent).join(name),
        _ => path.to_owned(),
    }
}

/// Returns `None` if the path does not exist.
#[cfg(target_os = "linux")]
pub fn existing(path: &Path) -> Option<PathBuf> {
    use nix::errno::Errno;
    use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};
    // One call instead of one per component, because most paths contain no link.
    let how = OpenHow::new().flags(OFlag::O_PATH | OFlag::O_CLOEXEC).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    match openat2(AT_FDCWD, path, how) {
        Ok(_) if is_plain(path) => Some(path.to_owned()),
        Err(Errno::ENOENT | Errno::ENOTDIR) => None,
        _ => path.canonicalize().ok(),
    }
}

/// Returns `None` if the path does not exist.
#[cfg(not(target_os = "linux"))]
pub fn existing(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Whether the path has the form of a real path: absolute, without `.`, `..` and doubled slashes.
#[cfg(target_os = "linux")]
fn is_plain(path: &Path) -> bool {
    let leads_back = path.components().any(|part| part == std::path::Component::ParentDir);
    !leads_back && path.is_absolute() && path.components().collect::<PathBuf>().as_os_str() == path.as_os_str()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_the_system_says() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("dangling")).unwrap();
        let names = [
            "",
            "a",
            "a/",
            "a/b",
            "a/b/",
            "a//b",
            "a/./b",
            "a/../a/b",
            "a/b/..",
            "link",
            "link/b",
            "link/../a",
            "dangling",
            "dangling/x",
            "a/file",
            "a/file/x",
            "gone",
            "gone/..",
            "./a",
        ];
        for name in names {
            let path = PathBuf::from(format!("{}/{name}", root.display()));
            assert_eq!(existing(&path), path.canonicalize().ok(), "{name}");
        }
        assert_eq!(existing(Path::new(".")), Path::new(".").canonicalize().ok());
    }

    #[test]
    fn what_does_not_exist_lies_where_its_folder_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        assert_eq!(of(&root.join("link/x/y")), root.join("a/x/y"));
        assert_eq!(of(&root.join("a/x")), root.join("a/x"));
    }
}
