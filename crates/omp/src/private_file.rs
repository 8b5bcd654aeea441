//! Files that contain conversations: readable by the user alone.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file to append to it; a new file is readable by the user alone.
pub fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
