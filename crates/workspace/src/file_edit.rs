//! The planned edit of one file, independent of the edit language: content before, content after, and notes for the model.

use std::path::{Path, PathBuf};

use crate::diff::FileDiff;
use crate::generated::generated_marker;
use crate::open::{FileError, read_if_exists};
use crate::path::{PathError, PathResolver, ResolvedPath, real_location};
use crate::snapshot::Tag;
use crate::text_file::{TextFile, binary_reason};
use crate::write::{EditPlan, FileChange, entry_location};

mod draft;
mod editable;
mod identity;
mod lookalike;

pub use draft::{Draft, DraftId};
pub(crate) use draft::{new_next_to, no_change, not_found};
pub(crate) use editable::Editable;
pub(crate) use identity::FileIdentity;
pub use lookalike::{folded, lookalike};

#[derive(Clone, Debug)]
pub struct FileEdit {
    pub path: ResolvedPath,
    /// `None` for a file that is created. For a moved file, the content under its old name.
    pub before: Option<TextFile>,
    /// `None` for a file that is deleted.
    pub after: Option<TextFile>,
    pub moved_from: Option<ResolvedPath>,
    pub warnings: Vec<String>,
    /// Content on disk before and after, if `before` and `after` are a text derived from it (such as notebook cells).
    stored: Option<(Option<TextFile>, Option<TextFile>)>,
    /// The path with links resolved, as it was when the edit was planned.
    place: PathBuf,
    old_place: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    Create,
    Update,
    Delete,
    Move,
}

impl FileEdit {
    pub fn new(path: ResolvedPath, before: Option<TextFile>, after: Option<TextFile>) -> Self {
        // A deletion removes the directory entry itself, even if it is a link.
        let place = match after {
            Some(_) => real_location(&path.absolute),
            None => entry_location(&path.absolute),
        };
        Self { path, before, after, moved_from: None, warnings: Vec::new(), stored: None, place, old_place: None }
    }

    pub fn moved_from(mut self, from: ResolvedPath) -> Self {
        self.old_place = Some(entry_location(&from.absolute));
        self.moved_from = Some(from);
        self
    }

    pub(crate) fn stored_as(mut self, before: Option<TextFile>, after: Option<TextFile>) -> Self {
        self.stored = Some((before, after));
        self
    }

    pub fn warned(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }

    pub fn kind(&self) -> EditKind {
        match (&self.before, &self.after, &self.moved_from) {
            (_, _, Some(_)) => EditKind::Move,
            (_, None, None) => EditKind::Delete,
            (None, Some(_), None) => EditKind::Create,
            (Some(_), Some(_), None) => EditKind::Update,
        }
    }

    /// Returns the changes that [`crate::Texts::commit_changes`] carries out for this edit.
    pub fn changes(&self) -> Vec<FileChange> {
        let (before, after) = match &self.stored {
            Some((before, after)) => (before.as_ref(), after.as_ref()),
            None => (self.before.as_ref(), self.after.as_ref()),
        };
        let old = before.map(|file| file.bytes().to_vec());
        let mut changes = Vec::new();
        if let Some(after) = after {
            let plan = EditPlan {
                path: self.path.absolute.clone(),
                expected: old.clone().filter(|_| self.moved_from.is_none()),
                content: after.bytes().to_vec(),
                executable: false,
            };
            let mode_of = self.moved_from.as_ref().map(|from| from.absolute.clone());
            changes.push(FileChange::Put { plan, place: self.place.clone(), mode_of });
        }
        let gone = match (&self.moved_from, &self.old_place) {
            (Some(from), Some(place)) => Some((from, place)),
            _ => self.after.is_none().then_some((&self.path, &self.place)),
        };
        if let (Some((path, place)), Some(expected)) = (gone, old) {
            changes.push(FileChange::Remove { path: path.absolute.clone(), place: place.clone(), expected });
        }
        changes
    }

    /// Returns the diff with both versions; a missing file counts as empty.
    pub fn diff(&self) -> (FileDiff, TextFile, TextFile) {
        let side = |file: &Option<TextFile>| file.clone().unwrap_or_else(|| TextFile::parse(&b""[..]));
        let (before, after) = (side(&self.before), side(&self.after));
        (FileDiff::between(&before, &after), before, after)
    }
}

/// User settings that apply to all edit languages.
#[derive(Clone, Copy, Debug)]
pub struct EditRules {
    /// Refuse files that are marked as generated.
    pub block_generated: bool,
    /// Also accept approximate matches of the searched text.
    pub fuzzy: bool,
    /// Minimum similarity for an approximate match, from 0 to 1.
    pub threshold: f64,
}

impl Default for EditRules {
    fn default() -> Self {
        Self { block_generated: true, fuzzy: true, threshold: 0.95 }
    }
}

/// Resolves the paths in edits and reads the files.
pub trait FileSource {
    fn locate(&self, typed: &str) -> Result<ResolvedPath, EditRefused>;

    /// Returns `None` for a file that does not exist. [`crate::Texts::commit_changes`] compares the file with this content
    /// before it writes.
    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, FileError> {
        read_if_exists(path)
    }
}

impl FileSource for PathResolver {
    fn locate(&self, typed: &str) -> Result<ResolvedPath, EditRefused> {
        Ok(self.resolve(typed)?)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EditRefused {
    #[error(transparent)]
    File(FileError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{path} contains {reason}, not text that can be edited by lines\nhint: use a program for this format")]
    NotText { path: String, reason: &'static str },
    #[error(
        "Cannot modify auto-generated file: {path}\nThe next run of its generator would undo the change (detected marker: \
         \"{marker}\").\nhint: change its source and generate it again"
    )]
    Generated { path: String, marker: String },
    /// An error specific to one edit language, worded for the model.
    #[error("{0}")]
    Edit(String),
}

impl EditRefused {
    pub(crate) fn edit(text: impl Into<String>) -> Self {
        EditRefused::Edit(text.into())
    }
}

/// Reads a file in the form that `tag` refers to and checks that it may be edited. Returns `None` if there is no such file.
pub(crate) fn load_editable(
    files: &dyn FileSource,
    path: &ResolvedPath,
    tag: Option<Tag>,
    block_generated: bool,
) -> Result<Option<Editable>, EditRefused> {
    let Some(file) = load(files, path)? else { return Ok(None) };
    let file = file.under(tag);
    refuse_uneditable(path, file.text.bytes(), block_generated)?;
    Ok(Some(file))
}

fn load(files: &dyn FileSource, path: &ResolvedPath) -> Result<Option<Editable>, EditRefused> {
    let bytes = files.read(&path.absolute).map_err(|error| EditRefused::File(error.shown_as(&path.display)))?;
    Ok(bytes.map(|bytes| Editable::new(path, bytes)))
}

fn refuse_uneditable(path: &ResolvedPath, bytes: &[u8], block_generated: bool) -> Result<(), EditRefused> {
    if let Some(reason) = binary_reason(bytes) {
        return Err(EditRefused::NotText { path: path.display.clone(), reason });
    }
    refuse_generated(path, bytes, block_generated)
}

/// Returns an error if the file is marked as generated.
pub fn refuse_generated(path: &ResolvedPath, content: &[u8], block_generated: bool) -> Result<(), EditRefused> {
    let found = if block_generated { generated_marker(&path.absolute, content) } else { None };
    found.map_or(Ok(()), |marker| Err(EditRefused::Generated { path: path.display.clone(), marker }))
}

#[cfg(test)]
mod tests;
