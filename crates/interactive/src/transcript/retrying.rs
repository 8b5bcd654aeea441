//! The line about retries: one per reason, removed when the error itself is shown. The working row counts down meanwhile.

use omp_session::ToldRetries;
use omp_tui::{Line, Space};

use super::Block;
use super::note::{Note, Tone};

/// Changes with every attempt until the retries end.
pub struct Retrying {
    /// The reason in one line.
    reason: String,
    attempts: (u32, u32),
    state: State,
    version: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Going,
    /// The line stays as a record.
    Over,
    /// The line is hidden, because the error that ended the run says the same.
    Told,
}

impl Retrying {
    pub fn new(reason: &str) -> Self {
        Self { reason: ToldRetries::short(reason).to_owned(), attempts: (0, 0), state: State::Going, version: 0 }
    }

    pub fn is_about(&self, reason: &str) -> bool {
        self.reason == ToldRetries::short(reason)
    }

    pub fn again(&mut self, attempt: u32, most: u32) {
        self.attempts = (attempt, most);
        self.version += 1;
    }

    /// `error` is the error that the run failed with.
    pub fn end(&mut self, error: Option<&str>) {
        self.state = if error.is_some_and(|error| self.is_about(error)) { State::Told } else { State::Over };
        self.version += 1;
    }
}

impl Block for Retrying {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let (attempt, most) = self.attempts;
        let did = match self.state {
            State::Going => "trying again",
            State::Over => "tried again",
            State::Told => return Vec::new(),
        };
        Note::new(Tone::Warning, format!("{}; {did} ({attempt} of {most})", self.reason)).draw(space)
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn is_final(&self) -> bool {
        self.state != State::Going
    }
}
