//! Exports a session as one HTML file that needs no network, and as plain text.
//!
//! The file is made in two steps: the conversation is streamed into an unnamed temporary file, with one entry in memory at a
//! time, while the sidebar and the totals are collected; then head, conversation and foot become the page. Session content
//! is untrusted: see `markup`. Cut text is marked as such.

mod agents;
mod card;
mod dump;
mod entry;
mod markdown;
mod markup;
mod message;
mod page;
mod pictures;
mod sidebar;
mod talk;
mod target;
mod tree;

use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use omp_agent::ToolSet;
use omp_store::{BlobStore, EntryId, LoadedSession, OpenError};
use omp_types::{Secrets, Tally};

use agents::{AgentSections, write_agents};
use entry::EntryScribe;
use markup::Html;
use page::PageHead;
use pictures::Pictures;
use talk::write_talk;
use target::ExportFile;

pub use dump::{Dump, dump_text};
pub use target::default_path;

/// Inputs of a page other than the session file.
pub struct ExportOptions<'a> {
    /// The image store.
    pub blobs: BlobStore,
    /// Tool sets that render the cards of their calls: the first one with a view wins. A tool whose arguments depend on
    /// settings is in several sets.
    pub drawing: &'a [ToolSet],
    /// Known only for a running session.
    pub told: Option<SystemContext<'a>>,
    /// The current leaf of the session; the newest entry if `None`.
    pub leaf: Option<EntryId>,
    /// Values that are removed from the page.
    pub secrets: &'a Secrets,
}

/// The system prompt and tools of the model.
pub struct SystemContext<'a> {
    pub system_prompt: &'a str,
    pub tools: &'a ToolSet,
}

/// Why there is no page. The target file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("File not found: {}", .0.display())]
    NotFound(PathBuf),
    #[error(transparent)]
    Open(OpenError),
    #[error("{} already exists and is not an omp export\nhint: choose another file, or move this one away", .0.display())]
    Foreign(PathBuf),
    #[error("cannot write {}: {source}\nhint: check that its folder exists and is writable, and that there is free space", .path.display())]
    Unwritable { path: PathBuf, source: io::Error },
}

impl ExportError {
    fn unwritable(path: &Path, source: io::Error) -> Self {
        Self::Unwritable { path: path.to_owned(), source }
    }
}

/// Writes a session file as a page. Replaces an earlier export, but no other file.
pub fn export(session: &Path, to: &Path, options: &ExportOptions<'_>) -> Result<(), ExportError> {
    let loaded = LoadedSession::open(session, options.blobs.clone()).map_err(|error| match error {
        OpenError::NotFound(path) => ExportError::NotFound(path),
        other => ExportError::Open(other),
    })?;
    let target = ExportFile::new(to)?;
    let (mut spool, mut file) = (target.spool()?, target.file()?);
    write_page(&loaded, options, &mut spool, file.as_file_mut()).map_err(|error| ExportError::unwritable(to, error))?;
    target.finish(file)
}

fn write_page(
    session: &LoadedSession,
    options: &ExportOptions<'_>,
    spool: &mut std::fs::File,
    page: &mut std::fs::File,
) -> io::Result<()> {
    let mut scribe = EntryScribe {
        drawing: options.drawing,
        secrets: options.secrets,
        pictures: Pictures::new(options.blobs.clone()),
        tally: Tally::default(),
    };
    let mut body = BufWriter::new(&mut *spool);
    let outline = write_talk(&mut scribe, session, options.leaf.as_ref(), "", &mut body)?;
    // Totals count only the session's own file, not its sub-agents.
    let tally = std::mem::take(&mut scribe.tally);
    let mut agents = AgentSections::default();
    write_agents(&mut scribe, session.path(), 0, &mut agents, &mut body)?;
    body.flush()?;
    drop(body);
    let head = page::head(&PageHead {
        session,
        secrets: options.secrets,
        tally: &tally,
        told: options.told.as_ref(),
        outline: &outline,
        agents: &agents,
    });
    spool.rewind()?;
    let write = |page: &mut std::fs::File, html: &Html| page.write_all(html.as_str().as_bytes());
    write(page, &head)?;
    io::copy(spool, page)?;
    write(page, &page::foot())
}
