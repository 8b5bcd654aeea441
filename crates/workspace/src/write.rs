//! Writes files: a set of changes is applied completely or not at all, and never overwrites a concurrent change.
//!
//! Each plan contains the expected content of the file. It is compared again right before the new content replaces it, and
//! if anything fails, the files already written get their old content back.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::open::FileError;
use crate::path::{PathResolver, real_location};
use crate::reach::WriteSpot;
use crate::texts::Texts;

mod place;
mod removal;

use place::{PlaceError, Staged};
pub(crate) use place::{folder_error, missing_parents, refuse_file_as_folder, target_of};
use removal::Removal;

/// The change of one file: expected content and new content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPlan {
    pub path: PathBuf,
    /// `None`: the file must not exist yet.
    pub expected: Option<Vec<u8>>,
    pub content: Vec<u8>,
    /// Makes the file executable for everyone who may read it.
    pub executable: bool,
}

/// One step of a set of changes. A move is a put under the new name and a removal under the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    Put {
        plan: EditPlan,
        /// The path with links resolved, as it was when the change was planned: it must still resolve to the same.
        place: PathBuf,
        /// The file whose mode a new file inherits.
        mode_of: Option<PathBuf>,
    },
    /// Removes the directory entry; for a link, the link itself.
    Remove { path: PathBuf, place: PathBuf, expected: Vec<u8> },
}

impl FileChange {
    pub fn path(&self) -> &Path {
        match self {
            FileChange::Put { plan, .. } => &plan.path,
            FileChange::Remove { path, .. } => path,
        }
    }
}

impl From<EditPlan> for FileChange {
    fn from(plan: EditPlan) -> Self {
        FileChange::Put { place: real_location(&plan.path), plan, mode_of: None }
    }
}

/// Returns the location of the directory entry: links in its folders are resolved, a link at the end is not.
pub fn entry_location(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real_location(parent).join(name),
        _ => path.to_owned(),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error("{0} changed while the edit was being prepared; nothing was written\nhint: read it again")]
    Changed(PathBuf),
    #[error(
        "{0} points to another place than when the edit was prepared; nothing was written\nhint: check its links, then try again"
    )]
    Swapped(PathBuf),
    #[error("{0}\nnothing was written")]
    File(#[from] FileError),
    #[error("{cause}\nwhat had been written before could not be undone in: {}", .not_restored.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NotRestored { cause: Box<CommitError>, not_restored: Vec<PathBuf> },
}

impl CommitError {
    /// Returns the same error with the display form of the paths.
    pub fn shown_with(self, paths: &PathResolver) -> Self {
        self.renamed(&|path| paths.display(path))
    }

    fn renamed(self, rename: &dyn Fn(&Path) -> String) -> Self {
        match self {
            CommitError::Changed(path) => CommitError::Changed(rename(&path).into()),
            CommitError::Swapped(path) => CommitError::Swapped(rename(&path).into()),
            CommitError::File(error) => {
                let display = rename(error.path());
                CommitError::File(error.shown_as(&display))
            }
            CommitError::NotRestored { cause, not_restored } => CommitError::NotRestored {
                cause: Box::new(cause.renamed(rename)),
                not_restored: not_restored.iter().map(|path| rename(path).into()).collect(),
            },
        }
    }
}

/// Writes all plans to disk or none. Keeps links and file modes, and creates missing folders.
pub fn commit(plans: &[EditPlan]) -> Result<(), CommitError> {
    commit_changes(plans.iter().cloned().map(FileChange::from).collect())
}

/// Applies all changes to disk or none.
pub fn commit_changes(changes: Vec<FileChange>) -> Result<(), CommitError> {
    Texts::on_disk().commit_changes(changes)
}

impl Texts<'_> {
    /// Applies all changes or none. Texts go through the editor that has them open; moves, removals and other data go to
    /// disk.
    pub fn commit_changes(self, changes: Vec<FileChange>) -> Result<(), CommitError> {
        let mut undo = WriteRollback::default();
        let result = stage_all(self, changes, &mut undo).and_then(|ready| place_all(self, ready, &mut undo));
        result.map_err(|cause| {
            let not_restored = undo.run(self);
            let cause = cause.renamed(&|path| undo.known(path));
            if not_restored.is_empty() {
                cause
            } else {
                CommitError::NotRestored { cause: Box::new(cause), not_restored }
            }
        })
    }
}

enum Ready<'a> {
    Put { plan: EditPlan, place: PathBuf, spot: Rc<WriteSpot>, way: WriteWay },
    Remove(Removal<'a>),
}

/// How new content is written.
enum WriteWay {
    Disk(Staged),
    /// Through the editor, which may still decline and leave the write to the disk.
    Open,
}

/// Writes the new contents to temporary files next to the targets, so that a full disk or a read-only folder is noticed
/// before anything changes.
fn stage_all<'a>(
    texts: Texts<'a>,
    changes: Vec<FileChange>,
    undo: &mut WriteRollback,
) -> Result<Vec<Ready<'a>>, CommitError> {
    let mut ready = Vec::with_capacity(changes.len());
    for change in changes {
        ready.push(match change {
            FileChange::Put { plan, place, mode_of } => {
                let spot = undo.hold(texts.reach().spot(&plan.path)?);
                ensure_same_place(&plan.path, &spot.way, &place)?;
                ensure_unchanged(texts, &spot, &plan)?;
                let way = if mode_of.is_none() && texts.may_take(&plan) {
                    place::make_way(&spot.way)?;
                    WriteWay::Open
                } else {
                    WriteWay::Disk(place::stage(&spot, &plan.content, plan.executable, mode_of.as_deref())?)
                };
                Ready::Put { plan, place, spot, way }
            }
            FileChange::Remove { path, place, expected } => {
                Ready::Remove(Removal::prepare(texts, path, place, expected)?)
            }
        });
    }
    Ok(ready)
}

fn place_all(texts: Texts<'_>, ready: Vec<Ready<'_>>, undo: &mut WriteRollback) -> Result<(), CommitError> {
    for ready in ready {
        match ready {
            Ready::Put { plan, place, spot, way } => put(texts, plan, &place, (spot, way), undo)?,
            Ready::Remove(removal) => undo.removed.push(removal.carry_out()?),
        }
    }
    undo.removed.drain(..).for_each(removal::Removed::finish);
    Ok(())
}

fn put(
    texts: Texts<'_>,
    plan: EditPlan,
    place: &Path,
    (spot, way): (Rc<WriteSpot>, WriteWay),
    undo: &mut WriteRollback,
) -> Result<(), CommitError> {
    ensure_same_place(&plan.path, &spot.way, place)?;
    ensure_unchanged(texts, &spot, &plan)?;
    let failure = match way {
        WriteWay::Disk(staged) => staged.place(&plan.content, plan.expected.is_none()),
        WriteWay::Open => put_open(texts, &spot, &plan),
    }
    .err();
    let torn = failure.as_ref().is_some_and(|failure| failure.torn);
    undo.files.push(Replaced { spot, was: plan.expected, is: plan.content, torn });
    failure.map_or(Ok(()), |failure| Err(failure.error.into()))
}

fn put_open(texts: Texts<'_>, spot: &WriteSpot, plan: &EditPlan) -> Result<(), PlaceError> {
    let untouched = |error| PlaceError { error, torn: false };
    match texts.write(&spot.asked, &plan.content) {
        None => {
            let staged = place::stage(spot, &plan.content, plan.executable, None).map_err(untouched)?;
            staged.place(&plan.content, plan.expected.is_none())
        }
        Some(Ok(())) if plan.executable => {
            place::make_executable(&spot.way).map_err(|error| PlaceError { error, torn: true })
        }
        Some(Ok(())) => Ok(()),
        // If the editor fails to write, the state of the text is unknown.
        Some(Err(error)) => Err(PlaceError { error, torn: true }),
    }
}

/// Both the requested path and the path to be written must resolve to the planned location: a link that changes back and
/// forth may affect only one of them.
fn ensure_same_place(path: &Path, target: &Path, place: &Path) -> Result<(), CommitError> {
    if real_location(path) == place && real_location(target) == place {
        Ok(())
    } else {
        Err(CommitError::Swapped(path.into()))
    }
}

fn ensure_unchanged(texts: Texts<'_>, spot: &WriteSpot, plan: &EditPlan) -> Result<(), CommitError> {
    let now = texts.read_spot(spot)?;
    if now == plan.expected { Ok(()) } else { Err(CommitError::Changed(plan.path.clone())) }
}

#[derive(Default)]
struct WriteRollback {
    files: Vec<Replaced>,
    removed: Vec<removal::Removed>,
    /// Locations of the written files, with the folders that were created for them.
    spots: Vec<Rc<WriteSpot>>,
}

struct Replaced {
    spot: Rc<WriteSpot>,
    was: Option<Vec<u8>>,
    is: Vec<u8>,
    /// Writing was interrupted in the middle of the file.
    torn: bool,
}

impl WriteRollback {
    fn hold(&mut self, spot: WriteSpot) -> Rc<WriteSpot> {
        let spot = Rc::new(spot);
        self.spots.push(spot.clone());
        spot
    }

    /// Returns the path as it was requested.
    fn known(&self, path: &Path) -> String {
        let known = self.spots.iter().find_map(|spot| spot.known(path));
        known.as_deref().unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Restores old contents and returns the paths where that failed. A file that was changed concurrently is left alone.
    fn run(&mut self, texts: Texts<'_>) -> Vec<PathBuf> {
        let mut failed: Vec<PathBuf> =
            self.removed.drain(..).rev().filter_map(|removed| removed.put_back().err()).collect();
        for file in self.files.drain(..).rev() {
            if !file.restore(texts) {
                failed.push(file.spot.asked.clone());
            }
        }
        for folder in self.spots.iter().rev().flat_map(|spot| spot.made.iter().rev()) {
            // Removes only empty folders, and only those created by this commit.
            let _ = std::fs::remove_dir(folder);
        }
        failed
    }
}

impl Replaced {
    fn restore(&self, texts: Texts<'_>) -> bool {
        let Ok(now) = texts.read_spot(&self.spot) else { return false };
        if now == self.was {
            return true;
        }
        let ours = self.torn || now.as_ref() == Some(&self.is);
        match &self.was {
            None => now.as_ref() == Some(&self.is) && std::fs::remove_file(&self.spot.way).is_ok(),
            Some(was) => ours && self.put_back(texts, was),
        }
    }

    fn put_back(&self, texts: Texts<'_>, was: &[u8]) -> bool {
        if let Some(written) = texts.write(&self.spot.asked, was) {
            return written.is_ok();
        }
        let staged = place::stage(&self.spot, was, false, None).ok();
        staged.is_some_and(|staged| staged.place(was, false).is_ok())
    }
}

#[cfg(test)]
mod tests;
