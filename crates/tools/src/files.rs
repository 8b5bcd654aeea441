//! What the file tools of one session share: where paths start, and what the model has seen of each file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use omp_agent::{Approval, Tier, ToolError};
use omp_workspace::conflict::Conflicts;
use omp_workspace::{
    PathResolver, ResolvedPath, ScanCache, ScanPolicy, Snapshot, SnapshotCache, Tag, TextFile, real_location,
};

use crate::urls::{self, local};

/// Shared by `read`, `write`, `edit` and `search` of one session.
#[derive(Debug)]
pub struct Files {
    paths: PathResolver,
    snapshots: Mutex<SnapshotCache>,
    scans: ScanCache,
    conflicts: Mutex<Conflicts>,
    /// What `local://` stands for.
    local: Option<PathBuf>,
}

impl Files {
    pub fn new(cwd: impl Into<PathBuf>, home: Option<PathBuf>) -> Self {
        Self {
            paths: PathResolver::new(cwd, home),
            snapshots: Mutex::default(),
            scans: ScanCache::default(),
            conflicts: Mutex::default(),
            local: None,
        }
    }

    /// With a folder for the session's scratch files.
    pub fn with_local(self, local: Option<PathBuf>) -> Self {
        Self { local, ..self }
    }

    /// With other times and sizes for the scans that `search`, `find` and the file picker share.
    #[must_use]
    pub fn with_scan_policy(self, policy: ScanPolicy) -> Self {
        Self { scans: ScanCache::new(policy), ..self }
    }

    pub fn scans(&self) -> &ScanCache {
        &self.scans
    }

    /// To be told after every change of a file: written, deleted, moved here or away.
    pub fn changed(&self, path: &Path) {
        self.scans.invalidate(path);
    }

    /// For the time of something that may change any file: nothing that was known before holds once it is over, even
    /// when it is cut short.
    pub fn anything_may_change(&self) -> AnythingMayChange<'_> {
        AnythingMayChange(self)
    }

    pub fn cwd(&self) -> &Path {
        self.paths.cwd()
    }

    pub fn paths(&self) -> &PathResolver {
        &self.paths
    }

    /// A path as the model wrote it.
    pub fn resolve(&self, typed: &str) -> Result<ResolvedPath, ToolError> {
        match local::address_in(typed) {
            Some(address) => local::locate(self.local.as_deref(), address).map_err(ToolError::Reply),
            // Taken for a path, such an address would become a folder of this name.
            None if urls::is_address(typed) => {
                Err(ToolError::Reply(format!("{} can only be read\nhint: local://<name> can be written", typed.trim())))
            }
            None => self.paths.resolve(typed).map_err(ToolError::reply),
        }
    }

    /// Whether a path is one the model may write to without leaving its place.
    fn is_own(&self, path: &ResolvedPath) -> bool {
        // Addresses of scratch files are made by `resolve` alone, which has checked where they lead.
        local::address_in(&path.display).is_some() || self.paths.is_inside(&path.absolute)
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

    /// The tag under which the model saw a file last.
    pub fn last_seen(&self, path: &Path) -> Option<Tag> {
        self.with_snapshots(|snapshots| snapshots.newest(&real_location(path)))
    }

    /// Merge conflicts that reads came across: `register` numbers those of a file, `conflict://<id>` means one.
    pub fn with_conflicts<T>(&self, work: impl FnOnce(&mut Conflicts) -> T) -> T {
        work(&mut self.conflicts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_snapshots<T>(&self, work: impl FnOnce(&mut SnapshotCache) -> T) -> T {
        // The cache is whole after every step, so a panic elsewhere does not spoil it.
        work(&mut self.snapshots.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// See [`Files::anything_may_change`].
pub struct AnythingMayChange<'a>(&'a Files);

impl Drop for AnythingMayChange<'_> {
    fn drop(&mut self) {
        self.0.scans.clear();
    }
}

/// The line above a file's content: `[src/main.rs#1a2b]`.
pub fn header(display: &str, tag: Tag) -> String {
    format!("[{display}#{tag}]")
}

/// Writing needs a look by a person when it leaves the working folder.
pub(crate) fn write_approval<'a>(files: &Files, typed: impl IntoIterator<Item = &'a str>) -> Approval {
    let mut resolved = typed.into_iter().filter_map(|typed| files.resolve(typed).ok());
    let outside = resolved.find(|path| !files.is_own(path));
    let reason = outside.map(|path| outside_reason(files, &path));
    Approval { reason, ..Tier::Write.into() }
}

/// Says where the file really is, so that nobody approves a link by its harmless name.
fn outside_reason(files: &Files, path: &ResolvedPath) -> String {
    let real = files.paths.display(&real_location(&path.absolute));
    if real == path.display {
        format!("{real} is outside the working folder")
    } else {
        format!("{} leads to {real}, which is outside the working folder", path.display)
    }
}
