//! The line about retries: updated with every attempt and every second, removed when the error itself is shown.

use std::time::Duration;

use omp_session::ToldRetries;
use omp_tui::{Line, Space};
use tokio::time::Instant;

use super::Block;
use super::note::{Note, Tone};

/// Changes until the retries end.
#[derive(Default)]
pub struct Retrying {
    /// The newest reason in one line.
    reason: String,
    attempts: (u32, u32),
    /// When the next attempt starts.
    due: Option<Instant>,
    state: RetryState,
    version: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum RetryState {
    #[default]
    Going,
    /// The line stays as a record.
    Over,
    /// The line is hidden, because the error that ended the run says the same.
    Told,
}

impl Retrying {
    pub fn again(&mut self, reason: &str, attempts: (u32, u32), delay: Duration) {
        ToldRetries::short(reason).clone_into(&mut self.reason);
        self.attempts = attempts;
        self.due = Some(Instant::now() + delay);
        self.version += 1;
    }

    /// `error` is the error that the run failed with.
    pub fn end(&mut self, error: Option<&str>) {
        let is_told = error.is_some_and(|error| ToldRetries::short(error) == self.reason);
        self.state = if is_told { RetryState::Told } else { RetryState::Over };
        self.version += 1;
    }

    fn seconds_left(&self) -> u64 {
        let left = self.due.filter(|_| self.state == RetryState::Going);
        left.map_or(0, |due| due.saturating_duration_since(Instant::now()).as_secs_f64().ceil() as u64)
    }
}

impl Block for Retrying {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let Self { reason, attempts: (attempt, most), .. } = &*self;
        let text = match (self.state, self.seconds_left()) {
            (RetryState::Told, _) => return Vec::new(),
            (RetryState::Going, 0) => format!("{reason}; retry {attempt} of {most}"),
            (RetryState::Going, left) => format!("{reason}; retry {attempt} of {most} in {left}s"),
            (RetryState::Over, _) if *attempt == 1 => format!("{reason}; retried once"),
            (RetryState::Over, _) => format!("{reason}; retried {attempt} times"),
        };
        Note::new(Tone::Warning, text).draw(space)
    }

    /// Changes with every second of a wait too; no wait is a million seconds long.
    fn version(&self) -> u64 {
        self.version * 1_000_000 + self.seconds_left()
    }

    fn is_final(&self) -> bool {
        self.state != RetryState::Going
    }
}
