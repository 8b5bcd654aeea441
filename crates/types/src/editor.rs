//! What an editor, or another front end, offers to the agent: its open texts, its terminals, its screen.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use crate::CommandScreens;

/// If nothing is offered, the agent uses the disk and its own processes.
#[derive(Clone, Default)]
pub struct Editor {
    pub files: Option<Arc<dyn EditorFiles>>,
    pub terminals: Option<Arc<dyn EditorTerminals>>,
    pub addresses: Option<Arc<dyn EditorAddresses>>,
    /// Where the user can work with a command in a terminal.
    pub screens: Option<Arc<dyn CommandScreens>>,
    /// Whether its terminals are used although commands there are not contained.
    pub uncontained: bool,
}

/// Address schemes that omp handles itself.
pub const OWN_SCHEMES: [&str; 8] = ["artifact", "agent", "local", "skill", "rule", "memory", "jobs", "history"];

/// Addresses that the host program handles, such as `notion://page`.
pub trait EditorAddresses: Send + Sync {
    /// Whether it handles this scheme, given in lower case and without `://`.
    fn has(&self, scheme: &str) -> bool;

    fn writable(&self, scheme: &str) -> bool;

    /// Dropping the future cancels the request.
    fn read<'a>(&'a self, url: &'a str) -> EditorFuture<'a, Result<EditorText, String>>;

    fn write<'a>(&'a self, url: &'a str, text: &'a str) -> EditorFuture<'a, Result<(), String>>;
}

/// The content of an address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditorText {
    pub text: String,
    /// Additional notes for the reader.
    pub notes: Vec<String>,
}

/// The editor's own view of files. Calls block until the editor answers.
pub trait EditorFiles: Send + Sync {
    /// Returns the text including unsaved changes; `None` if the editor cannot provide it, so that the disk is used.
    fn read(&self, path: &Path) -> Option<String>;

    /// Saves a text and shows it if the file is open; `None` if the editor cannot, so that the disk is written.
    fn write(&self, path: &Path, text: &str) -> Option<Result<(), String>>;
}

pub type EditorFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs commands visibly for the user.
pub trait EditorTerminals: Send + Sync {
    /// `call` is the id of the tool call that shows the terminal.
    fn start<'a>(
        &'a self,
        call: &'a str,
        command: EditorCommand,
    ) -> EditorFuture<'a, Result<Arc<dyn EditorTerminal>, String>>;
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditorCommand {
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    /// Bytes at the end of the output that the editor keeps.
    pub max_output: u64,
}

/// A command in a terminal of the editor. Dropping the last handle releases the terminal.
pub trait EditorTerminal: Send + Sync {
    fn output(&self) -> EditorFuture<'_, Result<EditorOutput, String>>;

    /// Waits for the end without a time limit.
    fn exit(&self) -> EditorFuture<'_, Result<EditorExit, String>>;

    fn kill(&self) -> EditorFuture<'_, Result<(), String>>;
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditorOutput {
    pub text: String,
    /// The beginning is missing.
    pub truncated: bool,
    /// Set once the command has ended.
    pub exit: Option<EditorExit>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditorExit {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub signal: Option<String>,
}
