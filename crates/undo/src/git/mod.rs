//! What git already has: files that are as the index says need no copy, because their content lies in a pack.
//!
//! Git is never started: nothing that a repository configures (filters, hooks, monitors) can run. Packs are held open, so
//! that their content stays readable when a command collects, rewrites or removes `.git`.

mod attributes;
mod index;
mod objects;
mod pack;
mod repository;

pub(crate) use index::{Entry, Slice};
pub(crate) use objects::GitObjects;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limit::Limit;
use crate::node::Stat;
use crate::rel_path::RelPath;
use attributes::Filtered;
use index::Index;
use repository::Repository;

/// A blob larger than this is not brought back from git: it is held in memory while that is done.
pub(crate) const LARGEST_BLOB: u64 = 128 << 20;

/// The name that git gives to a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Oid(pub [u8; 20]);

impl Oid {
    pub fn of_blob(content: &[u8]) -> Self {
        Self::of("blob", content)
    }

    fn of(kind: &str, content: &[u8]) -> Self {
        use sha1::{Digest as _, Sha1};
        let mut hash = Sha1::new();
        hash.update(format!("{kind} {}\0", content.len()));
        hash.update(content);
        Self(hash.finalize().into())
    }
}

/// The repository that a workspace is in, as it was when the workspace was first looked at.
pub(crate) struct Git {
    pub objects: Arc<GitObjects>,
    index: Index,
    filtered: Filtered,
}

impl Git {
    /// `None` where there is no repository, one of a kind that is not known here, or one that takes too long to read.
    pub fn around(workspace: &Path, attributes: &[PathBuf], limit: &Limit) -> Option<Self> {
        let repository = Repository::around(workspace)?;
        let index = Index::read(&repository.git.join("index"), &repository.prefix, limit)?;
        let filtered = Filtered::of(&repository, index.attribute_files(), attributes);
        let objects = Arc::new(GitObjects::open(repository.objects));
        Some(Self { objects, index, filtered })
    }

    /// The entries of one folder of the workspace.
    pub fn folder(&self, path: &[u8]) -> Slice<'_> {
        self.index.folder(path)
    }

    /// The content of a file that git has seen as it is now. Whether it has the same size in git is still to be seen.
    pub fn unchanged(&self, entry: &Entry, path: impl Fn() -> RelPath, stat: &Stat) -> Option<Oid> {
        let is_same = entry.is(stat) && self.index.is_settled(stat) && stat.size <= LARGEST_BLOB;
        (is_same && !self.filtered.names(path)).then_some(entry.oid)
    }
}
