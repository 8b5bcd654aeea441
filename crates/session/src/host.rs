//! The factory of sessions. A front end that starts, resumes or forks sessions uses a host, and so does not depend on where
//! the parts of a session come from.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_store::EntryId;
use omp_types::{Editor, Message, Model, OtherMessage, TaskPhase, now_ms};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{Safeguards, Session, SessionFactory, SessionHeader};

/// A model that can be chosen.
#[derive(Clone, Debug)]
pub struct OfferedModel {
    pub model: Arc<Model>,
    /// The official name; the same model at another provider has the same.
    pub canonical: String,
    /// Whether `--models` or `enabledModels` selects it. Without them, every model is in scope.
    pub in_scope: bool,
}

impl OfferedModel {
    /// A model that is known under its own name only.
    pub fn alone(model: Arc<Model>) -> Self {
        Self { canonical: model.id.clone(), in_scope: true, model }
    }
}

pub trait SessionHost: Send + Sync {
    /// Makes the requested session and starts it. An error is a sentence for the user, and then nothing was changed.
    fn open(&self, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>> {
        self.open_in(Editor::default(), wish)
    }

    /// Opens a session that uses the files and terminals of an editor.
    fn open_in(&self, editor: Editor, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>>;

    /// The available models, in display order.
    fn models(&self) -> Vec<Arc<Model>>;

    /// The available models with what a list of them shows.
    fn offered_models(&self) -> Vec<OfferedModel> {
        self.models().into_iter().map(OfferedModel::alone).collect()
    }

    /// Writes a session as one HTML file and returns its path. Without `to` the file is named after the session and written
    /// to the session's working folder.
    fn export(&self, session: &Session, to: Option<PathBuf>) -> Result<PathBuf, String>;

    /// The sessions of a folder, or of all folders if `cwd` is `None`, newest first.
    fn sessions(&self, cwd: Option<PathBuf>) -> Result<Vec<SessionListing>, String>;

    /// Removes a session that is not open; it can still be restored for a while.
    fn delete(&self, file: &Path) -> Result<(), String>;

    /// Sets the title of a session that is not open.
    fn rename(&self, file: &Path, _title: &str) -> Result<(), String> {
        Err(format!("{} cannot be renamed from here", file.display()))
    }
}

/// The session to open.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// A new session; without `cwd` in the host's own folder.
    New { cwd: Option<PathBuf>, parent: Option<String> },
    /// The session in this file.
    Resume { file: PathBuf, cwd: Option<PathBuf> },
    /// A copy of the session in this file, including its artifacts.
    Fork { file: PathBuf, cwd: Option<PathBuf> },
    /// A new session with the conversation of another one up to an entry; `None` for an empty one.
    Branch { file: PathBuf, leaf: Option<EntryId> },
    /// The session in this file, moved with all its files to another working folder. It must be closed first. On failure
    /// the file stays at its old path.
    Move { file: PathBuf, cwd: PathBuf },
}

/// A session in a list.
#[derive(Clone, Debug)]
pub struct SessionListing {
    pub id: String,
    pub file: PathBuf,
    pub title: Option<String>,
    pub cwd: PathBuf,
    pub modified: std::time::SystemTime,
    pub first_message: Option<String>,
}

/// A running session, with everything else a front end needs.
pub struct OpenSession {
    pub session: Session,
    /// Ends after the last handle is dropped; joining it waits until the session's processes are gone.
    pub actor: JoinHandle<()>,
    pub header: SessionHeader,
    pub shell: Arc<dyn UserShell>,
    /// Runs what the user types after `$`. `None` if Python is not available.
    pub python: Option<Arc<dyn UserShell>>,
    /// `None` where the todo tool is off.
    pub todos: Option<Arc<dyn TodoBoard>>,
    pub safeguards: Safeguards,
    /// Makes further sessions with the same configuration. `None` if the host does not support that.
    pub factory: Option<Arc<dyn SessionFactory>>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// The interpreter of a command that the user typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RanBy {
    /// `!`
    Shell,
    /// `$`
    Python,
}

/// Runs commands that the user types after `!`, not calls of the model.
pub trait UserShell: Send + Sync {
    /// `progress` receives the output as it arrives.
    fn run<'a>(
        &'a self,
        command: &'a str,
        progress: &'a (dyn Fn(&str) + Send + Sync),
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<ShellRun, String>>;
}

/// A finished command of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShellRun {
    pub output: String,
    /// `None` when it was killed.
    pub exit_code: Option<i32>,
    pub cancelled: bool,
    pub truncated: bool,
    /// The artifact with the whole output, if the output was truncated.
    pub artifact_id: Option<String>,
    /// Further messages for the user.
    pub notices: Vec<String>,
    pub took: Duration,
    /// The shell's current working folder, if known.
    pub working_dir: Option<PathBuf>,
    /// Set if the output was truncated.
    pub sizes: Option<OutputSizes>,
}

impl ShellRun {
    /// The run as a message of the transcript. The model gets it with the next prompt, unless it is `excluded`.
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

/// The size of the whole output and of the part that was kept. A line ends with a newline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputSizes {
    pub total_lines: u64,
    pub total_bytes: u64,
    pub shown_lines: u64,
    pub shown_bytes: u64,
}

/// The task list, which front ends can read and set.
pub trait TodoBoard: Send + Sync {
    fn phases(&self) -> Vec<TaskPhase>;

    /// `phases` are in the format of the session file.
    fn set_phases(&self, phases: Value) -> Result<(), String>;
}
