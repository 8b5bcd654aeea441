//! Records the rows committed within the last moments.
//!
//! Tmux resizes a pane at once but notifies the program up to a quarter of a second later, and over a network it may take
//! as long. Rows written in between are
//! truncated or misplaced without an error. When the notification arrives, rows of the last moments are therefore treated as
//! not committed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Frames closer together than this count as one.
const GRAIN: Duration = Duration::from_millis(10);

pub struct Recent {
    lag: Duration,
    /// The time of each frame, and the rows committed before it.
    frames: VecDeque<(Instant, usize)>,
}

impl Recent {
    pub fn new(lag: Duration) -> Self {
        Self { lag, frames: VecDeque::new() }
    }

    pub fn set_lag(&mut self, lag: Duration) {
        self.lag = lag;
    }

    pub fn painting(&mut self, committed: usize) {
        let now = Instant::now();
        self.forget_before(now);
        if self.lag > Duration::ZERO && self.frames.back().is_none_or(|(last, _)| now.duration_since(*last) >= GRAIN) {
            self.frames.push_back((now, committed));
        }
    }

    /// Returns the rows committed before the last moments; `None` if nothing was painted in them.
    pub fn take_committed(&mut self) -> Option<usize> {
        self.forget_before(Instant::now());
        let committed = self.frames.iter().map(|(_, committed)| *committed).min();
        self.frames.clear();
        committed
    }

    pub fn clear(&mut self) {
        self.frames.clear();
    }

    fn forget_before(&mut self, now: Instant) {
        while self.frames.front().is_some_and(|(then, _)| now.duration_since(*then) > self.lag + GRAIN) {
            self.frames.pop_front();
        }
    }
}
