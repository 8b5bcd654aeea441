//! Partial output of running calls: one slot per call, which keeps only the newest content.

use std::sync::{Arc, Mutex, PoisonError};

use omp_types::Content;
use tokio::sync::Notify;

use crate::tool::ToolOutput;

/// Receives the latest partial output of a running call. A slow reader gets fewer updates, never a longer queue.
#[derive(Clone, Default)]
pub struct Progress {
    board: Option<Arc<Board>>,
    slot: usize,
}

/// The slots of calls that run concurrently.
#[derive(Default)]
pub(crate) struct Board {
    slots: Mutex<Vec<(usize, ToolOutput)>>,
    changed: Notify,
}

impl Progress {
    pub(crate) fn new(board: Arc<Board>, slot: usize) -> Self {
        Self { board: Some(board), slot }
    }

    /// A progress sink without a reader.
    pub fn ignored() -> Self {
        Self::default()
    }

    /// Replaces the partial output with `text`.
    pub fn text(&self, text: impl Into<String>) {
        self.update(ToolOutput { content: vec![Content::text(text)], ..ToolOutput::default() });
    }

    pub fn update(&self, partial: ToolOutput) {
        if let Some(board) = &self.board {
            board.put(self.slot, partial);
        }
    }
}

impl Board {
    fn put(&self, slot: usize, partial: ToolOutput) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.iter_mut().find(|(taken, _)| *taken == slot) {
            Some((_, output)) => *output = partial,
            None => slots.push((slot, partial)),
        }
        self.changed.notify_one();
    }

    /// Takes the output of one slot, if there is a new one.
    pub(crate) fn take_one(&self, slot: usize) -> Option<ToolOutput> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let at = slots.iter().position(|(taken, _)| *taken == slot)?;
        Some(slots.swap_remove(at).1)
    }

    /// Waits until at least one slot has new output and takes all of it.
    pub(crate) async fn take(&self) -> Vec<(usize, ToolOutput)> {
        loop {
            let taken = std::mem::take(&mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner));
            if !taken.is_empty() {
                return taken;
            }
            self.changed.notified().await;
        }
    }
}
