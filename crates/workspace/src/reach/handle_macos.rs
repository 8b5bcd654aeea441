//! macOS: `F_GETPATH` tells where an open file is, and `/.vol` leads to a folder by its number.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::open::{FileError, FileKind, kind_of};

/// A handle of a file or folder, links followed. What may block or act is refused before.
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

/// Not through a link at its end.
pub fn look_at_own_folder(path: &Path) -> io::Result<File> {
    open(path, OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW)
}

/// The same file, to be read.
pub fn reopened(held: &File, _real: &Path) -> io::Result<File> {
    held.try_clone()
}

/// `None` for what is deleted.
pub fn real_path(held: &File, metadata: &Metadata, _asked: &Path) -> io::Result<Option<PathBuf>> {
    let mut real = PathBuf::new();
    fcntl(held, FcntlArg::F_GETPATH(&mut real))?;
    let found = std::fs::symlink_metadata(&real).is_ok_and(|there| same(&there, metadata));
    Ok(found.then_some(real))
}

/// A path that leads to what is held whatever becomes of its name, where the file system has such.
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
