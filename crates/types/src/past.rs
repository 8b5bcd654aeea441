//! What git had at a path in the past. It tells whether what a command has put there was the user's before.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The commits that could be reached from any ref when it was opened, whatever was added since.
pub trait Past: Debug + Send + Sync {
    /// Whether the index had the path, or something in it, when this was opened.
    fn tracks(&self, path: &Path) -> bool;

    /// Whether some commit has this at the path, or the index had it. `false` where it was not found until then; a later
    /// call goes on from there.
    fn had(&self, path: &Path, version: PastVersion<'_>, until: Instant) -> bool;
}

/// What can be at a path. Links are never meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastVersion<'a> {
    Nothing,
    /// Whatever it is.
    Anything,
    Folder,
    File {
        bytes: &'a [u8],
        is_executable: bool,
    },
}

/// Opens the past of the repository that a folder is in, for these paths. `None` where it cannot be read.
pub type OpenPast = fn(workspace: &Path, paths: &[PathBuf]) -> Option<Arc<dyn Past>>;
