//! All messages on the path to the current entry, including those that are no longer sent to the model.
//!
//! They are read from the file in pages, as fast as the reader takes them, so that a long session is never in memory as a
//! whole.

use std::sync::Arc;

use omp_types::Message;
use tokio::sync::mpsc;

use crate::Session;
use crate::recorder::Source;

/// Messages read at a time.
const PAGE: usize = 16;

impl Session {
    /// The conversation as shown to a user, in order. For a session without a file these are the messages in memory.
    /// Damaged entries are left out; they were reported when the session was opened.
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

/// `false` if there is no file to read from.
fn read(source: &Source, pages: &mpsc::Sender<Vec<Arc<Message>>>) -> bool {
    let Ok(session) = source.load() else { return false };
    // There are no messages before the first entry.
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
