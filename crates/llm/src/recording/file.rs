//! The file of a recording: private, append-only, and of limited size.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::line::Line;
#[cfg(not(unix))]
use other::private_file;
#[cfg(unix)]
use unix::private_file;

/// Size limit of a recording.
const LARGEST: u64 = 4 << 30;

pub(super) struct Tape {
    path: PathBuf,
    file: File,
    written: u64,
    /// Why recording has stopped.
    problem: Option<String>,
}

impl Tape {
    pub fn create(path: &Path) -> Result<Self, String> {
        let file = private_file().write(true).create_new(true).open(path).map_err(|error| {
            let hint = match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    "recordings are not overwritten; choose another file, or remove this one"
                }
                io::ErrorKind::NotFound => "the folder must exist",
                _ => "choose a file in a writable folder",
            };
            format!("cannot record to {}: {error}\nhint: {hint}", path.display())
        })?;
        Ok(Self { path: path.to_owned(), file, written: 0, problem: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Appends a line. A write error ends the recording, not the run.
    pub fn write(&mut self, line: &Line) {
        if self.problem.is_some() {
            return;
        }
        let outcome = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut text| {
            text.push(b'\n');
            self.written += text.len() as u64;
            if self.written > LARGEST {
                return Err(io::Error::other(format!("it would grow beyond {} GiB", LARGEST >> 30)));
            }
            self.file.write_all(&text)
        });
        if let Err(error) = outcome {
            self.problem = Some(format!("the recording {} is incomplete: {error}", self.path.display()));
        }
    }
}
