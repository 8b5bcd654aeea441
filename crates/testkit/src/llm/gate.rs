//! Releases the events of a scripted model one by one, so that a test can act between them without sleeping.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;

/// Shared by the test, which opens it, and the streams, which wait for it. Initially closed.
#[derive(Clone, Default)]
pub struct Gate {
    inner: Arc<GateInner>,
}

#[derive(Default)]
struct GateInner {
    state: Mutex<GateQueue>,
    changed: Notify,
}

#[derive(Default)]
struct GateQueue {
    /// The number of events that may still pass.
    passes: usize,
    open: bool,
    /// Waiting streams, by their id.
    waiting: Vec<(usize, Waker)>,
    /// The id of the next stream.
    next: usize,
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `count` more events pass.
    pub fn pass(&self, count: usize) {
        self.change(|state| state.passes += count);
    }

    /// Lets all events pass from now on.
    pub fn open(&self) {
        self.change(|state| state.open = true);
    }

    /// Stops all further events.
    pub fn close(&self) {
        self.change(|state| state.open = false);
    }

    /// Waits until every pass is used and a stream waits for another one.
    pub async fn blocked(&self) {
        loop {
            let changed = self.inner.changed.notified();
            tokio::pin!(changed);
            // Registered before the check, so that no change in between is missed.
            changed.as_mut().enable();
            if self.lock().is_blocked() {
                return;
            }
            changed.await;
        }
    }

    pub(super) fn enter(&self) -> usize {
        let mut state = self.lock();
        state.next += 1;
        state.next
    }

    /// Called by a stream before its next event.
    pub(super) fn poll_pass(&self, stream: usize, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        state.waiting.retain(|(number, _)| *number != stream);
        let passed = state.take_pass();
        if !passed {
            state.waiting.push((stream, cx.waker().clone()));
        }
        drop(state);
        self.inner.changed.notify_waiters();
        if passed { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(super) fn leave(&self, stream: usize) {
        self.lock().waiting.retain(|(number, _)| *number != stream);
        self.inner.changed.notify_waiters();
    }

    fn change(&self, edit: impl FnOnce(&mut GateQueue)) {
        let wakers: Vec<Waker> = {
            let mut state = self.lock();
            edit(&mut state);
            state.waiting.iter().map(|(_, waker)| waker.clone()).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, GateQueue> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GateQueue {
    fn take_pass(&mut self) -> bool {
        if self.open {
            return true;
        }
        let passed = self.passes > 0;
        self.passes -= usize::from(passed);
        passed
    }

    fn is_blocked(&self) -> bool {
        !self.open && self.passes == 0 && !self.waiting.is_empty()
    }
}
