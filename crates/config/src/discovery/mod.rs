//! Discovery of what a user and a repository tell the agent: a list of sources, each a file of its own.
//!
//! A source knows one vendor's places. The registry asks all of them, strongest first, and drops what a stronger one
//! has already found.

mod agents_md;
mod catalogue;

use std::path::{Path, PathBuf};

pub use catalogue::{
    AgentFile, Catalogue, Declared, FileCommand, Provider, Rule, Shadowed, Skill, Source as ItemSource, TextFile,
};

/// Whose words these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    User,
    Project,
}

/// Instructions that belong into the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFile {
    pub path: PathBuf,
    pub level: Level,
    pub text: String,
}

/// What was found and what was left out, in sentences for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The user's first, then from the repository root down to the working folder.
    pub files: Vec<ContextFile>,
    pub warnings: Vec<String>,
}

/// The folders discovery starts from.
pub(crate) struct Roots<'a> {
    /// `~/.omp/agent`
    pub agent: &'a Path,
    /// From the working folder up to the repository root, nearest first.
    pub project: Vec<&'a Path>,
}

/// One vendor's places.
pub(crate) trait Source: Sync {
    /// Higher wins.
    fn priority(&self) -> u32;
    fn context_files(&self, roots: &Roots<'_>, found: &mut Found);
}

/// Every source there is.
const SOURCES: &[&dyn Source] = &[&agents_md::AgentsMd];

/// Where discovery looks.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    pub home: &'a Path,
    /// `~/.omp/agent`, or wherever it was moved to.
    pub agent: &'a Path,
    pub cwd: &'a Path,
}

/// Finds everything there is.
pub fn discover(places: &Places<'_>) -> Catalogue {
    let found = discover_context_files(places.agent, places.cwd);
    Catalogue { context_files: found.files, warnings: found.warnings, ..Catalogue::default() }
}

pub fn discover_context_files(agent: &Path, cwd: &Path) -> Found {
    let root = repository_root(cwd);
    let roots = Roots { agent, project: cwd.ancestors().take_while(|folder| folder.starts_with(&root)).collect() };
    let mut sources = SOURCES.to_vec();
    sources.sort_by_key(|source| std::cmp::Reverse(source.priority()));
    let mut found = Found::default();
    for source in sources {
        source.context_files(&roots, &mut found);
    }
    let depth = |file: &ContextFile| (file.level, file.path.components().count());
    found.files.sort_by_key(depth);
    found.files.dedup_by(|later, earlier| later.path == earlier.path);
    found
}

/// The nearest folder above with a `.git`, or the folder itself.
pub fn repository_root(cwd: &Path) -> PathBuf {
    cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(cwd).to_owned()
}
