//! The shared todo list: changed by the model through the tool, by the user through commands, and replaced through RPC.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::edit::TodoEdit;
use super::list::{self, Phase, one_in_progress, problems_of, tidied};
use super::{Op, from_markdown, to_markdown};

/// A cheap handle to the todo list of a session.
#[derive(Clone, Debug, Default)]
pub struct TodoList {
    phases: Arc<Mutex<Vec<Phase>>>,
}

/// The result of operations on the list.
pub(super) struct Applied {
    pub before: Vec<Phase>,
    pub after: Vec<Phase>,
    /// If there are errors, the list is unchanged.
    pub errors: Vec<String>,
}

impl TodoList {
    pub fn phases(&self) -> Vec<Phase> {
        self.lock().clone()
    }

    /// Replaces the whole list. Afterwards one task is in progress if any is open.
    pub fn set(&self, phases: Vec<Phase>) -> Result<(), Vec<String>> {
        let mut phases = tidied(phases);
        let problems = problems_of(&phases);
        if !problems.is_empty() {
            return Err(problems);
        }
        one_in_progress(&mut phases);
        *self.lock() = phases;
        Ok(())
    }

    /// Continues the list of an earlier run, without completed and abandoned tasks.
    pub fn resume(&self, phases: Vec<Phase>) {
        let mut phases = tidied(phases);
        phases.iter_mut().for_each(|phase| phase.tasks.retain(|task| task.status.is_open()));
        phases.retain(|phase| !phase.tasks.is_empty());
        *self.lock() = phases;
    }

    /// Applies an edit of the user and describes it. On an error the list is unchanged.
    pub fn edit(&self, edit: &TodoEdit) -> Result<String, String> {
        let mut phases = self.lock();
        let (op, done) = edit.resolve(&phases)?;
        let (after, mut errors) = list::apply(phases.clone(), &[op]);
        errors.extend(list::too_many(&after));
        if !errors.is_empty() {
            return Err(errors.join("; "));
        }
        *phases = after;
        if matches!(edit, TodoEdit::Remove(_)) {
            phases.retain(|phase| !phase.tasks.is_empty());
        }
        Ok(done)
    }

    /// Returns the list as Markdown.
    pub fn export(&self) -> String {
        to_markdown(&self.lock())
    }

    /// Replaces the list by one in Markdown. Reports every problem; if there is one, the list is unchanged.
    pub fn import(&self, markdown: &str) -> Result<(), Vec<String>> {
        self.set(from_markdown(markdown)?)
    }

    pub(super) fn apply(&self, ops: &[Op]) -> Applied {
        let mut phases = self.lock();
        let before = phases.clone();
        let (after, mut errors) = list::apply(before.clone(), ops);
        errors.extend(list::too_many(&after));
        if errors.is_empty() {
            phases.clone_from(&after);
            return Applied { before, after, errors };
        }
        Applied { after: before.clone(), before, errors }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Phase>> {
        // The list is always replaced as a whole, so a poisoned lock can be used.
        self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
