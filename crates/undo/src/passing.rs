//! A temporary store that is removed with its process, for sessions that leave nothing behind.
//!
//! It is in the agent's folder, which sandboxed commands cannot write to: in the system's temporary folder they could forge
//! the contents that an undo restores.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fs, io};

use crate::folder::Folder;
use crate::objects::private_folder;

const NAME: &str = "undo-of-";
/// Retention time for stores of processes that are not visible; these may run elsewhere, such as in a container.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

static NUMBER: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Passing(PathBuf);

impl Passing {
    /// Also removes the stores of killed processes.
    pub fn new(folder: &Path) -> io::Result<Self> {
        sweep(folder, KEPT);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let store = folder.join(format!("{NAME}{}-{number}", std::process::id()));
        // Only a process that no longer exists can have left a store of the same name.
        drop(fs::remove_dir_all(&store));
        private_folder(&store)?;
        Ok(Self(store))
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn sweep(folder: &Path, kept: Duration) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    for entry in listed.flatten() {
        let is_old = || entry.metadata().and_then(|found| found.modified()).is_ok_and(|at| is_past(at, kept));
        if is_left_over(&entry.file_name().to_string_lossy()) && is_old() {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

fn is_past(at: std::time::SystemTime, kept: Duration) -> bool {
    at.elapsed().is_ok_and(|age| age >= kept)
}

fn is_left_over(name: &str) -> bool {
    let process = name.strip_prefix(NAME).and_then(|rest| rest.split_once('-')?.0.parse::<i32>().ok());
    process.is_some_and(|process| process > 0 && !Folder::is_running(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_goes_and_so_does_what_the_killed_have_left() {
        let agent = tempfile::tempdir().unwrap();
        // No process has this ID.
        for other in ["undo-of-2147483647-0", "undo-of-2147483647", "undo"] {
            fs::create_dir_all(agent.path().join(other).join("objects")).unwrap();
        }
        let left = || {
            let listed = fs::read_dir(agent.path()).unwrap();
            let mut names: Vec<_> = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let (one, other) = (Passing::new(agent.path()).unwrap(), Passing::new(agent.path()).unwrap());
        assert_ne!(one.folder(), other.folder());
        assert_eq!(left().len(), 5, "a process elsewhere may still need what is new");
        sweep(agent.path(), Duration::ZERO);
        assert_eq!(left().len(), 4, "{:?}", left());
        assert!(one.folder().is_dir() && other.folder().is_dir());
        drop((one, other));
        assert_eq!(left(), ["undo", "undo-of-2147483647"]);
    }
}
