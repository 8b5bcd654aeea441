//! Past content of a path in git, which shows whether content written by a command belonged to the user before.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The commits reachable from any ref when it was opened, regardless of later changes.
pub trait Past: Debug + Send + Sync {
    /// Whether the index contained the path, or something below it, when this was opened.
    fn tracks(&self, path: &Path) -> bool;

    /// Whether a commit or the index contained this version at the path. Returns `false` if it was not found by `until`; a
    /// later call continues from there.
    fn had(&self, path: &Path, version: PastVersion<'_>, until: Instant) -> bool;
}

/// A version of a path. Links are never included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastVersion<'a> {
    Nothing,
    /// Any content.
    Anything,
    Folder,
    File {
        bytes: &'a [u8],
        is_executable: bool,
    },
}

/// Opens the past of the repository around a folder, for these paths. Returns `None` if it cannot be read.
pub type OpenPast = fn(workspace: &Path, paths: &[PathBuf]) -> Option<Arc<dyn Past>>;
