//! A folder held by its handle: nothing that is renamed meanwhile leads elsewhere, and no link is followed.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::Folder;
#[cfg(unix)]
pub(crate) use unix::Folder;

use crate::node::Stat;

/// What a listing tells of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
    Special,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub kind: Kind,
    pub stat: Stat,
    pub device: u64,
}
