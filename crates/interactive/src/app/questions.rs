//! Shows the session's questions one at a time in place of the editor.

use omp_session::{Answer, Command, Question, QuestionKind, WebAddress};

use super::screen::Dirty;
use super::{OpenDialog, Running};
use crate::dialogs::{ApproveDialog, AskDialog, Dialog, OpenUrlDialog, PendingApproval, Quiet};
use crate::transcript::{AskedAbout, Tone};

impl Running {
    pub(super) fn asked(&mut self, question: Question) {
        if !self.presses.focused && self.around.habits.calls.asked {
            self.call("Waiting for your answer");
        }
        self.questions.push_back(question);
        self.next_question();
    }

    /// Shows the oldest pending question if no dialog is open.
    pub(super) fn next_question(&mut self) {
        if self.dialog.is_some() {
            return;
        }
        if self.live.is_none() {
            return;
        }
        let Some(question) = self.questions.pop_front() else { return };
        let id = question.id;
        let quiet = Quiet::after(!self.prompt.is_empty());
        let mut about = None;
        let dialog: Box<dyn Dialog> = match question.kind {
            QuestionKind::Approve { call_id, tool, arguments, reason, details } => {
                about = Some(AskedAbout::Call(call_id));
                let approval = PendingApproval { id, tool, arguments, reason, details };
                Box::new(ApproveDialog::new(approval, quiet))
            }
            QuestionKind::Choose(choice) => {
                about = Some(AskedAbout::Question(choice.question.clone()));
                Box::new(AskDialog::new(id, choice).quiet(quiet))
            }
            QuestionKind::OpenUrl { url, reason } => Box::new(OpenUrlDialog::new(id, url, reason).quiet(quiet)),
        };
        self.dialog = Some(OpenDialog { dialog, asks: true, question: Some(id), about });
        self.screen.mark(Dirty::Now);
    }

    /// Whether the session waits for the user, even if another dialog covers the question.
    pub(super) fn is_asking(&self) -> bool {
        !self.questions.is_empty() || self.dialog.as_ref().is_some_and(|open| open.question.is_some())
    }

    /// Closes a question that is no longer pending, or all of them.
    pub(super) fn close_question(&mut self, id: Option<u64>) {
        self.questions.retain(|question| id.is_some_and(|id| question.id != id));
        let asks = |open: &OpenDialog| open.question.is_some() && (id.is_none() || open.question == id);
        if self.dialog.as_ref().is_some_and(asks) {
            self.dialog = None;
            self.next_question();
        }
        self.screen.mark(Dirty::Now);
    }

    /// Answers a question about an address by opening it. The question stays open if no browser can be started.
    pub(super) async fn open_url(&mut self, id: u64, url: &WebAddress) {
        match self.around.outside.clone().open_url(url).await {
            Ok(()) => {
                self.close_question(Some(id));
                self.command(Command::Answer { id, answer: Answer::Yes }).await;
            }
            Err(problem) => self.note(Tone::Error, &problem),
        }
    }

    pub(super) async fn refuse(&mut self, id: u64) {
        self.command(Command::Answer { id, answer: Answer::No }).await;
    }

    /// Shows a dialog that the user has opened.
    pub(super) fn show_dialog(&mut self, dialog: Box<dyn Dialog>) {
        self.show(dialog, false);
    }

    /// Shows a dialog that asks the user something.
    pub(super) fn show_asking(&mut self, dialog: Box<dyn Dialog>) {
        self.show(dialog, true);
    }

    fn show(&mut self, dialog: Box<dyn Dialog>, asks: bool) {
        // Other dialogs do not replace a question, because the session waits for its answer.
        if self.dialog.as_ref().is_some_and(|open| open.question.is_some()) {
            return;
        }
        self.dialog = Some(OpenDialog { dialog, asks, question: None, about: None });
        self.screen.mark(Dirty::Now);
    }
}
