//! The identity of a folder: its real path and its file system identity.

use std::fs::Metadata;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// The identity of a folder besides its path. A replacement folder has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    /// Creation time in nanoseconds, if the file system stores it, because inode numbers are reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born: Option<u64>,
}

/// Returns `None` if the path is not a folder. A link is not followed: its target has its own name.
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

/// Without inode numbers only the creation time is used.
#[cfg(not(unix))]
fn numbers(_found: &Metadata) -> (u64, u64) {
    (0, 0)
}
