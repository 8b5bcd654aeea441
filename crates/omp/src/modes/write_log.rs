//! Logs everything written to the terminal to a file (`PI_TUI_WRITE_LOG`), without secrets.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use futures_util::future::LocalBoxFuture;
use omp_interactive::{Tty, TtyEvent};
use omp_tui::{CellSize, ImageWay, Profile, Size};
use omp_types::Secrets;

use crate::private_file;

/// Caps the bytes that one run adds.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Returns the terminal, with its log if there is a path, and a warning if the file cannot be used.
pub fn with_log(tty: Box<dyn Tty>, path: Option<&Path>, secrets: Secrets) -> (Box<dyn Tty>, Option<String>) {
    let Some(path) = path else { return (tty, None) };
    match private_file::append(path) {
        Ok(file) => (Box::new(Logged { tty, file, left: MAX_BYTES, secrets }), None),
        Err(error) => {
            let path = path.display();
            let problem = format!("cannot log terminal output to {path}: {error}\nhint: unset PI_TUI_WRITE_LOG");
            (tty, Some(problem))
        }
    }
}

struct Logged {
    tty: Box<dyn Tty>,
    file: File,
    left: usize,
    secrets: Secrets,
}

impl Tty for Logged {
    fn next(&mut self) -> LocalBoxFuture<'_, TtyEvent> {
        self.tty.next()
    }

    fn try_next(&mut self) -> Option<TtyEvent> {
        self.tty.try_next()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.left = self.left.saturating_sub(bytes.len());
        if self.left > 0 {
            let text = String::from_utf8_lossy(bytes);
            // A full disk does not end the session.
            if self.file.write_all(self.secrets.redact(&text).as_bytes()).is_err() {
                self.left = 0;
            }
        }
        self.tty.write(bytes);
    }

    fn size(&self) -> Size {
        self.tty.size()
    }

    fn profile(&self) -> Profile {
        self.tty.profile()
    }

    fn images(&self) -> (ImageWay, CellSize) {
        self.tty.images()
    }

    fn set_rows_below(&mut self, rows: usize) {
        self.tty.set_rows_below(rows);
    }

    fn pause(&mut self) {
        self.tty.pause();
    }

    fn resume(&mut self) {
        self.tty.resume();
    }

    fn suspend(&mut self) {
        self.tty.suspend();
    }

    fn set_title(&mut self, title: &str) {
        self.tty.set_title(title);
    }

    fn notify(&mut self, text: &str) {
        self.tty.notify(text);
    }

    fn copy(&mut self, text: &str) -> bool {
        self.tty.copy(text)
    }
}
