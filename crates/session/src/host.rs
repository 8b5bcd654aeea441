//! Who makes sessions. A front end that begins, resumes or forks sessions holds a host, and so need not know where the
//! parts of a session come from.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_store::EntryId;
use omp_types::{Editor, Message, Model, OtherMessage, now_ms};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{Safeguards, Session, SessionFactory, SessionHeader};

pub trait SessionHost: Send + Sync {
    /// Makes the session that is wished for and starts it. A problem is a sentence for the user; nothing was changed.
    fn open(&self, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>> {
        self.open_in(Editor::default(), wish)
    }

    /// Opens a session that uses the files and terminals of an editor.
    fn open_in(&self, editor: Editor, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>>;

    /// The models that can be used, in the order they are offered.
    fn models(&self) -> Vec<Arc<Model>>;

    /// Writes a session as one HTML file and returns where it is. Without `to` it is named after the session and stands
    /// in its working folder.
    fn export(&self, session: &Session, to: Option<PathBuf>) -> Result<PathBuf, String>;

    /// Sessions of a folder, of all folders without one, newest first.
    fn sessions(&self, cwd: Option<PathBuf>) -> Result<Vec<SessionListing>, String>;

    /// Puts a session away that nobody has open, from where it can still be brought back for a while.
    fn delete(&self, file: &Path) -> Result<(), String>;

    /// Gives a title to a session that nobody has open.
    fn rename(&self, file: &Path, _title: &str) -> Result<(), String> {
        Err(format!("{} cannot be renamed from here", file.display()))
    }
}

/// Which session is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// A new one; without `cwd` in the host's own folder.
    New { cwd: Option<PathBuf>, parent: Option<String> },
    /// The one in this file.
    Resume { file: PathBuf, cwd: Option<PathBuf> },
    /// A copy of the one in this file, artifacts included.
    Fork { file: PathBuf, cwd: Option<PathBuf> },
    /// A new one that holds what another said up to an entry, `None` for nothing of it.
    Branch { file: PathBuf, leaf: Option<EntryId> },
    /// The one in this file, moved with all that belongs to it to another working folder. It must be closed
    /// first. When this fails the file is where it was.
    Move { file: PathBuf, cwd: PathBuf },
}

/// A session as a list shows it.
#[derive(Clone, Debug)]
pub struct SessionListing {
    pub id: String,
    pub file: PathBuf,
    pub title: Option<String>,
    pub cwd: PathBuf,
    pub modified: std::time::SystemTime,
    pub first_message: Option<String>,
}

/// A session that runs, with what a front end needs besides.
pub struct OpenSession {
    pub session: Session,
    /// Ends when the last handle is dropped; joining it waits until the session's processes are gone.
    pub actor: JoinHandle<()>,
    pub header: SessionHeader,
    pub shell: Arc<dyn UserShell>,
    /// Runs what the user types after `$`. `None` where there is no Python to be offered.
    pub python: Option<Arc<dyn UserShell>>,
    /// `None` where the todo tool is off.
    pub todos: Option<Arc<dyn TodoBoard>>,
    pub safeguards: Safeguards,
    /// Makes further sessions from what this one was made of. `None` where the host makes none.
    pub factory: Option<Arc<dyn SessionFactory>>,
    /// Things the user should know.
    pub warnings: Vec<String>,
}

/// What the user has something run by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RanBy {
    /// `!`
    Shell,
    /// `$`
    Python,
}

/// Runs what the user types after `!`, not what the model calls.
pub trait UserShell: Send + Sync {
    /// `progress` is told the output as it comes.
    fn run<'a>(
        &'a self,
        command: &'a str,
        progress: &'a (dyn Fn(&str) + Send + Sync),
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<ShellRun, String>>;
}

/// A finished command of the user's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShellRun {
    pub output: String,
    /// `None` when it was killed.
    pub exit_code: Option<i32>,
    pub cancelled: bool,
    pub truncated: bool,
    /// The file that holds the whole output when it was truncated.
    pub artifact_id: Option<String>,
    /// What the user is to know besides.
    pub notices: Vec<String>,
    pub took: Duration,
    /// Where the shell stands now, where it is known.
    pub working_dir: Option<PathBuf>,
    /// Set where the output was truncated.
    pub sizes: Option<OutputSizes>,
}

impl ShellRun {
    /// The run as a message of the transcript. The model reads it with the next prompt, unless it is `excluded`.
    pub fn message(&self, ran_by: RanBy, typed: &str, excluded: bool) -> Message {
        let (role, named) = match ran_by {
            RanBy::Shell => ("bashExecution", "command"),
            RanBy::Python => ("pythonExecution", "code"),
        };
        let mut value = json!({"role": role, named: typed, "output": self.output});
        if let Some(code) = self.exit_code {
            value["exitCode"] = code.into();
        }
        value["cancelled"] = self.cancelled.into();
        value["truncated"] = self.truncated.into();
        value["timestamp"] = now_ms().into();
        if excluded {
            value["excludeFromContext"] = true.into();
        }
        let role = role.to_owned();
        Message::Other(OtherMessage { role, value })
    }
}

/// How much a command has printed, and how much of it is left. A line ends with a newline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputSizes {
    pub total_lines: u64,
    pub total_bytes: u64,
    pub shown_lines: u64,
    pub shown_bytes: u64,
}

/// The task list, as front ends see and set it.
pub trait TodoBoard: Send + Sync {
    /// The phases, as they stand in the file.
    fn phases(&self) -> Value;

    fn set_phases(&self, phases: Value) -> Result<(), String>;
}
