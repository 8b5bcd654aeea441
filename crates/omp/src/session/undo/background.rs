//! Copies, beside other work, the files that there was no time for before a command ran.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use omp_undo::{StopFlag, Undo};

/// Pause between two pieces of work, so that a waiting call gets the lock first.
const PAUSE: Duration = Duration::from_millis(3);

/// One thread at most, which ends with this.
#[derive(Default)]
pub struct UndoThread {
    stop: StopFlag,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl UndoThread {
    /// Begins, where nobody does it yet.
    pub fn go_on(&self, undo: &Arc<Undo>) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let (undo, stop) = (undo.clone(), self.stop.clone());
        let work = move || {
            // What cannot be copied now is tried again with the next call, which also tells why.
            while !stop.is_stopped() && undo.go_on(&stop).unwrap_or(false) {
                std::thread::sleep(PAUSE);
            }
        };
        // Without a thread the next call goes on.
        *thread = std::thread::Builder::new().name("omp-undo".to_owned()).spawn(work).ok();
    }
}

impl Drop for UndoThread {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It stops within one piece of work; a panic in it is not worth another.
            drop(thread.join());
        }
    }
}
