//! Elsewhere (Windows): names are followed to their end before they are judged. An open file cannot be renamed away or
//! replaced there unless its opener allows it.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::open::{FileError, FileKind, kind_of};

/// A handle of a file or folder, links followed. What may block or act is refused before.
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

/// Not through a link at its end.
pub fn look_at_own_folder(path: &Path) -> io::Result<File> {
    if std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    look_at_folder(path)
}

/// The same file, to be read.
pub fn reopened(held: &File, _real: &Path) -> io::Result<File> {
    held.try_clone()
}

/// What is held cannot be renamed or deleted meanwhile, nor the folders above it.
pub fn real_path(_held: &File, _metadata: &Metadata, asked: &Path) -> io::Result<Option<PathBuf>> {
    std::fs::canonicalize(asked).map(Some)
}

pub fn anchor(_held: &File, _metadata: &Metadata, real: &Path) -> PathBuf {
    real.to_owned()
}

#[cfg(windows)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    // Without it no folder can be opened. Nobody may delete or rename what is held.
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    const FILE_SHARE_READ_WRITE: u32 = 3;
    OpenOptions::new().read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).share_mode(FILE_SHARE_READ_WRITE).open(path)
}

#[cfg(not(windows))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
