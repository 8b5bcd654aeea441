//! Systems where a new file takes its rights from its folder.

use std::fs::OpenOptions;

pub(super) fn private_file() -> OpenOptions {
    OpenOptions::new()
}
