//! Extends the access map with information from the system: other names of the hidden files, through mounts and hard links.

use std::collections::HashSet;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use omp_types::{AccessMap, ContainMode, Denied, Touch};

use super::mounts;
use crate::open::FileError;

#[derive(Debug)]
pub struct Judge {
    /// The original map; a changed map needs a new judge.
    of: Arc<AccessMap>,
    /// The map extended by all other names.
    map: AccessMap,
    /// Paths where processes expose their memory, environment and open files.
    processes: Vec<PathBuf>,
    /// Hidden files with more than one name. `None` if there are too many hidden files to check.
    linked: OnceLock<Option<HashSet<FileNumber>>>,
    made: Instant,
}

type FileNumber = (u64, u64);

/// Validity of a judge: newer mounts and links are noticed after this time at the latest.
const HOLDS_FOR: Duration = Duration::from_secs(5);
/// Maximum number of files in hidden folders that are checked for hard links.
const MAX_HIDDEN_FILES: usize = 200_000;

impl Judge {
    pub fn new(of: Arc<AccessMap>) -> Self {
        let mounts = mounts::here();
        let mut map = (*of).clone();
        for kept in [&mut map.hidden, &mut map.guarded] {
            let others: Vec<PathBuf> = kept.iter().flat_map(|path| mounts::aliases(&mounts, path)).collect();
            kept.extend(others);
        }
        let mut processes: Vec<PathBuf> =
            mounts.into_iter().filter(|it| it.kind == "proc").map(|it| it.point).collect();
        processes.push("/proc".into());
        Self { of, map, processes, linked: OnceLock::new(), made: Instant::now() }
    }

    pub fn is_of(&self, map: &Arc<AccessMap>) -> bool {
        Arc::ptr_eq(&self.of, map) && self.made.elapsed() < HOLDS_FOR
    }

    pub fn hidden(&self) -> impl Iterator<Item = &Path> {
        self.map.hidden.iter().map(PathBuf::as_path)
    }

    pub fn allows(&self, touch: Touch, real: &Path) -> Result<(), Denied> {
        if self.is_of_a_process(real) {
            return Err(Denied::Hidden(real.to_owned()));
        }
        self.map.allows(touch, real)?;
        // A file named `.git` points to a repository; it is created by git, never by an editor.
        let leads_git = real.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        if touch == Touch::Write && leads_git && self.map.mode != ContainMode::Off {
            return Err(Denied::Guarded(real.to_owned()));
        }
        Ok(())
    }

    pub fn read(&self, real: &Path, metadata: Option<&Metadata>) -> Result<(), Denied> {
        self.allows(Touch::Read, real)?;
        // A shown path is allowed by its own name, regardless of other names.
        if self.map.shown.iter().any(|shown| real.starts_with(shown)) {
            return Ok(());
        }
        let other_names = metadata.filter(|metadata| metadata.is_file()).and_then(identity_of_linked);
        match other_names {
            Some(identity) if !self.is_free(identity) => Err(Denied::Hidden(real.to_owned())),
            _ => Ok(()),
        }
    }

    fn is_free(&self, identity: FileNumber) -> bool {
        let linked = self.linked.get_or_init(|| linked_below(&self.map.hidden));
        linked.as_ref().is_some_and(|linked| !linked.contains(&identity))
    }

    /// Detects `/proc/<number>/…` under every path that leads there.
    fn is_of_a_process(&self, real: &Path) -> bool {
        let below = self.processes.iter().find_map(|point| real.strip_prefix(point).ok());
        let first = below.and_then(|below| below.components().next());
        first.is_some_and(|first| first.as_os_str().as_encoded_bytes().iter().all(u8::is_ascii_digit))
    }
}

/// Refuses hard-linked files for in-place writes, because it is not known where their other names are.
pub fn refuse_other_names(real: &Path, metadata: &Metadata) -> Result<(), FileError> {
    if identity_of_linked(metadata).is_none() {
        return Ok(());
    }
    let reason =
        "it has other names (hard links), which may be where writing is not allowed\nhint: work on a copy of it";
    Err(FileError::Io { path: real.into(), error: io::Error::other(reason) })
}

fn linked_below(hidden: &[PathBuf]) -> Option<HashSet<FileNumber>> {
    let mut linked = HashSet::new();
    let mut folders = hidden.to_vec();
    let mut seen = 0;
    while let Some(path) = folders.pop() {
        seen += 1;
        if seen > MAX_HIDDEN_FILES {
            return None;
        }
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            folders.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else {
            linked.extend(identity_of_linked(&metadata));
        }
    }
    Some(linked)
}

/// Returns the identity of a file that has more than one name.
#[cfg(unix)]
fn identity_of_linked(metadata: &Metadata) -> Option<FileNumber> {
    use std::os::unix::fs::MetadataExt;
    (metadata.nlink() > 1).then(|| (metadata.dev(), metadata.ino()))
}

/// The standard library does not report hard links on this system.
#[cfg(not(unix))]
fn identity_of_linked(_metadata: &Metadata) -> Option<FileNumber> {
    None
}
