//! Systems where a new file inherits its permissions from its folder.

use std::fs::OpenOptions;

pub(super) fn private_file() -> OpenOptions {
    OpenOptions::new()
}
