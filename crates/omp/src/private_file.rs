//! Files that hold what was said: for the user alone.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens it to add to it; a new one is readable for nobody else.
pub fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
