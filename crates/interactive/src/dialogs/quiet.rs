//! Keys that were meant for the editor: a question that comes while somebody types must not take them for its answer.

use std::time::{Duration, Instant};

use omp_tui::{Input, Key, KeyCode};

use super::Step;
use crate::action::Action;

/// Who was typing must have been quiet for so long before a key counts as an answer.
const QUIET: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
pub(crate) struct Quiet {
    /// Somebody was typing when the question came, and cannot have seen it yet.
    unseen: bool,
    /// No key is an answer before this.
    from: Option<Instant>,
}

impl Quiet {
    /// `typing`: whether somebody is writing in the editor at the moment.
    pub fn after(typing: bool) -> Self {
        Self { unseen: typing, from: None }
    }

    /// The question is being drawn. However long a busy machine took for that, the time begins only now.
    pub fn seen(&mut self) {
        if std::mem::take(&mut self.unseen) {
            self.from = Some(Instant::now() + QUIET);
        }
    }

    /// What to do with a key of somebody who has not seen the question yet: it goes where it was meant to. Escape is
    /// always an answer, as it does nothing.
    pub fn astray(&mut self, input: &Input) -> Option<Step> {
        if !self.unseen {
            let now = Instant::now();
            self.from = self.from.filter(|until| now < *until);
            self.from?;
            self.from = Some(now + QUIET);
        }
        match input {
            Input::Key(Key { code: KeyCode::Escape, .. }) => None,
            Input::Key(key) => Some(match key.typed() {
                Some(char) => Step::Do(Action::Insert(char.to_string())),
                None => Step::Ignored,
            }),
            Input::Paste(text) => Some(Step::Do(Action::Insert(text.clone()))),
            Input::Mouse(_) | Input::Focus(_) => Some(Step::Ignored),
        }
    }

    #[cfg(test)]
    pub fn be_over(&mut self) {
        *self = Self { unseen: false, from: Some(Instant::now()) };
    }
}
