//! A file system node at a path.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;
use crate::rel_path::{RelPath, unescaped};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Node {
    Folder {
        mode: u32,
    },
    File {
        mode: u32,
        size: u64,
        hash: Digest,
    },
    Link {
        target: LinkTarget,
    },
    /// A node that cannot be restored.
    Uncovered {
        why: Uncovered,
    },
}

impl Node {
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Node::File { hash, .. } => Some(*hash),
            _ => None,
        }
    }

    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, Node::Folder { .. })
    }
}

/// The target of a link, as stored in the link.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkTarget(pub(crate) Box<[u8]>);

impl fmt::Display for LinkTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", RelPath::root().join(&self.0))
    }
}

impl fmt::Debug for LinkTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for LinkTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LinkTarget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = unescaped(&String::deserialize(deserializer)?);
        bytes.map(|bytes| Self(bytes.into())).ok_or_else(|| serde::de::Error::custom("a broken link target"))
    }
}

/// Why a node is not covered by undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Uncovered {
    /// A folder that `.gitignore` excludes, such as a build folder.
    Ignored,
    /// The `.git` folder.
    Git,
    TooLarge,
    /// A socket, a pipe or a device.
    Special,
    Unreadable,
    /// The tree exceeds the size limit.
    OverBudget,
    /// Another file system is mounted there.
    Mount,
    /// The undo store itself.
    Store,
    /// Not copied yet; until then it is identified only by its metadata.
    NotYet,
    /// Changed before there was time to copy it.
    NoTime,
    /// A folder that there was no time to scan.
    TooSlow,
    /// Placeholder for the entries of a folder that were not scanned.
    Rest,
    /// Not copied because git had it, and git no longer has it.
    GitGone,
}

impl Uncovered {
    pub(crate) const ALL: [Uncovered; 13] = [
        Self::Ignored,
        Self::Git,
        Self::TooLarge,
        Self::Special,
        Self::Unreadable,
        Self::OverBudget,
        Self::Mount,
        Self::Store,
        Self::NotYet,
        Self::NoTime,
        Self::TooSlow,
        Self::Rest,
        Self::GitGone,
    ];

    pub(crate) fn may_be_folder(self) -> bool {
        !matches!(self, Self::TooLarge | Self::Special | Self::NotYet | Self::NoTime | Self::Rest | Self::GitGone)
    }

    /// Returns whether a user might expect it to be covered. Ignored folders and `.git` never are.
    pub(crate) fn is_news(self) -> bool {
        !matches!(self, Self::Ignored | Self::Git | Self::Special | Self::Store | Self::NoTime | Self::GitGone)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ignored => "ignored by .gitignore",
            Self::Git => "git's own state",
            Self::TooLarge => "larger than undo.maxFileMb",
            Self::Special => "a socket, pipe or device",
            Self::Unreadable => "cannot be read",
            Self::OverBudget => "over the storage limit of one workspace",
            Self::Mount => "another file system",
            Self::Store => "omp's own undo data",
            Self::NotYet => "not copied yet",
            Self::NoTime => "not copied in time before the command ran",
            Self::TooSlow => "not scanned in time",
            Self::Rest => "not all of its entries could be scanned",
            Self::GitGone => "git no longer has it",
        }
    }
}

/// File metadata: if it is unchanged, the file is assumed to be unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    pub size: u64,
    pub mtime: i64,
    pub ctime: i64,
    pub inode: u64,
    pub mode: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeRecord {
    pub stat: Stat,
    /// Time at which the content was read, in nanoseconds.
    pub read_at: i64,
    pub node: Node,
}

/// Assumed resolution of file system timestamps.
const TICK: i64 = 50_000_000;
const WHOLE_SECOND: i64 = 1_000_000_000;

impl NodeRecord {
    pub fn uncovered(stat: Stat, why: Uncovered) -> Self {
        Self { stat, read_at: 0, node: Node::Uncovered { why } }
    }

    pub fn is_not_yet(&self) -> bool {
        self.node == Node::Uncovered { why: Uncovered::NotYet }
    }

    /// Returns whether a later write could have left the same times: then only comparing the content is reliable.
    pub fn is_racy(&self) -> bool {
        let slack = if self.stat.ctime % WHOLE_SECOND == 0 { 2 * WHOLE_SECOND } else { TICK };
        self.stat.ctime.saturating_add(slack) >= self.read_at
    }
}
