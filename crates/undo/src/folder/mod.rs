//! A folder held by its handle: nothing that is renamed meanwhile leads elsewhere, and no link is followed.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::{Folder, disk_use, is_same_file, read_at};
#[cfg(unix)]
pub(crate) use unix::{Folder, disk_use, is_same_file, read_at};

use crate::node::Stat;

/// What a listing tells of a name.
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

/// The names of a folder.
#[derive(Default)]
pub(crate) struct FolderNames {
    pub names: Vec<Box<[u8]>>,
    /// There are more.
    pub is_cut: bool,
}
