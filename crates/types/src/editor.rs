//! What an editor that runs the agent offers it: the text it has open, and its terminals.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

/// Nothing offered means the agent uses the disk and its own processes.
#[derive(Clone, Default)]
pub struct Editor {
    pub files: Option<Arc<dyn EditorFiles>>,
    pub terminals: Option<Arc<dyn EditorTerminals>>,
    pub addresses: Option<Arc<dyn EditorAddresses>>,
    /// Whether its terminals are used although nothing contains what runs there.
    pub uncontained: bool,
}

/// Schemes of addresses that omp answers for itself.
pub const OWN_SCHEMES: [&str; 8] = ["artifact", "agent", "local", "skill", "rule", "memory", "jobs", "history"];

/// Addresses that the program around omp answers for, such as `notion://page`.
pub trait EditorAddresses: Send + Sync {
    /// Whether it has this scheme, given in lower case and without `://`.
    fn has(&self, scheme: &str) -> bool;

    fn writable(&self, scheme: &str) -> bool;

    /// Dropping the future takes the question back.
    fn read<'a>(&'a self, url: &'a str) -> EditorFuture<'a, Result<EditorText, String>>;

    fn write<'a>(&'a self, url: &'a str, text: &'a str) -> EditorFuture<'a, Result<(), String>>;
}

/// What stands behind an address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditorText {
    pub text: String,
    /// What the reader is to know besides.
    pub notes: Vec<String>,
}

/// The editor's own view of files. Calls wait for the editor, so they belong where blocking is fine.
pub trait EditorFiles: Send + Sync {
    /// The text with changes that were not saved yet. `None` when the editor cannot give it, and the disk counts.
    fn read(&self, path: &Path) -> Option<String>;

    /// Saves a text and shows it where the file is open. `None` when the editor cannot, and the disk is written.
    fn write(&self, path: &Path, text: &str) -> Option<Result<(), String>>;
}

pub type EditorFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs commands where the user sees them.
pub trait EditorTerminals: Send + Sync {
    /// `call` is the id of the tool call that the terminal is shown in.
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
    /// The editor keeps this much of the end of the output.
    pub max_output: u64,
}

/// A command in a terminal of the editor. Dropping the last handle gives the terminal back.
pub trait EditorTerminal: Send + Sync {
    fn output(&self) -> EditorFuture<'_, Result<EditorOutput, String>>;

    /// Waits for the end, however long that takes.
    fn exit(&self) -> EditorFuture<'_, Result<EditorExit, String>>;

    fn kill(&self) -> EditorFuture<'_, Result<(), String>>;
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditorOutput {
    pub text: String,
    /// The beginning is missing.
    pub truncated: bool,
    /// When it has ended.
    pub exit: Option<EditorExit>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditorExit {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub signal: Option<String>,
}
