//! The list as everybody shares it: the tool changes it for the model, commands for the user, RPC as a whole.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::edit::TodoEdit;
use super::list::{self, Phase, one_in_progress, problems_of, tidied};
use super::{Op, from_markdown, to_markdown};

/// A cheap handle to the one todo list of a session.
#[derive(Clone, Debug, Default)]
pub struct TodoList {
    phases: Arc<Mutex<Vec<Phase>>>,
}

/// What operations have made of the list.
pub(super) struct Applied {
    pub before: Vec<Phase>,
    pub after: Vec<Phase>,
    /// With any of them the list is as it was.
    pub errors: Vec<String>,
}

impl TodoList {
    pub fn phases(&self) -> Vec<Phase> {
        self.lock().clone()
    }

    /// Replaces the whole list. One task is in progress afterwards if any is left to do.
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

    /// Goes on with the list of an earlier run: what was finished or given up belongs to the past.
    pub fn resume(&self, phases: Vec<Phase>) {
        let mut phases = tidied(phases);
        phases.iter_mut().for_each(|phase| phase.tasks.retain(|task| task.status.is_open()));
        phases.retain(|phase| !phase.tasks.is_empty());
        *self.lock() = phases;
    }

    /// Carries out what the user wants; says what was done. On an error the list is as it was.
    pub fn edit(&self, edit: &TodoEdit) -> Result<String, String> {
        let mut phases = self.lock();
        let (op, done) = edit.resolve(&phases)?;
        let (after, mut errors) = list::apply(phases.clone(), &[op]);
        errors.extend(list::too_many(&after));
        if !errors.is_empty() {
            return Err(errors.join("; "));
        }
        *phases = after;
        Ok(done)
    }

    /// The list as Markdown.
    pub fn export(&self) -> String {
        to_markdown(&self.lock())
    }

    /// Replaces the list by one in Markdown. Every problem is told; with any of them the list is as it was.
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
        // The list is replaced as a whole, so it is never half changed.
        self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
