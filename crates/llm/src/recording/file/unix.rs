//! Linux and macOS.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

/// Options that create files only their owner may read.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}
