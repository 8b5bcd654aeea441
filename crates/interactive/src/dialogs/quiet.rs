//! Ignores keys that were meant for something else: a key pressed before a question could be read is not an answer to it.

use std::time::{Duration, Instant};

use omp_tui::{Input, Key, KeyCode};

use super::DialogStep;
use super::letters::Letters;
use crate::action::Action;

/// How long no key may have been pressed, with the question visible, before a key counts as an answer.
const QUIET: Duration = Duration::from_millis(300);

/// The default accepts every key.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    /// The question was not drawn yet.
    unseen: bool,
    /// The user was typing when the question appeared: keys typed meanwhile belong to their text.
    typing: bool,
    /// Keys before this time are not answers.
    from: Option<Instant>,
}

impl Quiet {
    /// For a question that appears now. `typing`: whether the user is typing in the editor.
    pub fn after(typing: bool) -> Self {
        Self { unseen: true, typing, from: None }
    }

    /// Called when the question is drawn. The time starts here, however long drawing took.
    pub fn seen(&mut self) {
        if std::mem::take(&mut self.unseen) {
            self.from = Some(Instant::now() + QUIET);
        }
    }

    /// Handles a key that was pressed before the question could be read: it goes to the editor or is ignored. Escape is
    /// always accepted, because it changes nothing.
    pub fn astray(&mut self, input: &Input) -> Option<DialogStep> {
        if !self.unseen {
            let now = Instant::now();
            self.from = self.from.filter(|until| now < *until);
            self.from?;
            self.from = Some(now + QUIET);
        }
        match input {
            Input::Key(Key { code: KeyCode::Escape, .. }) => None,
            Input::Key(key) => Some(self.belongs(key.typed().map(|char| char.to_string()))),
            Input::Paste(text) => Some(self.belongs(Some(text.clone()))),
            Input::Mouse(_) | Input::Focus(_) => Some(DialogStep::Ignored),
        }
    }

    fn belongs(&self, text: Option<String>) -> DialogStep {
        text.filter(|_| self.typing).map_or(DialogStep::Ignored, |text| DialogStep::Do(Action::Insert(text)))
    }

    /// For the same question: whether one-letter answers must be distinguished from typed text.
    pub(super) fn letters(&self) -> Letters {
        if self.unseen { Letters::watching() } else { Letters::default() }
    }

    #[cfg(test)]
    pub fn be_over(&mut self) {
        *self = Self { from: Some(Instant::now()), ..Self::default() };
    }
}
