//! Tests of sessions through the public interface: written, damaged, read, found.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod blobs;
mod context;
mod copying;
mod cut;
mod damage;
#[cfg(unix)]
mod disk;
mod finding;
mod flips;
mod golden;
mod importing;
mod keeping;
mod kill;
mod seeing;
mod writer_process;
mod writers;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use omp_store::{BlobStore, Context, EntryBody, LoadedSession, NewSession, SessionWriter, SessionsDir};
use omp_types::{Env, Message, UserMessage};

/// A folder for one test's sessions.
struct Place {
    temp: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.temp.path()
    }

    fn blobs(&self) -> BlobStore {
        BlobStore::new(self.path())
    }

    /// Creates a project in a home folder, and its session folder.
    fn project(&self, agent: &Path) -> (SessionsDir, PathBuf) {
        let home = self.path().canonicalize().unwrap().join("home");
        let cwd = home.join("project");
        std::fs::create_dir_all(&cwd).unwrap();
        let env: Env = [("HOME", home.to_str().unwrap())].into_iter().collect();
        (SessionsDir::new(agent, &env), cwd)
    }

    fn writer(&self) -> SessionWriter {
        let new = NewSession { cwd: Path::new("/home/user/project"), now: SystemTime::now(), parent_session: None };
        SessionWriter::create(&self.path().join("sessions"), self.blobs(), new)
    }

    fn file(&self, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join("2026-11-15T20-00-03-186Z_01a1e0cb.jsonl");
        std::fs::write(&path, content).unwrap();
        path
    }

    fn open(&self, path: &Path) -> LoadedSession {
        LoadedSession::open(path, self.blobs()).unwrap()
    }
}

fn user(text: &str) -> EntryBody {
    EntryBody::Message(Arc::new(Message::User(UserMessage::text(text))))
}

/// Returns the text of every message, in order.
fn texts(context: &Context) -> Vec<String> {
    assert_eq!(context.messages.len(), context.entry_ids.len());
    texts_of(&context.messages)
}

fn texts_of(messages: &[Message]) -> Vec<String> {
    let text_of = |message: &Message| match message {
        Message::Other(other) => format!("({})", other.role),
        known => omp_types::text_of(known.content()),
    };
    messages.iter().map(text_of).collect()
}
