//! Writing files: all of a set of changes or none, never over a change that somebody else made meanwhile.
//!
//! Each plan says what the file held when it was planned. That is compared again right before the new content takes
//! its place, and if anything fails the files already written get their old content back.

use std::path::{Path, PathBuf};

use crate::open::{FileError, read_if_exists};
use crate::path::PathResolver;

mod place;

use place::{Staged, missing_parents};

/// One file's change: what it holds now and what it shall hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPlan {
    pub path: PathBuf,
    /// `None`: the file must not exist yet.
    pub expected: Option<Vec<u8>>,
    pub content: Vec<u8>,
    /// Makes the file executable for those who may read it.
    pub executable: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error("{0} changed on disk while the edit was being prepared; nothing was written\nhint: read it again")]
    Changed(PathBuf),
    #[error("{0}\nnothing was written")]
    File(#[from] FileError),
    #[error("{cause}\nwhat had been written before could not be undone in: {}", .not_restored.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NotRestored { cause: Box<CommitError>, not_restored: Vec<PathBuf> },
}

impl CommitError {
    /// The same error with paths as people are shown them.
    pub fn shown_with(self, paths: &PathResolver) -> Self {
        match self {
            CommitError::Changed(path) => CommitError::Changed(paths.display(&path).into()),
            CommitError::File(error) => {
                let display = paths.display(error.path());
                CommitError::File(error.shown_as(&display))
            }
            CommitError::NotRestored { cause, not_restored } => CommitError::NotRestored {
                cause: Box::new(cause.shown_with(paths)),
                not_restored: not_restored.iter().map(|path| paths.display(path).into()).collect(),
            },
        }
    }
}

/// Writes all plans or none. Links stay links, modes stay as they are, missing folders are made.
pub fn commit(plans: &[EditPlan]) -> Result<(), CommitError> {
    let mut undo = Undo::default();
    let result = stage_all(plans, &mut undo).and_then(|staged| place_all(plans, staged, &mut undo));
    result.map_err(|cause| {
        let not_restored = undo.run();
        if not_restored.is_empty() { cause } else { CommitError::NotRestored { cause: Box::new(cause), not_restored } }
    })
}

/// Makes the new contents ready next to the files, so that the disk is full or the folder closed before anything changed.
fn stage_all(plans: &[EditPlan], undo: &mut Undo) -> Result<Vec<Staged>, CommitError> {
    let mut staged = Vec::with_capacity(plans.len());
    for plan in plans {
        let target = place::target_of(&plan.path)?;
        ensure_unchanged(&target, plan)?;
        undo.folders.extend(missing_parents(&target));
        staged.push(place::stage(target, &plan.content, plan.executable)?);
    }
    Ok(staged)
}

fn place_all(plans: &[EditPlan], staged: Vec<Staged>, undo: &mut Undo) -> Result<(), CommitError> {
    for (plan, staged) in plans.iter().zip(staged) {
        let target = staged.target().to_owned();
        ensure_unchanged(&target, plan)?;
        let (was, is) = (plan.expected.clone(), plan.content.clone());
        let failure = staged.place(&plan.content, plan.expected.is_none()).err();
        let torn = failure.as_ref().is_some_and(|failure| failure.torn);
        undo.files.push(Replaced { path: target, was, is, torn });
        if let Some(failure) = failure {
            return Err(failure.error.into());
        }
    }
    Ok(())
}

fn ensure_unchanged(target: &Path, plan: &EditPlan) -> Result<(), CommitError> {
    let now = read_if_exists(target)?;
    if now == plan.expected { Ok(()) } else { Err(CommitError::Changed(plan.path.clone())) }
}

#[derive(Default)]
struct Undo {
    files: Vec<Replaced>,
    /// Folders that did not exist, outermost first.
    folders: Vec<PathBuf>,
}

struct Replaced {
    path: PathBuf,
    was: Option<Vec<u8>>,
    is: Vec<u8>,
    /// Writing broke off in the middle of the file.
    torn: bool,
}

impl Undo {
    /// Puts old contents back and tells where that failed. A file that somebody else changed meanwhile is left alone.
    fn run(&mut self) -> Vec<PathBuf> {
        let mut failed = Vec::new();
        for file in self.files.drain(..).rev() {
            if !file.restore() {
                failed.push(file.path);
            }
        }
        for folder in self.folders.drain(..).rev() {
            // Only empty folders go, and only those made here.
            let _ = std::fs::remove_dir(folder);
        }
        failed
    }
}

impl Replaced {
    fn restore(&self) -> bool {
        let Ok(now) = read_if_exists(&self.path) else { return false };
        if now == self.was {
            return true;
        }
        match &self.was {
            None => now.as_ref() == Some(&self.is) && std::fs::remove_file(&self.path).is_ok(),
            Some(was) => {
                let ours = self.torn || now.as_ref() == Some(&self.is);
                let staged = || place::stage(self.path.clone(), was, false).ok();
                ours && staged().is_some_and(|staged| staged.place(was, false).is_ok())
            }
        }
    }
}

#[cfg(test)]
mod tests;
