//! A folder held by its handle: renames do not redirect it, and no link is followed.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::{Folder, disk_use, is_same_file, read_at};
#[cfg(unix)]
pub(crate) use unix::{Folder, disk_use, is_same_file, read_at};

use crate::node::Stat;

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderEntryKind {
    Folder,
    File,
    Link,
    Special,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FolderEntry {
    pub kind: FolderEntryKind,
    pub stat: Stat,
    pub device: u64,
}

/// The names in a folder.
#[derive(Default)]
pub(crate) struct FolderNames {
    pub names: Vec<Box<[u8]>>,
    /// Whether there are more names.
    pub is_cut: bool,
}
