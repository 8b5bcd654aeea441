//! Storage for tool output that is too long for the conversation.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

/// Makes files for full outputs. The session implements it over its store.
pub trait Artifacts: Send + Sync {
    /// A new, empty file for the output of `tool`.
    fn create(&self, tool: &str) -> io::Result<ArtifactFile>;

    /// Lists every readable artifact: its `artifact://` id and its file.
    fn list(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        Ok(Vec::new())
    }

    /// Returns the session's folder, which may not exist yet, or `None` if the session is not stored.
    fn folder(&self) -> Option<PathBuf> {
        None
    }
}

/// An artifact that is being written.
pub struct ArtifactFile {
    /// The id used in `artifact://` URLs.
    pub id: String,
    /// Must receive whole characters and be flushed at the end, because the writer scans the text for secrets.
    pub file: Box<dyn Write + Send>,
}

impl fmt::Debug for ArtifactFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArtifactFile({})", self.id)
    }
}

/// For sessions that are not stored: long output is truncated and the rest is lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoArtifacts;

impl Artifacts for NoArtifacts {
    fn create(&self, _tool: &str) -> io::Result<ArtifactFile> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this session stores no files"))
    }
}
