//! What was committed a moment ago.
//!
//! Tmux resizes a pane at once but tells the program in it up to a quarter of a second later. Rows that are written in
//! between are cut or put in the wrong place, and nobody says so. So when the news comes, the last moments do not count.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

const LAG: Duration = Duration::from_millis(500);
/// Frames that follow each other this closely are taken for one.
const GRAIN: Duration = Duration::from_millis(10);

pub struct Recent {
    lag: Duration,
    /// When a frame was painted, and how many rows had been committed before it.
    frames: VecDeque<(Instant, usize)>,
}

impl Default for Recent {
    fn default() -> Self {
        Self::new(LAG)
    }
}

impl Recent {
    pub fn new(lag: Duration) -> Self {
        Self { lag, frames: VecDeque::new() }
    }

    pub fn painting(&mut self, committed: usize) {
        let now = Instant::now();
        self.forget_before(now);
        if self.lag > Duration::ZERO && self.frames.back().is_none_or(|(last, _)| now.duration_since(*last) >= GRAIN) {
            self.frames.push_back((now, committed));
        }
    }

    /// How many rows were committed before the last moments, `None` when nothing was painted in them.
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
