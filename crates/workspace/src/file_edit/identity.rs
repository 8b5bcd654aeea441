//! Identity of a file, independent of its name: two names can refer to the same file.

use std::path::{Path, PathBuf};

use crate::path::real_location;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileIdentity {
    /// Device and inode: equal for all hard links, and for names that differ only in ways the file system ignores.
    #[cfg(unix)]
    Number(u64, u64),
    /// The resolved path, for a file that does not exist yet, or on systems without inode numbers.
    Place(PathBuf),
}

impl FileIdentity {
    /// Returns the identity of the file that is written to: links are followed.
    pub fn of(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(metadata) = std::fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            return FileIdentity::Number(metadata.dev(), metadata.ino());
        }
        FileIdentity::Place(real_location(path))
    }
}
