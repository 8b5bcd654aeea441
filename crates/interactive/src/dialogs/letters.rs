//! Distinguishes a one-letter answer from letters of typed text, which follow each other quickly. A one-letter answer counts
//! only if no other letter follows at once.

use std::time::Duration;

use tokio::time::Instant;

/// Letters closer together than this belong to a text.
const APART: Duration = Duration::from_millis(300);

/// The default accepts every letter at once.
#[derive(Debug, Default)]
pub(super) struct Letters {
    watches: bool,
    last: Option<(Instant, char)>,
    /// Text that was typed in one go and is not in the editor yet.
    text: String,
    is_text: bool,
    held: Option<usize>,
    #[cfg(test)]
    clock: Option<Instant>,
}

/// The meaning of a letter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Alone,
    /// The key is held down or pressed again.
    Again,
    /// Part of a text; holds the letters that are not in the editor yet.
    Text(String),
}

impl Letters {
    pub fn watching() -> Self {
        Self { watches: true, ..Self::default() }
    }

    pub fn hear(&mut self, letter: char) -> Heard {
        if !self.watches {
            return Heard::Alone;
        }
        let now = self.now();
        let before = self.last.replace((now, letter)).filter(|(at, _)| now < *at + APART);
        match before {
            None => {
                (self.text, self.is_text) = (letter.to_string(), false);
                Heard::Alone
            }
            Some((_, same)) if same == letter && !self.is_text => Heard::Again,
            Some(_) => {
                (self.is_text, self.held) = (true, None);
                self.text.push(letter);
                Heard::Text(std::mem::take(&mut self.text))
            }
        }
    }

    /// Holds an answer until it is certain that its letter does not begin a text. Returns it at once if the check is off.
    pub fn hold(&mut self, option: usize) -> Option<usize> {
        match self.watches {
            true => {
                self.held = Some(option);
                None
            }
            false => Some(option),
        }
    }

    /// Returns when the held answer counts.
    pub fn due(&self) -> Option<Instant> {
        self.held.and(self.last).map(|(at, _)| at + APART)
    }

    /// Takes the held answer once it is due.
    pub fn take_due(&mut self) -> Option<usize> {
        let now = self.now();
        self.due().filter(|due| now >= *due).and_then(|_| self.held.take())
    }

    /// Takes the held answer when a key confirms it.
    pub fn confirm(&mut self) -> Option<usize> {
        self.held.take()
    }

    /// Discards the held answer when any other key is pressed.
    pub fn drop_held(&mut self) {
        self.held = None;
    }

    /// Whether the user is typing a text right now.
    pub fn is_text(&self) -> bool {
        let now = self.now();
        self.is_text && self.last.is_some_and(|(at, _)| now < at + APART)
    }

    fn now(&self) -> Instant {
        #[cfg(test)]
        if let Some(clock) = self.clock {
            return clock;
        }
        Instant::now()
    }

    /// Advances the time of the test.
    #[cfg(test)]
    pub fn pass(&mut self, milliseconds: u64) {
        self.clock = Some(self.now() + Duration::from_millis(milliseconds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types letters, each after a pause in milliseconds.
    fn heard(letters: &[(u64, char)]) -> Vec<Heard> {
        let mut listener = Letters::watching();
        listener.pass(0);
        letters
            .iter()
            .map(|(pause, letter)| {
                listener.pass(*pause);
                listener.hear(*letter)
            })
            .collect()
    }

    #[test]
    fn letters_that_follow_each_other_are_a_text_and_all_of_it_reaches_the_editor() {
        let text = |text: &str| Heard::Text(text.to_owned());
        assert_eq!(heard(&[(0, 'a'), (400, 'b'), (300, 'c')]), [Heard::Alone, Heard::Alone, Heard::Alone]);
        assert_eq!(
            heard(&[(0, 'w'), (100, 'a'), (100, 'i'), (299, 't'), (300, 'y')]),
            [Heard::Alone, text("wa"), text("i"), text("t"), Heard::Alone]
        );
        assert_eq!(heard(&[(0, 'y'), (30, 'y'), (30, 'y')]), [Heard::Alone, Heard::Again, Heard::Again]);
        assert_eq!(heard(&[(0, 'x'), (30, 'y'), (30, 'y')])[2], text("y"), "two of a letter in a word");
    }

    #[test]
    fn an_answer_counts_when_no_letter_follows() {
        let mut letters = Letters::watching();
        letters.pass(0);
        letters.hear('y');
        assert_eq!((letters.hold(3), letters.take_due()), (None, None));
        letters.pass(299);
        assert_eq!(letters.take_due(), None);
        letters.pass(1);
        assert_eq!((letters.take_due(), letters.take_due()), (Some(3), None));

        letters.pass(400);
        letters.hear('y');
        letters.hold(3);
        letters.pass(100);
        letters.hear('e');
        assert!(letters.is_text() && letters.due().is_none());
        letters.pass(1000);
        assert!(!letters.is_text() && letters.take_due().is_none());
    }
}
