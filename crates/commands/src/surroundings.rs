//! Traits that abstract the program around a session, so that this crate knows no tool, no provider and no front end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_config::{ContextFile, Settings, TrustDecision};
use omp_session::Session;
use omp_types::{Model, ThinkingLevel};
use serde_json::Value;

/// The models that can be used.
pub trait ModelDirectory: Send + Sync {
    /// Lists all models as a table.
    fn list_text(&self) -> BoxFuture<'_, String>;

    /// Resolves a name or a pattern, in the syntax of `--model`.
    fn resolve<'a>(&'a self, pattern: &'a str) -> BoxFuture<'a, Result<ResolvedModel, String>>;

    /// Removes the key of a provider.
    fn forget_key<'a>(&'a self, provider: &'a str) -> BoxFuture<'a, ()>;

    /// Whether the provider of this model supports service tiers.
    fn takes_service_tier(&self, model: &Model) -> bool;
}

/// The model that a pattern resolves to.
#[derive(Clone, Debug)]
pub struct ResolvedModel {
    pub model: Arc<Model>,
    /// Set if the pattern ends with a level.
    pub thinking: Option<ThinkingLevel>,
}

/// The file that stores the keys of providers.
pub trait KeyFile: Send + Sync {
    /// Returns its path for display.
    fn shown_path(&self) -> String;

    /// Returns the providers whose keys are in the file.
    fn providers(&self) -> Vec<&'static str>;

    /// Removes the keys of a provider from the file.
    fn drop_key(&self, provider: &str) -> Result<DroppedKey, String>;
}

/// The result of removing a key.
#[derive(Debug, PartialEq, Eq)]
pub struct DroppedKey {
    /// The variables that were in the file.
    pub variables: Vec<&'static str>,
    /// A variable outside of the file that still provides a key.
    pub outside: Option<&'static str>,
}

/// Writes sessions as HTML pages.
pub trait PageWriter: Send + Sync {
    /// Writes the page and returns its path; without `to` the writer chooses the path.
    fn write_page(&self, session: &Session, to: Option<&Path>) -> Result<PathBuf, String>;
}

/// The folder of a session: its settings and its trust, both read from disk on each call.
pub trait SessionFolder: Send + Sync {
    fn read_settings(&self) -> Result<Settings, String>;

    fn read_trust(&self) -> Result<TrustReport, String>;

    /// Returns the files with instructions that a new session would put into its prompt, in their order.
    fn context_files(&self) -> Result<Vec<ContextFile>, String>;

    /// Checks what a session needs, like `omp doctor`; with `local` it also asks local model servers.
    fn examine(&self, local: bool) -> BoxFuture<'_, Result<String, String>>;

    /// Fails if this process may not change trust.
    fn check_may_trust(&self) -> Result<(), String>;
}

/// What a folder would run, and which of it is allowed.
pub struct TrustReport {
    pub decision: Arc<TrustDecision>,
    /// The explanation for the user.
    pub explained: String,
}

/// What `/debug` shows; secrets are removed from all of it.
pub trait Diagnostics: Send + Sync {
    /// Returns the newest lines of the log.
    fn logs(&self) -> String;

    /// Returns the newest raw bytes of providers.
    fn stream(&self) -> String;

    /// Writes the next request to a file.
    fn dump_next(&self, file: PathBuf);

    /// Packs a report with the log, the stream and the session file. Returns its path.
    fn bundle(&self, report: &str, session: Option<&Path>) -> Result<PathBuf, String>;
}

/// The task list that the model and the user share.
pub trait TaskList: Send + Sync {
    /// Returns the list as Markdown; empty if there are no tasks.
    fn export(&self) -> String;

    /// Replaces the list with one in Markdown, or returns its errors.
    fn import(&self, markdown: &str) -> Result<(), Vec<String>>;

    /// Executes a line like `done <task>` and returns a message.
    fn edit(&self, line: &str) -> Result<String, String>;

    /// Returns the note for the model and the session file after the user did `done`.
    fn note_of_edit(&self, done: &str) -> TaskListNote;
}

/// A change by the user, for the model and the session file.
pub struct TaskListNote {
    /// The custom type of the entry and of the message.
    pub custom_type: &'static str,
    /// What the model reads.
    pub text: String,
    /// The whole list.
    pub phases: Value,
}

/// A text that is generated on demand.
pub type LazyText = Arc<dyn Fn() -> String + Send + Sync>;
