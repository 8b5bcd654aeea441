//! Limits an operation by a deadline or a stop flag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Signals that the result is no longer wanted.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct UndoLimit {
    pub until: Option<Instant>,
    pub stop: StopFlag,
}

impl UndoLimit {
    /// Returns a limit of half the remaining time.
    pub fn half(&self) -> Self {
        let now = Instant::now();
        let half = |until: Instant| now + until.saturating_duration_since(now) / 2;
        Self { until: self.until.map(half), stop: self.stop.clone() }
    }

    pub fn is_over(&self) -> bool {
        self.stop.is_stopped() || self.until.is_some_and(|until| Instant::now() >= until)
    }
}
