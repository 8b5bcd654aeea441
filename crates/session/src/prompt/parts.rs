//! What the system prompt is made of, as plain data: whoever starts a session finds it, this crate puts it into words.

use std::path::PathBuf;

use omp_config::ContextFile;

use super::listed::Listed;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptParts {
    pub environment: Environment,
    /// The user's own prompt instead of ours.
    pub replace: Option<Replacement>,
    pub append: Option<String>,
    pub context_files: Vec<ContextFile>,
    /// Rules that always apply, name and text.
    pub always: Vec<NamedText>,
    /// Rules and instructions that are read when they fit.
    pub rulebook: Vec<Listed>,
    pub skills: Vec<Listed>,
}

/// What holds from the beginning of a session to its end, also when it is taken up again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub cwd: PathBuf,
    /// `linux`, `macos`, `windows`.
    pub os: String,
    /// Name of the shell that runs commands.
    pub shell: Option<String>,
    /// The day on which the session began, such as `2026-01-31`.
    pub began: Option<String>,
}

/// A prompt that takes the place of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub text: String,
    /// Our boundaries stay: the text is not the user's own but comes with a repository.
    pub keep_boundaries: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedText {
    pub name: String,
    pub text: String,
}
