//! Where a tool puts output that is too long for the conversation.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

/// Makes files for full outputs. The session implements it over its store.
pub trait Artifacts: Send + Sync {
    /// A new, empty file for the output of `tool`.
    fn create(&self, tool: &str) -> io::Result<ArtifactFile>;

    /// Every artifact that can be read back: what stands behind `artifact://`, and the file.
    fn list(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        Ok(Vec::new())
    }

    /// Where the session keeps its files; it need not exist yet. `None` for a session that keeps none.
    fn folder(&self) -> Option<PathBuf> {
        None
    }
}

/// An artifact that is being written.
pub struct ArtifactFile {
    /// What stands behind `artifact://`.
    pub id: String,
    /// Takes text in whole characters, and is flushed when there is no more of it: secrets are looked for in it.
    pub file: Box<dyn Write + Send>,
}

impl fmt::Debug for ArtifactFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArtifactFile({})", self.id)
    }
}

/// For sessions that are not kept: long output is cut and the rest is gone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoArtifacts;

impl Artifacts for NoArtifacts {
    fn create(&self, _tool: &str) -> io::Result<ArtifactFile> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this session keeps no files"))
    }
}
