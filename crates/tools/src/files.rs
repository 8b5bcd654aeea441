//! State shared by the file tools of a session: the base folder of paths, and what the model has seen of each file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use omp_agent::{Approval, Effect, Tier, ToolError};
use omp_types::{Access, EditorFiles};
use omp_workspace::conflict::Conflicts;
use omp_workspace::{
    EditPlan, EditRefused, FileChange, FileError, FileReach, FileSnapshot, FileSource, OpenTexts, PathResolver,
    ResolvedPath, ScanCache, ScanPolicy, SnapshotCache, Tag, TextFile, Texts, real_location,
};

use crate::urls::{self, local};

mod editor;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod kept;
#[cfg(test)]
mod tests;

use editor::EditorTexts;

/// Shared by `read`, `write`, `edit` and `search` of one session. Clones share their state.
#[derive(Clone, Debug)]
pub struct Files {
    paths: PathResolver,
    snapshots: Arc<Mutex<SnapshotCache>>,
    scans: ScanCache,
    conflicts: Arc<Mutex<Conflicts>>,
    /// The folder behind `local://`.
    local: Option<PathBuf>,
    /// The editor that may have files open.
    editor: Option<Arc<EditorTexts>>,
    /// The paths that may be read and written.
    reach: FileReach,
}

impl Files {
    pub fn new(cwd: impl Into<PathBuf>, home: Option<PathBuf>) -> Self {
        Self {
            paths: PathResolver::new(cwd, home),
            snapshots: Arc::default(),
            scans: ScanCache::default(),
            conflicts: Arc::default(),
            local: None,
            editor: None,
            reach: FileReach::default(),
        }
    }

    /// Sets the folder for the session's scratch files.
    pub fn with_local(self, local: Option<PathBuf>) -> Self {
        Self { local, ..self }
    }

    /// Sets the editor that has some of the files open.
    #[must_use]
    /// Whether all files are read from the disk, so that reading does not wait for an editor.
    pub fn is_on_disk(&self) -> bool {
        self.editor.is_none()
    }

    pub fn with_editor(self, editor: Option<Arc<dyn EditorFiles>>) -> Self {
        Self { editor: editor.map(EditorTexts::new).map(Arc::new), ..self }
    }

    /// Sets the times and sizes of the scans that `search`, `find` and the file picker share.
    #[must_use]
    pub fn with_scan_policy(self, policy: ScanPolicy) -> Self {
        Self { scans: ScanCache::new(policy).within(self.reach.clone()), ..self }
    }

    /// Restricts access to what the session may use.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        let reach = FileReach::new(access);
        Self { scans: self.scans.within(reach.clone()), reach, ..self }
    }

    /// Adds the access that the user approved for one call; no other call gets it.
    #[must_use]
    pub fn for_call(self: &Arc<Self>, call: &str) -> Arc<Self> {
        let Some(reach) = self.reach.of_call(call) else { return self.clone() };
        let scans = self.scans.clone().within(reach.clone());
        Arc::new(Self { scans, reach, ..(**self).clone() })
    }

    /// Returns the guard that opens permitted paths.
    pub fn reach(&self) -> &FileReach {
        &self.reach
    }

    pub fn scans(&self) -> &ScanCache {
        &self.scans
    }

    /// Reads a whole regular file, preferring the editor's text. May wait for the editor, like all reads and writes here.
    pub fn read_whole(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let bytes = self.texts().read_whole(path)?;
        self.keep(path, &bytes);
        Ok(bytes)
    }

    /// Like [`Self::read_whole`], but returns `None` if the file does not exist.
    pub fn read_if_exists(&self, path: &Path) -> Result<Option<Vec<u8>>, FileError> {
        let bytes = self.texts().read_if_exists(path)?;
        bytes.iter().for_each(|bytes| self.keep(path, bytes));
        Ok(bytes)
    }

    /// Applies all changes or none, through the editor if it accepts them.
    pub fn commit_changes(&self, changes: Vec<FileChange>) -> Result<(), ToolError> {
        let changed: Vec<PathBuf> = changes.iter().map(|change| change.path().to_owned()).collect();
        let written = self.editor.as_ref().map(|_| changes.iter().filter_map(content_of).collect::<Vec<_>>());
        self.texts().commit_changes(changes).map_err(|error| ToolError::reply(error.shown_with(&self.paths)))?;
        changed.iter().for_each(|path| self.changed(path));
        written.into_iter().flatten().for_each(|(path, content)| self.keep(&path, &content));
        Ok(())
    }

    pub fn commit(&self, plan: EditPlan) -> Result<(), ToolError> {
        self.commit_changes(vec![plan.into()])
    }

    pub fn has_editor(&self) -> bool {
        self.editor.is_some()
    }

    fn texts(&self) -> Texts<'_> {
        Texts::with(self.editor.as_deref().map(|editor| editor as &dyn OpenTexts)).within(&self.reach)
    }

    fn keep(&self, path: &Path, bytes: &[u8]) {
        self.editor.iter().for_each(|editor| editor.keep(path, bytes));
    }

    /// Must be called after a change that was not made through this type: a file was written, deleted or moved.
    pub fn changed(&self, path: &Path) {
        self.scans.invalidate(path);
    }

    /// Guards an operation that may change any file: dropping the guard invalidates everything cached, even if the operation
    /// is cancelled.
    pub fn anything_may_change(&self) -> AnythingMayChange<'_> {
        AnythingMayChange(self)
    }

    pub fn cwd(&self) -> &Path {
        self.paths.cwd()
    }

    pub fn paths(&self) -> &PathResolver {
        &self.paths
    }

    /// Resolves a path as the model wrote it.
    pub fn resolve(&self, typed: &str) -> Result<ResolvedPath, ToolError> {
        match local::address_in(typed) {
            Some(address) => local::locate(self.local.as_deref(), address).map_err(ToolError::Reply),
            // Treated as a path, such an address would create a folder of this name.
            None if urls::is_address(typed) => {
                Err(ToolError::Reply(format!("{} can only be read\nhint: local://<name> can be written", typed.trim())))
            }
            None => self.paths.resolve(typed).map_err(ToolError::reply),
        }
    }

    /// Whether the model may write the path without leaving its own folders.
    fn is_own(&self, path: &ResolvedPath) -> bool {
        is_scratch(path)
            || self.paths.is_inside(&path.absolute)
            || real_location(&path.absolute).starts_with(self.workspace())
    }

    /// Returns the session's workspace: the working folder, or the repository around it.
    fn workspace(&self) -> PathBuf {
        let workspace = self.reach.access().map().workspace.clone();
        if workspace.as_os_str().is_empty() { self.cwd().to_owned() } else { workspace }
    }

    /// Stores the file as the model sees it now; the returned tag goes into the header above its lines.
    pub fn record(&self, path: &Path, file: &TextFile) -> Tag {
        self.with_snapshots(|snapshots| snapshots.record(&real_location(path), file))
    }

    /// Records single lines (numbers counted from 1) of a file whose whole content has `tag`.
    pub fn record_lines(&self, path: &Path, tag: Tag, lines: impl IntoIterator<Item = (usize, String)>) {
        self.with_snapshots(|snapshots| snapshots.record_lines(&real_location(path), tag, lines));
    }

    pub fn snapshot(&self, path: &Path, tag: Tag) -> Option<FileSnapshot> {
        self.with_snapshots(|snapshots| snapshots.get(&real_location(path), tag))
    }

    /// Returns the tag under which the model last saw a file.
    pub fn last_seen(&self, path: &Path) -> Option<Tag> {
        self.with_snapshots(|snapshots| snapshots.newest(&real_location(path)))
    }

    /// Accesses the merge conflicts that reads found: `register` numbers those of a file, `conflict://<id>` names one.
    pub fn with_conflicts<T>(&self, work: impl FnOnce(&mut Conflicts) -> T) -> T {
        work(&mut self.conflicts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_snapshots<T>(&self, work: impl FnOnce(&mut SnapshotCache) -> T) -> T {
        // Every operation leaves the cache consistent, so a poisoned lock can be used.
        work(&mut self.snapshots.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Edits resolve files as every tool does, including scratch files of the session.
impl FileSource for Files {
    fn locate(&self, typed: &str) -> Result<ResolvedPath, EditRefused> {
        self.resolve(typed).map_err(|error| EditRefused::Edit(error.to_string()))
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, FileError> {
        self.read_if_exists(path)
    }
}

/// The files in their last known state, for previews, which must not wait for an editor.
pub struct LastKnown<'a>(pub &'a Files);

impl FileSource for LastKnown<'_> {
    fn locate(&self, typed: &str) -> Result<ResolvedPath, EditRefused> {
        self.0.locate(typed)
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, FileError> {
        match self.0.editor.as_ref().and_then(|editor| editor.last_known(path)) {
            Some(bytes) => Ok(Some(bytes)),
            None => Texts::on_disk().within(&self.0.reach).read_if_exists(path),
        }
    }
}

/// Returns the path and content that a change writes, if any.
fn content_of(change: &FileChange) -> Option<(PathBuf, Vec<u8>)> {
    match change {
        FileChange::Put { plan, .. } => Some((plan.path.clone(), plan.content.clone())),
        FileChange::Remove { .. } => None,
    }
}

/// See [`Files::anything_may_change`].
pub struct AnythingMayChange<'a>(&'a Files);

impl Drop for AnythingMayChange<'_> {
    fn drop(&mut self) {
        self.0.scans.clear();
    }
}

/// Returns the line above a file's content: `[src/main.rs#1a2b]`.
pub fn header(display: &str, tag: Tag) -> String {
    format!("[{display}#{tag}]")
}

/// Requires approval for writes outside the workspace.
pub(crate) fn write_approval<'a>(files: &Files, typed: impl IntoIterator<Item = &'a str>) -> Approval {
    let resolved: Vec<_> = typed.into_iter().map(|typed| files.resolve(typed).ok()).collect();
    // The session's own scratch files need no approval.
    if !resolved.is_empty() && resolved.iter().all(|path| path.as_ref().is_some_and(is_scratch)) {
        return Tier::Read.into();
    }
    let outside = resolved.iter().flatten().find(|path| !files.is_own(path));
    let reason = outside.map(|path| outside_reason(files, path));
    let written = |path: &Option<ResolvedPath>| match path {
        Some(path) => Effect::Write(real_location(&path.absolute)),
        None => Effect::Unknown("may write: a path that cannot be resolved".to_owned()),
    };
    let effects = resolved.iter().map(written).collect();
    Approval { reason, effects, ..Tier::Write.into() }
}

/// Reading needs no approval unless a rule requires it; the effects tell the rules what is read.
pub(crate) fn read_approval<'a>(files: &Files, typed: impl IntoIterator<Item = &'a str>) -> Approval {
    let places = typed.into_iter().filter_map(|typed| files.resolve(typed).ok());
    let effects = places.filter(|path| !is_scratch(path)).flat_map(|path| reads(files, &path));
    Approval { effects: effects.collect(), ..Tier::Read.into() }
}

/// Returns the read, and the followed link if it needs approval.
pub(crate) fn reads(files: &Files, path: &ResolvedPath) -> Vec<Effect> {
    let (link, to) = (path.absolute.clone(), real_location(&path.absolute));
    let leads_out = to.exists() && files.reach.access().map().allows_through(&link, &to).is_err();
    let follow = leads_out.then(|| Effect::Follow { link, to: to.clone() });
    [Effect::Read(to)].into_iter().chain(follow).collect()
}

/// Like [`read_approval`] for paths that may be globs: everything read is below the folder before the first `*`.
pub(crate) fn scan_approval(files: &Files, typed: &[String]) -> Approval {
    read_approval(files, typed.iter().map(|typed| certain_folder(typed)))
}

fn certain_folder(typed: &str) -> &str {
    let Some(star) = typed.find(['*', '?', '[', '{']) else { return typed };
    match typed[..star].rfind('/') {
        Some(0) => "/",
        Some(slash) => &typed[..slash],
        None => ".",
    }
}

/// Only `resolve` creates scratch addresses, and it has checked their location.
fn is_scratch(path: &ResolvedPath) -> bool {
    local::address_in(&path.display).is_some()
}

/// Names the real location of the file, so that a link with a harmless name cannot win approval.
fn outside_reason(files: &Files, path: &ResolvedPath) -> String {
    let real = files.paths.display(&real_location(&path.absolute));
    if real == path.display {
        format!("{real} is outside the workspace")
    } else {
        format!("{} leads to {real}, which is outside the workspace", path.display)
    }
}
