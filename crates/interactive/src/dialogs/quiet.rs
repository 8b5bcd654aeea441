//! Keys that were meant for something else: a question takes none for its answer that was pressed before it could be read.

use std::time::{Duration, Instant};

use omp_tui::{Input, Key, KeyCode};

use super::DialogStep;
use super::letters::Letters;
use crate::action::Action;

/// The keys must have been quiet for so long, with the question to be seen, before one counts as an answer.
const QUIET: Duration = Duration::from_millis(300);

/// The default takes every key.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    /// The question was not drawn yet.
    unseen: bool,
    /// Somebody was typing when it came: what they type meanwhile belongs to their text.
    typing: bool,
    /// No key is an answer before this.
    from: Option<Instant>,
}

impl Quiet {
    /// For a question that comes now. `typing`: whether somebody is writing in the editor at the moment.
    pub fn after(typing: bool) -> Self {
        Self { unseen: true, typing, from: None }
    }

    /// The question is being drawn. However long a busy machine took for that, the time begins only now.
    pub fn seen(&mut self) {
        if std::mem::take(&mut self.unseen) {
            self.from = Some(Instant::now() + QUIET);
        }
    }

    /// What to do with a key of somebody who cannot have read the question yet: it goes where it was meant to, or
    /// nowhere. Escape is always an answer, as it does nothing.
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

    /// For the same question: whether its letters are told from those of a text.
    pub(super) fn letters(&self) -> Letters {
        if self.unseen { Letters::watching() } else { Letters::default() }
    }

    #[cfg(test)]
    pub fn be_over(&mut self) {
        *self = Self { from: Some(Instant::now()), ..Self::default() };
    }
}
