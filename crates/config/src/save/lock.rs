//! A lock between omp processes that change a settings file.
//!
//! The folder is locked, so that no lock file is left behind. If locking fails, the comparison before the write still
//! detects most concurrent changes.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than any process holds the lock, which is the time of a write.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// The lock is held until the file is dropped.
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
