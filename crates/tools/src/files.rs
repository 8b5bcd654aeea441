//! What the file tools of one session share: where paths start, and what the model has seen of each file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use omp_agent::{Approval, Tier, ToolError};
use omp_workspace::{PathResolver, ResolvedPath, Snapshot, SnapshotCache, Tag, TextFile, real_location};

/// Shared by `read`, `write`, `edit` and `search` of one session.
#[derive(Debug)]
pub struct Files {
    paths: PathResolver,
    snapshots: Mutex<SnapshotCache>,
}

impl Files {
    pub fn new(cwd: impl Into<PathBuf>, home: Option<PathBuf>) -> Self {
        Self { paths: PathResolver::new(cwd, home), snapshots: Mutex::default() }
    }

    pub fn cwd(&self) -> &Path {
        self.paths.cwd()
    }

    pub fn paths(&self) -> &PathResolver {
        &self.paths
    }

    /// A path as the model wrote it.
    pub fn resolve(&self, typed: &str) -> Result<ResolvedPath, ToolError> {
        self.paths.resolve(typed).map_err(ToolError::reply)
    }

    /// Remembers a file as the model sees it now; the tag goes into the header above its lines.
    pub fn record(&self, path: &Path, file: &TextFile) -> Tag {
        self.with_snapshots(|snapshots| snapshots.record(&real_location(path), file))
    }

    /// Remembers single lines (numbers counted from 1) of a file whose whole content has `tag`.
    pub fn record_lines(&self, path: &Path, tag: Tag, lines: impl IntoIterator<Item = (usize, String)>) {
        self.with_snapshots(|snapshots| snapshots.record_lines(&real_location(path), tag, lines));
    }

    pub fn snapshot(&self, path: &Path, tag: Tag) -> Option<Snapshot> {
        self.with_snapshots(|snapshots| snapshots.get(&real_location(path), tag))
    }

    fn with_snapshots<T>(&self, work: impl FnOnce(&mut SnapshotCache) -> T) -> T {
        // The cache is whole after every step, so a panic elsewhere does not spoil it.
        work(&mut self.snapshots.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The line above a file's content: `[src/main.rs#1a2b]`.
pub fn header(display: &str, tag: Tag) -> String {
    format!("[{display}#{tag}]")
}

/// Writing needs a look by a person when it leaves the working folder.
pub(crate) fn write_approval<'a>(files: &Files, typed: impl IntoIterator<Item = &'a str>) -> Approval {
    let mut resolved = typed.into_iter().filter_map(|typed| files.resolve(typed).ok());
    let outside = resolved.find(|path| !files.paths.is_inside(&path.absolute));
    let reason = outside.map(|path| format!("{} is outside the working folder", path.display));
    Approval { reason, ..Tier::Write.into() }
}
