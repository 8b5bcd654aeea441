//! The parts of the system prompt as plain data: the code that starts a session collects them, this crate formats them.

use std::path::PathBuf;

use omp_config::ContextFile;

use super::listed::PromptListItem;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptParts {
    pub environment: Environment,
    /// The user's own prompt, which replaces the built-in one.
    pub replace: Option<Replacement>,
    pub append: Option<String>,
    pub context_files: Vec<ContextFile>,
    /// Rules that always apply, name and text.
    pub always: Vec<NamedText>,
    /// Rules and instructions that the model reads on demand.
    pub rulebook: Vec<PromptListItem>,
    pub skills: Vec<PromptListItem>,
}

/// Facts that stay the same for the whole session, also after it is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub cwd: PathBuf,
    /// `linux`, `macos`, `windows`.
    pub os: String,
    /// Name of the shell that runs commands.
    pub shell: Option<String>,
    /// The date on which the session began, such as `2026-01-31`.
    pub began: Option<String>,
}

/// A prompt that replaces the built-in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub text: String,
    /// Keeps the built-in boundaries, because the text comes from a repository and not from the user.
    pub keep_boundaries: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedText {
    pub name: String,
    pub text: String,
}
