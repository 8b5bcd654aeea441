//! Copies in the background the files that there was no time for before a command ran.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use omp_undo::{StopFlag, Undo};

/// Pause between two steps, so that a waiting call gets the lock first.
const PAUSE: Duration = Duration::from_millis(3);

/// At most one thread. Dropping this stops it.
#[derive(Default)]
pub struct UndoThread {
    stop: StopFlag,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl UndoThread {
    /// Starts the thread unless it already runs.
    pub fn go_on(&self, undo: &Arc<Undo>) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let (undo, stop) = (undo.clone(), self.stop.clone());
        let work = move || {
            // A failed copy is retried with the next call, which also reports the reason.
            while !stop.is_stopped() && undo.go_on(&stop).unwrap_or(false) {
                std::thread::sleep(PAUSE);
            }
        };
        // If no thread can be started, the next call continues.
        *thread = std::thread::Builder::new().name("omp-undo".to_owned()).spawn(work).ok();
    }
}

impl Drop for UndoThread {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The thread stops within one step. Its panic is ignored.
            drop(thread.join());
        }
    }
}
