//! Other systems (Windows): names are resolved before they are checked. An open file cannot be renamed or replaced there
//! unless its opener allows it.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::open::{FileError, FileKind, kind_of};

/// Opens a file or folder, following links. Special files, which may block or have side effects on opening, are refused
/// first.
pub fn look(path: &Path) -> Result<File, FileError> {
    let io_error = |error| FileError::io(path, error);
    if let FileKind::Special(kind) = kind_of(&std::fs::metadata(path).map_err(io_error)?) {
        return Err(FileError::Special { path: path.into(), kind });
    }
    open(path).map_err(io_error)
}

pub fn look_at_folder(path: &Path) -> io::Result<File> {
    let folder = open(path)?;
    if folder.metadata()?.is_dir() { Ok(folder) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Opens a folder without following a link at the end of the path.
pub fn look_at_own_folder(path: &Path) -> io::Result<File> {
    if std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    look_at_folder(path)
}

/// Opens the same file for reading.
pub fn reopened(held: &File, _real: &Path) -> io::Result<File> {
    held.try_clone()
}

/// Returns the resolved path. A held file, and the folders above it, cannot be renamed or deleted meanwhile.
pub fn real_path(_held: &File, _metadata: &Metadata, asked: &Path) -> io::Result<Option<PathBuf>> {
    std::fs::canonicalize(asked).map(Some)
}

pub fn anchor(_held: &File, _metadata: &Metadata, real: &Path) -> PathBuf {
    real.to_owned()
}

#[cfg(windows)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    // This flag is required to open folders. Delete and rename are not shared while the handle is open.
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    const FILE_SHARE_READ_WRITE: u32 = 3;
    OpenOptions::new().read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).share_mode(FILE_SHARE_READ_WRITE).open(path)
}

#[cfg(not(windows))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
