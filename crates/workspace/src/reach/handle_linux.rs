//! Linux: `O_PATH` opens a path without touching the file, and `/proc/self/fd` gives the path of an open file.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::open::FileError;

/// Opens a file of any kind, following links.
pub fn look(path: &Path) -> Result<File, FileError> {
    open(path, OFlag::O_PATH).map_err(|error| FileError::io(path, error))
}

pub fn look_at_folder(path: &Path) -> io::Result<File> {
    open(path, OFlag::O_PATH | OFlag::O_DIRECTORY)
}

/// Opens a folder without following a link at the end of the path.
pub fn look_at_own_folder(path: &Path) -> io::Result<File> {
    open(path, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW)
}

/// Opens the same file for reading.
pub fn reopened(held: &File, _real: &Path) -> io::Result<File> {
    open(&own_link(held), OFlag::O_NONBLOCK | OFlag::O_NOCTTY)
}

/// Returns `None` for a deleted file, and for a file that is not accessible under its reported path.
pub fn real_path(held: &File, metadata: &Metadata, _asked: &Path) -> io::Result<Option<PathBuf>> {
    let real = std::fs::read_link(own_link(held))?;
    let is_it = |there: Metadata| (there.dev(), there.ino()) == (metadata.dev(), metadata.ino());
    let found = real.is_absolute() && std::fs::symlink_metadata(&real).is_ok_and(is_it);
    Ok(found.then_some(real))
}

/// Returns a path that refers to the open file even if it is renamed.
pub fn anchor(held: &File, _metadata: &Metadata, _real: &Path) -> PathBuf {
    own_link(held)
}

fn own_link(held: &File) -> PathBuf {
    format!("/proc/self/fd/{}", held.as_raw_fd()).into()
}

fn open(path: &Path, flags: OFlag) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}
