//! Moves the session to another entry of the tree, with a summary of the abandoned branch.

use omp_compaction::BranchNote;
use omp_session::{Command, GoToError};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::screen::Dirty;
use super::{News, Running};
use crate::action::Destination;
use crate::chrome::Working;
use crate::dialogs::BranchNoteDialog;
use crate::prompt::Submission;
use crate::transcript::Tone;

/// The result of moving to another entry.
pub struct Went {
    to: Destination,
    outcome: Result<(), GoToError>,
}

impl Running {
    /// Moves to an entry, or first asks how to summarize the abandoned branch.
    pub(super) async fn go_to(&mut self, to: Destination) {
        let Some(live) = &self.live else { return };
        let now = live.session.snapshot();
        if !now.sums_up_branches || now.running {
            return self.leave_branch(to, BranchNote::Nothing).await;
        }
        match live.session.leaves_branch(to.entry.as_ref()) {
            Ok(true) => self.show_dialog(Box::new(BranchNoteDialog::new(to))),
            Ok(false) => self.leave_branch(to, BranchNote::Nothing).await,
            Err(problem) => self.note(Tone::Error, &problem),
        }
    }

    /// A summary takes as long as an answer, so it runs in a task that the loop can cancel.
    pub(super) async fn leave_branch(&mut self, to: Destination, note: BranchNote) {
        let Some(live) = &self.live else { return };
        if !matches!(note, BranchNote::Summary(_)) {
            let outcome = live.session.go_to_with(to.entry.clone(), note).await;
            return self.went(Went { to, outcome }).await;
        }
        let (reply, answer) = oneshot::channel();
        let command = Command::GoTo { leaf: to.entry.clone(), note, reply };
        let sent = live.session.send(command).await;
        let working = self.work.working.get_or_insert_with(|| Working::new(Instant::now()));
        working.summing_up = true;
        self.beside(async move {
            let outcome = match sent {
                Ok(()) => answer.await.unwrap_or(Err(GoToError::Closed(omp_session::Closed))),
                Err(closed) => Err(closed.into()),
            };
            News::Went(Went { to, outcome })
        });
    }

    pub(super) async fn went(&mut self, went: Went) {
        self.screen.mark(Dirty::Now);
        let runs = self.is_running();
        match &mut self.work.working {
            Some(working) if runs => working.summing_up = false,
            working => *working = None,
        }
        match went.outcome {
            Ok(()) => {
                let text = went.to.text.filter(|text| !text.is_empty());
                self.give_back(text.map(|text| Submission { text, ..Submission::default() }).into_iter().collect());
            }
            Err(problem @ GoToError::Cancelled) => {
                Box::pin(self.obey(went.to.chosen_in.open())).await;
                self.hint(&problem.to_string());
            }
            Err(problem) => self.note(Tone::Error, &problem.to_string()),
        }
    }
}
