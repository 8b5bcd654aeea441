//! Linux: `O_PATH` opens a name without touching what it stands for, and `/proc/self/fd` tells where it is.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::open::FileError;

/// A handle of whatever is there, links followed.
pub fn look(path: &Path) -> Result<File, FileError> {
    open(path, OFlag::O_PATH).map_err(|error| FileError::io(path, error))
}

pub fn look_at_folder(path: &Path) -> io::Result<File> {
    open(path, OFlag::O_PATH | OFlag::O_DIRECTORY)
}

/// Not through a link at its end.
pub fn look_at_own_folder(path: &Path) -> io::Result<File> {
    open(path, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW)
}

/// The same file, to be read.
pub fn reopened(held: &File, _real: &Path) -> io::Result<File> {
    open(&own_link(held), OFlag::O_NONBLOCK | OFlag::O_NOCTTY)
}

/// `None` for what is deleted, or cannot be seen from here under the name it tells.
pub fn real_path(held: &File, metadata: &Metadata, _asked: &Path) -> io::Result<Option<PathBuf>> {
    let real = std::fs::read_link(own_link(held))?;
    let is_it = |there: Metadata| (there.dev(), there.ino()) == (metadata.dev(), metadata.ino());
    let found = real.is_absolute() && std::fs::symlink_metadata(&real).is_ok_and(is_it);
    Ok(found.then_some(real))
}

/// A path that leads to what is held whatever becomes of its name.
pub fn anchor(held: &File, _metadata: &Metadata, _real: &Path) -> PathBuf {
    own_link(held)
}

fn own_link(held: &File) -> PathBuf {
    format!("/proc/self/fd/{}", held.as_raw_fd()).into()
}

fn open(path: &Path, flags: OFlag) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}
