//! Dispatches keys to the open dialog, else to the prompt.

use omp_tui::Input;
use tokio::time::Instant;

use super::Running;
use super::screen::Dirty;
use super::submit::When;
use crate::action::Action;
use crate::dialogs::DialogStep;
use crate::prompt::PromptStep;

impl Running {
    pub(super) async fn input(&mut self, input: Input) {
        if let Input::Focus(focused) = input {
            self.presses.focused = focused;
            if focused {
                self.look_at_git();
            }
            return;
        }
        if self.screen_input(&input).await {
            return;
        }
        if matches!(input, Input::Mouse(_)) && self.dialog.is_none() {
            return;
        }
        self.presses.stops_again = std::mem::take(&mut self.presses.stopped);
        // Any other key in between resets the count, so the next ctrl+c is the first one again.
        self.presses.leaves = self.presses.leaves_until.take().is_some_and(|until| Instant::now() < until);
        if self.work.hint.take().is_some() {
            self.screen.mark(Dirty::Now);
        }
        if let Some(action) = self.over_dialog(&input) {
            return self.obey(action).await;
        }
        match &mut self.dialog {
            Some(open) => {
                let context = open.dialog.context();
                let known = match input {
                    Input::Key(key) => self.around.keymap.for_component(context, key).map(Input::Key),
                    other => Some(other),
                };
                let step = known.map_or(DialogStep::Ignored, |input| open.dialog.input(&input));
                self.step(step).await;
            }
            None => {
                let step = self.prompt.input(&input, &self.around.keymap);
                self.prompt_step(step).await;
            }
        }
    }

    /// Returns the action of a key that the application takes even if a dialog is open.
    fn over_dialog(&self, input: &Input) -> Option<Action> {
        let (open, Input::Key(key)) = (self.dialog.as_ref()?, input) else { return None };
        let action = self.around.keymap.action_over(open.dialog.context(), key);
        action.filter(|action| open.asks || !matches!(action, Action::CycleApproval))
    }

    pub(super) async fn step(&mut self, step: DialogStep) {
        match step {
            DialogStep::Ignored => {}
            DialogStep::Redraw => self.screen.mark(Dirty::Now),
            DialogStep::Do(action) => {
                self.screen.mark(Dirty::Now);
                self.obey(action).await;
            }
            DialogStep::Close(action) => {
                self.screen.mark(Dirty::Now);
                let question = self.dialog.take().and_then(|open| open.question);
                self.next_question();
                match (action, question) {
                    (Some(action), _) => self.obey(action).await,
                    (None, Some(id)) => self.refuse(id).await,
                    (None, None) => {}
                }
            }
        }
    }

    pub(super) async fn prompt_step(&mut self, step: PromptStep) {
        match step {
            PromptStep::Nothing => {}
            PromptStep::Redraw => self.screen.mark(Dirty::Now),
            PromptStep::Act(action) => {
                self.screen.mark(Dirty::Now);
                self.obey(action).await;
            }
            PromptStep::Submit(submission) => {
                self.screen.mark(Dirty::Now);
                self.submitted(submission, When::Now).await;
            }
        }
    }
}
