//! What commands need of the program around a session, so that this crate knows no tool, no provider and no front end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_config::{Settings, TrustDecision};
use omp_session::Session;
use omp_types::{Model, ThinkingLevel};
use serde_json::Value;

/// The models that can be used.
pub trait ModelDirectory: Send + Sync {
    /// All of them as a table.
    fn list_text(&self) -> BoxFuture<'_, String>;

    /// The model for a name or a pattern, as `--model` takes it.
    fn resolve<'a>(&'a self, pattern: &'a str) -> BoxFuture<'a, Result<ResolvedModel, String>>;

    /// From now on there is no key for this provider.
    fn forget_key<'a>(&'a self, provider: &'a str) -> BoxFuture<'a, ()>;

    /// Whether the provider of this model knows service tiers.
    fn takes_service_tier(&self, model: &Model) -> bool;
}

/// What a pattern stands for.
#[derive(Clone, Debug)]
pub struct ResolvedModel {
    pub model: Arc<Model>,
    /// Where the pattern ends in a level.
    pub thinking: Option<ThinkingLevel>,
}

/// The file that keeps the keys of providers.
pub trait KeyFile: Send + Sync {
    /// Its path as a person is told it.
    fn shown_path(&self) -> String;

    /// The providers whose keys are in the file.
    fn providers(&self) -> Vec<&'static str>;

    /// Takes the keys of a provider out of the file.
    fn drop_key(&self, provider: &str) -> Result<DroppedKey, String>;
}

/// What became of a key that was taken away.
#[derive(Debug, PartialEq, Eq)]
pub struct DroppedKey {
    /// The variables that were in the file.
    pub variables: Vec<&'static str>,
    /// A variable that holds a key from elsewhere.
    pub outside: Option<&'static str>,
}

/// Writes sessions as HTML pages.
pub trait PageWriter: Send + Sync {
    /// Writes the page and returns where it is; without `to` its name and place are the writer's choice.
    fn write_page(&self, session: &Session, to: Option<&Path>) -> Result<PathBuf, String>;
}

/// The folder of a session: its settings and the user's trust in it, both as they are on disk now.
pub trait SessionFolder: Send + Sync {
    fn read_settings(&self) -> Result<Settings, String>;

    fn read_trust(&self) -> Result<TrustReport, String>;

    /// Fails when this user may not trust folders.
    fn check_may_trust(&self) -> Result<(), String>;
}

/// What a folder would run, and what of it may.
pub struct TrustReport {
    pub decision: Arc<TrustDecision>,
    /// For a person who is to decide.
    pub explained: String,
}

/// The task list that the model and the user share.
pub trait TaskList: Send + Sync {
    /// As Markdown; empty where there are no tasks.
    fn export(&self) -> String;

    /// Replaces the list by one in Markdown, or says what is wrong with it.
    fn import(&self, markdown: &str) -> Result<(), Vec<String>>;

    /// Carries out a line like `done <task>` and returns what was done.
    fn edit(&self, line: &str) -> Result<String, String>;

    /// What the model and the session file are told after the user did `done`.
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

/// A text that is made when somebody asks for it.
pub type LazyText = Arc<dyn Fn() -> String + Send + Sync>;
