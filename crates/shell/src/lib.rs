//! Determines what a shell script would run, before it runs.
//!
//! The parser answers one question, "which programs could this start?", for bash, zsh and sh alike: every path through the
//! script counts, and anything that the three interpret differently, or that is only decided at run time, is reported as
//! unknown. It makes one pass over the text, so that hostile input costs no more than its length (backtracking grammars need
//! minutes for thirty opening parentheses).

mod arithmetic;
mod assignments;
mod builtins;
mod code;
mod compounds;
mod coverage;
mod critical;
mod expansions;
mod folders;
mod git;
#[cfg(test)]
mod hostile;
mod interpret;
mod irreversible;
mod lists;
mod made;
mod needs_terminal;
mod operands;
mod options;
mod pattern;
mod reader;
mod reading;
mod redirects;
mod runners;
mod sed;
mod shells;
mod ssh;
mod untold;
mod words;
mod wrappers;
mod writes;

pub use assignments::changes_what_runs;
pub use coverage::only_starts;
pub use critical::{Critical, Danger, Severity};
pub use folders::Stand;
pub use irreversible::{IRREVERSIBLE, IrreversibleRow, IrreversibleVerbs, irreversible};
pub use needs_terminal::{TerminalNeed, TerminalProgram, needs_terminal};
pub use pattern::{CommandPattern, Forbids, quoted};
pub use reading::{only_builds, only_reads, only_starts_others};
pub use writes::WrittenPlace;

/// Length limit of a script.
pub const MAX_SCRIPT: usize = 128 * 1024;
/// Limit on listed commands.
pub const MAX_COMMANDS: usize = 2_000;
/// Limit on nesting depth.
pub const MAX_DEPTH: usize = 40;

/// Everything that a script could start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellScript {
    pub commands: Vec<ShellCommand>,
    /// What is unknown before the script runs; if not empty, the list of commands is incomplete.
    pub unknown: Vec<String>,
    /// Names of functions and aliases that the script defines.
    pub defined: Vec<String>,
}

/// A program, builtin or function that is started, or separate assignments and redirects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    pub words: Vec<ShellWord>,
    pub assignments: Vec<Assignment>,
    pub redirects: Vec<Redirect>,
    /// Its context and what starts it, from the outside in: `sudo`, `$(…)`, `function f`.
    pub via: Vec<String>,
    pub role: CommandRole,
    /// Index of the command that contains it in its words or starts it.
    pub inside: Option<usize>,
    /// Whether that command starts it; otherwise it is in its words.
    pub(crate) is_started: bool,
    /// Its redirects are those of the command that starts it.
    pub(crate) shares_redirects: bool,
    /// The pipelines it is part of: pipeline number and position.
    pub(crate) pipes: Vec<(usize, usize)>,
    pub(crate) depth: usize,
    pub(crate) posix: bool,
    /// Number of the `&&` list of the script itself that it is part of.
    pub(crate) and_list: Option<usize>,
}

/// The effect of the command on the commands that it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandRole {
    #[default]
    Itself,
    /// Only starts another command, without additional rights (`timeout`, `nice`, `bash -c`).
    Wrapper,
    /// Starts another command as another user or on another machine (`sudo`, `ssh`).
    Elsewhere,
}

/// A word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// Expansions are kept as written.
    pub text: String,
    /// The value does not depend on run time.
    pub known: bool,
    /// It starts with a `~` that is the user's home.
    pub home: bool,
    /// Contains text literally that a shell would run if it evaluated the word again.
    pub(crate) code: bool,
    /// Can only be a number.
    pub(crate) numeric: bool,
    /// Start of the value, if the word looks like an assignment.
    pub(crate) value_at: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub value: ShellWord,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub kind: RedirectKind,
    /// A file, a file descriptor (`&1`), or the here-document text.
    pub target: ShellWord,
    /// Has a file descriptor other than stdin in front: `3<<<`.
    pub(crate) numbered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    Read,
    Write,
    Append,
    ReadWrite,
    /// Another file descriptor: no file is opened.
    Descriptor,
    /// A here-document or here-string.
    Text,
}

/// Parses a script as bash or zsh would; syntax that only one of them accepts is unknown.
pub fn read(script: &str) -> ShellScript {
    interpret::read(script)
}

impl ShellScript {
    /// Returns the most severe finding that `is_harmless` does not rule out.
    pub fn critical(&self, is_harmless: impl Fn(Danger) -> bool) -> Option<Critical> {
        critical::find(self, is_harmless)
    }
}

impl ShellCommand {
    /// Creates a command from known words.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Self { words: words.into_iter().map(ShellWord::known).collect(), ..Self::default() }
    }

    /// Returns the program name without its folder.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(ShellWord::program)
    }

    /// Returns the files that it is known to write, other than its redirects.
    pub fn written(&self) -> Vec<WrittenPlace> {
        writes::written(self)
    }

    /// Returns whether every word is known before it runs.
    pub fn is_whole(&self) -> bool {
        self.words.iter().all(|word| word.known)
    }
}

impl ShellWord {
    pub fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), known: true, ..Self::default() }
    }

    pub fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Whether the word can only become names of files that begin like it, and so no option.
    pub(crate) fn is_file_pattern(&self) -> bool {
        let begins_plainly = self.text.starts_with(|first: char| first.is_alphanumeric() || "_./".contains(first));
        let is_name = |char: char| char.is_alphanumeric() || "_-./*?,@+=".contains(char);
        !self.known && begins_plainly && self.text.contains(['*', '?']) && self.text.chars().all(is_name)
    }

    /// Returns the program name without its folder.
    pub(crate) fn program(&self) -> Option<&str> {
        self.known.then(|| self.text.rsplit('/').next().unwrap_or(&self.text))
    }
}
