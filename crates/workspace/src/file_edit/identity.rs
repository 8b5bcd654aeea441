//! What a file is, whatever it is called: two names can lead to the same one.

use std::path::{Path, PathBuf};

use crate::path::real_location;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileIdentity {
    /// Device and number: the same for all hard links, and for names that differ only in what the file system ignores.
    #[cfg(unix)]
    Number(u64, u64),
    /// A file that does not exist yet, or a system on which only links can be told.
    Place(PathBuf),
}

impl FileIdentity {
    /// Of the file that is written to: links are followed.
    pub fn of(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(metadata) = std::fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            return FileIdentity::Number(metadata.dev(), metadata.ino());
        }
        FileIdentity::Place(real_location(path))
    }
}
