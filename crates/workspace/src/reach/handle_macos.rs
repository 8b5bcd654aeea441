//! macOS: `F_GETPATH` gives the path of an open file, and `/.vol` refers to a folder by its inode number.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::open::{FileError, FileKind, kind_of};

/// Opens a file or folder, following links. Special files, which may block or have side effects on opening, are refused
/// first.
pub fn look(path: &Path) -> Result<File, FileError> {
    let io_error = |error| FileError::io(path, error);
    if let FileKind::Special(kind) = kind_of(&std::fs::metadata(path).map_err(io_error)?) {
        return Err(FileError::Special { path: path.into(), kind });
    }
    open(path, OFlag::O_NONBLOCK | OFlag::O_NOCTTY).map_err(io_error)
}

pub fn look_at_folder(path: &Path) -> io::Result<File> {
    open(path, OFlag::O_DIRECTORY)
}

/// Opens a folder without following a link at the end of the path.
pub fn look_at_own_folder(path: &Path) -> io::Result<File> {
    open(path, OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW)
}

/// Opens the same file for reading.
pub fn reopened(held: &File, _real: &Path) -> io::Result<File> {
    held.try_clone()
}

/// Returns `None` for a deleted file.
pub fn real_path(held: &File, metadata: &Metadata, _asked: &Path) -> io::Result<Option<PathBuf>> {
    let mut real = PathBuf::new();
    fcntl(held, FcntlArg::F_GETPATH(&mut real))?;
    let found = std::fs::symlink_metadata(&real).is_ok_and(|there| same(&there, metadata));
    Ok(found.then_some(real))
}

/// Returns a path that refers to the open file even if it is renamed, if the file system supports that.
pub fn anchor(_held: &File, metadata: &Metadata, real: &Path) -> PathBuf {
    let by_number = PathBuf::from(format!("/.vol/{}/{}", metadata.dev(), metadata.ino()));
    let leads_there = std::fs::metadata(&by_number).is_ok_and(|there| same(&there, metadata));
    if leads_there { by_number } else { real.to_owned() }
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn open(path: &Path, flags: OFlag) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}
