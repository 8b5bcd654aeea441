//! What a shell script would run, read before it runs.
//!
//! The reader is written for one question, "which programs could this start?", and answers it for bash, zsh and sh alike:
//! every path through the script counts, and what the three read differently, or what is only decided while the script
//! runs, is told as unknown. It goes once over the text, so that hostile input costs no more than its length (grammars
//! that try one reading after the other need minutes for thirty opening parentheses).

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
mod lists;
mod made;
mod options;
mod pattern;
mod reader;
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
pub use pattern::{CommandPattern, Forbids, quoted};
pub use writes::WrittenPlace;

/// Longer scripts are not read.
pub const MAX_SCRIPT: usize = 128 * 1024;
/// Further commands are not listed.
pub const MAX_COMMANDS: usize = 2_000;
/// Deeper nesting is not followed.
pub const MAX_DEPTH: usize = 40;

/// Everything that a script could start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellScript {
    pub commands: Vec<ShellCommand>,
    /// What cannot be told before it runs; then no list of commands is complete.
    pub unknown: Vec<String>,
    /// Names of functions and aliases that it defines.
    pub defined: Vec<String>,
}

/// A program, builtin or function that is started, or assignments and redirects that stand alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    pub words: Vec<ShellWord>,
    pub assignments: Vec<Assignment>,
    pub redirects: Vec<Redirect>,
    /// Where it stands and what starts it, from the outside in: `sudo`, `$(…)`, `function f`.
    pub via: Vec<String>,
    pub role: CommandRole,
    /// The command that it is part of (of whose words, or which starts it), as a place in the list.
    pub inside: Option<usize>,
    /// That command starts it; else it stands in its words.
    pub(crate) is_started: bool,
    /// Its redirects are those of the command that starts it.
    pub(crate) shares_redirects: bool,
    /// The pipelines it is part of: number of the pipeline, place in it.
    pub(crate) pipes: Vec<(usize, usize)>,
    pub(crate) depth: usize,
    pub(crate) posix: bool,
}

/// What starting it means for the commands inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandRole {
    #[default]
    Itself,
    /// Only starts another command, with no more rights than that has alone (`timeout`, `nice`, `bash -c`).
    Wrapper,
    /// Starts another command as somebody else or somewhere else (`sudo`, `ssh`).
    Elsewhere,
}

/// A word after quotes are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// Expansions stay as they are written.
    pub text: String,
    /// Nothing that happens while running decides what it is.
    pub known: bool,
    /// The `~` that it starts with is the user's home.
    pub home: bool,
    /// Holds, literally, what a shell would run if it read the text once more.
    pub(crate) code: bool,
    /// Can only be a number.
    pub(crate) numeric: bool,
    /// Where the value begins, of a word that reads like an assignment.
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
    /// A file, a file descriptor (`&1`), or the text that is read.
    pub target: ShellWord,
    /// Has a descriptor before it that is not the input: `3<<<`.
    pub(crate) numbered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    Read,
    Write,
    Append,
    ReadWrite,
    /// Another descriptor: nothing is opened.
    Descriptor,
    /// A here-document or here-string.
    Text,
}

/// Reads a script as bash or zsh would; what only one of them understands is unknown.
pub fn read(script: &str) -> ShellScript {
    interpret::read(script)
}

impl ShellScript {
    /// The worst in it that deserves a second look, of what nothing makes harmless.
    pub fn critical(&self, is_harmless: impl Fn(Danger) -> bool) -> Option<Critical> {
        critical::find(self, is_harmless)
    }
}

impl ShellCommand {
    /// One that starts with known words and nothing else.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Self { words: words.into_iter().map(ShellWord::known).collect(), ..Self::default() }
    }

    /// The name it is called by, without its folder.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(ShellWord::program)
    }

    /// What it is known to write, besides its redirects.
    pub fn written(&self) -> Vec<WrittenPlace> {
        writes::written(self)
    }

    /// Whether every word is known before it runs.
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

    /// The name of the program that it is, without its folder.
    pub(crate) fn program(&self) -> Option<&str> {
        self.known.then(|| self.text.rsplit('/').next().unwrap_or(&self.text))
    }
}
