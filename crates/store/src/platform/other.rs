//! Systems without Unix modes: the access rules of the profile folder protect the files.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

pub(crate) fn private_file() -> OpenOptions {
    OpenOptions::new()
}

pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Not available without system-specific interfaces.
pub fn host_name() -> Option<String> {
    None
}

/// The time of a file's last move is unknown on this system.
pub(crate) fn changed(_file: &Metadata) -> Option<std::time::SystemTime> {
    None
}

/// On this system the environment identifies the terminal.
pub(crate) fn terminal_device() -> Option<std::path::PathBuf> {
    None
}

/// An open file cannot be deleted on this system.
pub(crate) fn is_deleted(_file: &Metadata) -> bool {
    false
}

/// An open file keeps its name on this system.
pub(crate) fn is_named(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Not needed on this system: the file system does this itself.
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// An open file cannot be removed on this system; the empty lock file stays and is reused.
pub(crate) fn remove_held(_path: &Path) {}
