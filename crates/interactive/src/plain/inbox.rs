//! The lines that the user types, and which of them form one message.

use std::time::Duration;

use tokio::sync::mpsc;

/// Lines that arrive faster than anyone types were pasted and form one message.
const PASTED_WITHIN: Duration = Duration::from_millis(25);
const MOST_PASTED_LINES: usize = 10_000;

pub(super) struct Inbox {
    pub(super) lines: mpsc::Receiver<String>,
    pub(super) closed: bool,
    /// Lines that ended with a backslash, waiting for the rest.
    pub(super) begun: String,
    pub(super) attended: bool,
}

impl Inbox {
    /// Collects a message: one line, a pasted block, or lines that end with a backslash up to one that does not.
    pub(super) async fn whole(&mut self, line: String) -> Option<String> {
        let mut text = std::mem::take(&mut self.begun) + &line;
        if self.attended {
            for _ in 0..MOST_PASTED_LINES {
                let Ok(Some(more)) = tokio::time::timeout(PASTED_WITHIN, self.lines.recv()).await else { break };
                text = text + "\n" + &more;
            }
        }
        match text.strip_suffix('\\') {
            None => Some(text),
            Some(begun) => {
                self.begun = format!("{begun}\n");
                None
            }
        }
    }
}
