//! Imports sessions of other programs: Claude Code, Codex and pi.
//!
//! The source is only read. The new session appears complete under its name or not at all, and its ID is derived from the
//! source's, so that importing twice gives one session. Data without a counterpart here is kept in `custom` entries.

mod claude;
mod codex;
mod draft;
mod find;
mod pi;
mod source;

use std::io;
use std::path::{Path, PathBuf};

pub use find::{Importable, importable};

use crate::blob::BlobStore;
use crate::folder::SessionsDir;
use crate::problem::Report;
use draft::ImportDraft;
use source::ImportSource;

/// A program whose sessions can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Claude,
    Codex,
    Pi,
}

/// Destination of an import.
#[derive(Clone, Debug)]
pub struct ImportDestination<'a> {
    pub sessions: &'a SessionsDir,
    pub blobs: &'a BlobStore,
    /// Working folder for a session that does not name its own.
    pub cwd: &'a Path,
}

#[derive(Debug)]
pub struct Imported {
    pub path: PathBuf,
    pub id: String,
    pub title: Option<String>,
    /// Number of messages; 0 if the session was already imported.
    pub messages: usize,
    /// Whether the session was imported earlier, so that nothing was done.
    pub already: bool,
    /// Problems in the source, by line.
    pub report: Report,
}

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("cannot read {}: {source}\nhint: give the path of a session file of {program}", path.display())]
    Unreadable { path: PathBuf, program: Program, source: io::Error },
    #[error("{} is not a session of {program}: it contains no messages\nhint: `omp sessions import --list` lists what can be imported", path.display())]
    Nothing { path: PathBuf, program: Program },
    #[error("cannot write {}: {source}\nhint: check free space and that the folder is writable; nothing was imported", path.display())]
    NotWritten { path: PathBuf, source: io::Error },
}

impl Program {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Pi];

    /// Name on the command line and in `custom` entries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Pi => "pi",
        }
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Pi => "pi",
        })
    }
}

/// Converts a session file of another program to a session of omp.
pub fn import(program: Program, path: &Path, to: &ImportDestination<'_>) -> Result<Imported, ImportError> {
    let source = ImportSource::read(path).map_err(|source| ImportError::Unreadable {
        path: path.to_owned(),
        program,
        source,
    })?;
    let id = source::session_id(program, path, &source);
    if let Some(path) = find::imported(to.sessions, &id) {
        return Ok(Imported { path, id, title: None, messages: 0, already: true, report: Report::default() });
    }
    let mut draft = ImportDraft::new(to.blobs, source.report.clone());
    match program {
        Program::Claude => claude::convert(&source, &mut draft),
        Program::Codex => codex::convert(&source, &mut draft),
        Program::Pi => pi::convert(&source, &mut draft),
    }
    if draft.messages == 0 {
        return Err(ImportError::Nothing { path: path.to_owned(), program });
    }
    let name = draft::Name { program, id: &id, source: path };
    let cwd = draft.cwd.clone().unwrap_or_else(|| to.cwd.to_string_lossy().into_owned());
    let folder = to.sessions.session_dir_for(Path::new(&cwd));
    let (title, messages) = (draft.title.clone(), draft.messages);
    let (path, report) =
        draft.save(&folder, &cwd, &name).map_err(|source| ImportError::NotWritten { path: folder.clone(), source })?;
    Ok(Imported { path, id, title, messages, already: false, report })
}
