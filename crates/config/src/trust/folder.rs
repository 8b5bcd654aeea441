//! Which folder this is: where it really lies, and what the disk knows it by.

use std::fs::Metadata;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// What makes a folder itself, beside its path. A folder in its place has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    /// Nanoseconds, where the file system keeps them: numbers of files that are gone are given again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born: Option<u64>,
}

/// `None` for what is no folder. A link is not followed: its target has a name of its own.
pub(crate) fn identity(folder: &Path) -> Option<Identity> {
    let found = std::fs::symlink_metadata(folder).ok().filter(Metadata::is_dir)?;
    let (device, inode) = numbers(&found);
    let born = found.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Some(Identity { device, inode, born: born.and_then(|since| u64::try_from(since.as_nanos()).ok()) })
}

#[cfg(unix)]
fn numbers(found: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// The time of its making has to do.
#[cfg(not(unix))]
fn numbers(_found: &Metadata) -> (u64, u64) {
    (0, 0)
}
