//! Messages that the user sends while the agent works: steering interrupts, follow-ups wait for the end.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use omp_types::Message;

/// How many waiting messages are delivered at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueMode {
    #[default]
    OneAtATime,
    All,
}

/// When steering messages are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterruptMode {
    /// Between tool calls; calls that have not started are skipped.
    #[default]
    Immediate,
    /// Only when all calls of the answer are done.
    Wait,
}

/// How waiting messages are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueModes {
    pub steering: QueueMode,
    pub follow_up: QueueMode,
    pub interrupt: InterruptMode,
}

/// Waiting messages beyond this are refused.
pub const MAX_QUEUED: usize = 256;

/// Both queues and their modes, shared between the loop and the session that fills them.
#[derive(Clone, Default)]
pub struct Queues {
    inner: Arc<Mutex<QueuedMessages>>,
}

#[derive(Default)]
struct QueuedMessages {
    steering: VecDeque<Arc<Message>>,
    follow_up: VecDeque<Arc<Message>>,
    modes: QueueModes,
}

impl Queues {
    /// `false` when the queue is full.
    #[must_use]
    pub fn steer(&self, message: Arc<Message>) -> bool {
        self.with(|inner| push(&mut inner.steering, message))
    }

    /// `false` when the queue is full.
    #[must_use]
    pub fn follow_up(&self, message: Arc<Message>) -> bool {
        self.with(|inner| push(&mut inner.follow_up, message))
    }

    pub fn set_steering_mode(&self, mode: QueueMode) {
        self.with(|inner| inner.modes.steering = mode);
    }

    pub fn set_follow_up_mode(&self, mode: QueueMode) {
        self.with(|inner| inner.modes.follow_up = mode);
    }

    pub fn set_interrupt_mode(&self, mode: InterruptMode) {
        self.with(|inner| inner.modes.interrupt = mode);
    }

    pub fn modes(&self) -> QueueModes {
        self.with(|inner| inner.modes)
    }

    pub fn len(&self) -> usize {
        self.with(|inner| inner.steering.len() + inner.follow_up.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The waiting messages: steering, and follow-ups.
    pub fn waiting(&self) -> (Vec<Arc<Message>>, Vec<Arc<Message>>) {
        self.with(|inner| (inner.steering.iter().cloned().collect(), inner.follow_up.iter().cloned().collect()))
    }

    /// Empties both queues and returns their messages.
    pub fn clear(&self) -> Vec<Arc<Message>> {
        self.with(|inner| inner.steering.drain(..).chain(inner.follow_up.drain(..)).collect())
    }

    pub(crate) fn take_steering(&self) -> Vec<Arc<Message>> {
        self.with(|inner| take(&mut inner.steering, inner.modes.steering))
    }

    pub(crate) fn take_follow_up(&self) -> Vec<Arc<Message>> {
        self.with(|inner| take(&mut inner.follow_up, inner.modes.follow_up))
    }

    /// Whether calls that have not started should be skipped now.
    pub(crate) fn interrupts(&self) -> bool {
        self.with(|inner| inner.modes.interrupt == InterruptMode::Immediate && !inner.steering.is_empty())
    }

    fn with<R>(&self, action: impl FnOnce(&mut QueuedMessages) -> R) -> R {
        action(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn push(queue: &mut VecDeque<Arc<Message>>, message: Arc<Message>) -> bool {
    if queue.len() >= MAX_QUEUED {
        return false;
    }
    queue.push_back(message);
    true
}

fn take(queue: &mut VecDeque<Arc<Message>>, mode: QueueMode) -> Vec<Arc<Message>> {
    match mode {
        QueueMode::OneAtATime => queue.pop_front().into_iter().collect(),
        QueueMode::All => queue.drain(..).collect(),
    }
}
