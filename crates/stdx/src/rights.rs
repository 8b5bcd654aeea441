//! The permissions of the user of this process.

use std::path::Path;

/// Whether `path` can be written, or created if it does not exist.
pub fn may_write(path: &Path) -> bool {
    let there = path.ancestors().find(|path| path.symlink_metadata().is_ok());
    there.is_some_and(may_write_to_existing)
}

#[cfg(unix)]
fn may_write_to_existing(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).is_ok()
}

#[cfg(not(unix))]
fn may_write_to_existing(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| !data.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_exist_goes_by_the_folder_around_it() {
        let folder = std::env::temp_dir();
        assert!(may_write(&folder) && may_write(&folder.join("not/there/yet")));
    }

    #[test]
    fn a_folder_that_is_closed_is_closed_to_those_it_keeps_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut permissions = folder.path().metadata().unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(folder.path(), permissions).unwrap();
        let file = folder.path().join("file");
        // Root may write it nevertheless.
        assert_eq!(may_write(&file), std::fs::write(&file, "").is_ok());
    }
}
