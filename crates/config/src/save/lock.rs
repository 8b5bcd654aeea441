//! One writer at a time: what omp processes agree on while they change a file of settings.
//!
//! The folder is locked, so that no file is left lying around. Where that cannot be done the comparison before the write
//! still catches most of what another process does.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// Nobody holds it for longer than a write takes.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// Held until it is dropped.
pub fn take(file: &Path) -> Option<File> {
    let folder = File::open(file.parent()?).ok()?;
    let begun = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(std::fs::TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(_) => return None,
        }
    }
}
