//! Contents that git already has: files that match the index need no copy, because their content is in a pack.
//!
//! Git is never run: nothing that a repository configures (filters, hooks, monitors) can execute. Packs are kept open, so
//! that their content stays readable if a command collects, rewrites or removes `.git`.

mod attributes;
mod changes;
mod index;
mod objects;
mod pack;
mod past;
mod refs;
mod repository;

pub use changes::{GitCounter, GitCounts};
pub(crate) use index::{IndexEntry, Slice};
pub(crate) use objects::GitObjects;
pub use past::open_past;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limit::UndoLimit;
use crate::node::Stat;
use crate::rel_path::RelPath;
use attributes::Filtered;
use index::GitIndex;
use repository::Repository;

/// Size limit of a blob that is restored from git, because it is held in memory.
pub(crate) const LARGEST_BLOB: u64 = 128 << 20;

/// A git object ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Oid(pub [u8; 20]);

impl Oid {
    pub fn of_blob(content: &[u8]) -> Self {
        Self::of(ObjectKind::Blob, content)
    }

    fn of(kind: ObjectKind, content: &[u8]) -> Self {
        use sha1::{Digest as _, Sha1};
        let mut hash = Sha1::new();
        hash.update(format!("{} {}\0", kind.name(), content.len()));
        hash.update(content);
        Self(hash.finalize().into())
    }

    fn from_hex(text: &[u8]) -> Option<Self> {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let mut oid = [0; 20];
        for (byte, pair) in oid.iter_mut().zip(text.chunks_exact(2)) {
            *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
        }
        (text.len() == 2 * oid.len()).then_some(Self(oid))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl ObjectKind {
    const ALL: [Self; 4] = [Self::Commit, Self::Tree, Self::Blob, Self::Tag];

    fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The repository of a workspace, in its state at the first scan.
pub(crate) struct Git {
    pub objects: Arc<GitObjects>,
    index: GitIndex,
    filtered: Filtered,
}

impl Git {
    /// Returns `None` if there is no repository, if its kind is not supported, or if reading it takes too long.
    pub fn around(workspace: &Path, attributes: &[PathBuf], limit: &UndoLimit) -> Option<Self> {
        let repository = Repository::around(workspace)?;
        let index = GitIndex::read(&repository.git.join("index"), &repository.prefix, limit)?;
        let filtered = Filtered::of(&repository, index.attribute_files(), attributes);
        let objects = Arc::new(GitObjects::open(repository.objects));
        Some(Self { objects, index, filtered })
    }

    /// Returns the entries of one folder of the workspace.
    pub fn folder(&self, path: &[u8]) -> Slice<'_> {
        self.index.folder(path)
    }

    /// Returns the content ID of a file that is unchanged since git compared it. Its size in git still has to be checked.
    pub fn unchanged(&self, entry: &IndexEntry, path: impl Fn() -> RelPath, stat: &Stat) -> Option<Oid> {
        let is_same = entry.is(stat) && self.index.is_settled(stat) && stat.size <= LARGEST_BLOB;
        (is_same && !self.filtered.names(path)).then_some(entry.oid)
    }
}
