//! Linux and macOS.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

/// Open options that create files readable only by their owner.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}
