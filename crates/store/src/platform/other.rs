//! Systems without Unix modes: the profile folder's own access rules protect the files.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

pub(crate) fn private_file() -> OpenOptions {
    OpenOptions::new()
}

pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Not to be learned without help of the system's own interfaces.
pub(crate) fn host_name() -> Option<String> {
    None
}

/// When a file came where it is; unknown here.
pub(crate) fn changed(_file: &Metadata) -> Option<std::time::SystemTime> {
    None
}

/// The environment names the terminal here.
pub(crate) fn terminal_device() -> Option<std::path::PathBuf> {
    None
}

/// An open file cannot be deleted here.
pub(crate) fn is_deleted(_file: &Metadata) -> bool {
    false
}

/// An open file keeps its name here.
pub(crate) fn is_named(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// The file system does this by itself.
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// A held file cannot be removed here; the empty lock file stays and is used again.
pub(crate) fn remove_held(_path: &Path) {}
