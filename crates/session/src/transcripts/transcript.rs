//! Everything that was said on the way to where a session stands, also what the model is no longer told.
//!
//! It is read from the file some messages at a time, as fast as they are taken: a long session is never in memory whole.

use std::sync::Arc;

use omp_types::Message;
use tokio::sync::mpsc;

use crate::Session;
use crate::recorder::Source;

/// Messages read at a time.
const PAGE: usize = 16;

impl Session {
    /// What a person sees of the conversation, in the order it was said. A session without a file has what it remembers.
    /// Damaged entries are left out; opening the session has told of them.
    pub fn transcript(&self) -> mpsc::Receiver<Vec<Arc<Message>>> {
        let (pages, receiver) = mpsc::channel(1);
        let source = self.control.recorder().source();
        let remembered = self.messages();
        tokio::task::spawn_blocking(move || {
            let told = source.is_some_and(|source| read(&source, &pages));
            if !told {
                for page in remembered.chunks(PAGE) {
                    if pages.blocking_send(page.to_vec()).is_err() {
                        return;
                    }
                }
            }
        });
        receiver
    }
}

/// `false` when there is nothing to read from.
fn read(source: &Source, pages: &mpsc::Sender<Vec<Arc<Message>>>) -> bool {
    let Ok(session) = source.load() else { return false };
    // Before the first entry nothing was said.
    let Some(leaf) = &source.leaf else { return true };
    let Some(transcript) = session.transcript(Some(leaf)) else { return false };
    for start in (0..transcript.len()).step_by(PAGE) {
        let (told, _) = transcript.read(start..start + PAGE);
        let page = told.into_iter().map(|told| Arc::new(told.message)).collect();
        if pages.blocking_send(page).is_err() {
            break;
        }
    }
    true
}
