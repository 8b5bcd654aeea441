//! One walk shared by `find`, `search` and the file picker: the entries of a folder are kept for a moment, so that
//! the next question about the same folder costs no walk.
//!
//! A kept scan holds names only, never results. It is left after its time, after a write below its root, and when a
//! question that it answers with nothing might have an answer by now.

mod aside;
mod parallel;
mod progress;
mod scan;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::path::real_location;
use crate::reach::FileReach;
use crate::walk::{StopCheck, WalkReport};
use progress::ScanLimits;
use scan::FolderScan;
pub use scan::Met;
pub(crate) use scan::{ScanEntry, Visit};

/// How long scans are kept, and how large they may grow. The same for everybody who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanPolicy {
    /// Zero keeps nothing.
    pub ttl: Duration,
    /// When a kept scan of this age answers with nothing, it is made anew once.
    pub empty_recheck: Duration,
    /// Scans kept at a time.
    pub max_scans: usize,
    /// Entries that a walk looks at before it stops and says so.
    pub max_entries: usize,
}

impl Default for ScanPolicy {
    fn default() -> Self {
        Self {
            ttl: Duration::from_millis(1000),
            empty_recheck: Duration::from_millis(200),
            max_scans: 16,
            max_entries: 2_000_000,
        }
    }
}

/// Entries of all kept scans together, of 32 bytes and a path each. A scan larger than this is not kept.
const MAX_KEPT_ENTRIES: usize = 400_000;

/// What is walked. Scans are shared by those who ask for the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScanKey {
    /// With its links followed.
    root: PathBuf,
    hidden: bool,
    gitignore: bool,
}

impl ScanKey {
    pub(crate) fn new(root: &Path, hidden: bool, gitignore: bool) -> Self {
        Self { root: real_location(root), hidden, gitignore }
    }
}

/// Scans by what was walked. Clones share them: who may read what is asked when they are walked through.
#[derive(Clone, Debug, Default)]
pub struct ScanCache {
    policy: ScanPolicy,
    reach: FileReach,
    kept: Arc<Mutex<CachedScans>>,
}

#[derive(Debug, Default)]
struct CachedScans {
    /// Oldest first.
    scans: Vec<KeptScan>,
    /// Counts invalidations: a walk that was under way during one is not kept.
    generation: u64,
}

#[derive(Debug)]
struct KeptScan {
    key: ScanKey,
    scan: Arc<FolderScan>,
    created: Instant,
}

impl ScanCache {
    pub fn new(policy: ScanPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Meets only what may be read.
    #[must_use]
    pub fn within(self, reach: FileReach) -> Self {
        Self { reach, ..self }
    }

    pub(crate) fn reach(&self) -> &FileReach {
        &self.reach
    }

    pub fn policy(&self) -> &ScanPolicy {
        &self.policy
    }

    /// Forgets every scan that a change of `path` could have made untrue. The path may be gone already.
    pub fn invalidate(&self, path: &Path) {
        let path = real_location(path);
        // What an ignore file says holds for every folder below it.
        let is_ignore_file = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("ignore"));
        let above = if is_ignore_file { path.parent().unwrap_or(&path) } else { &path };
        let mut kept = self.lock();
        kept.generation += 1;
        kept.scans.retain(|kept| !path.starts_with(&kept.key.root) && !kept.key.root.starts_with(above));
    }

    /// Forgets everything: a command may have changed anything.
    pub fn clear(&self) {
        let mut kept = self.lock();
        kept.generation += 1;
        kept.scans.clear();
    }

    /// Meets the wanted entries of a folder, of a kept scan if there is one and `fresh` does not forbid it. Otherwise
    /// the work is done while walking, and the walk is kept.
    pub(crate) fn each(
        &self,
        root: &Path,
        key: &ScanKey,
        fresh: bool,
        stop: StopCheck<'_>,
        visit: &Visit<'_>,
    ) -> WalkReport {
        let (found, generation) = self.look_up(key, fresh);
        if let Some((scan, age)) = found {
            return WalkReport { cached_for: Some(age), ..scan.replay(root, stop, visit) };
        }
        let room = if self.policy.ttl.is_zero() { 0 } else { MAX_KEPT_ENTRIES };
        let limits = ScanLimits { max_entries: self.policy.max_entries, room, enormous: aside::ENORMOUS };
        let (scan, report) = FolderScan::walk(root, key, limits, stop, visit);
        if let Some(scan) = scan.filter(|_| room > 0) {
            self.keep(key, scan, generation);
        }
        report
    }

    fn look_up(&self, key: &ScanKey, fresh: bool) -> (Option<(Arc<FolderScan>, Duration)>, u64) {
        let mut kept = self.lock();
        kept.scans.retain(|kept| kept.created.elapsed() < self.policy.ttl && !(fresh && kept.key == *key));
        let found = kept.scans.iter().find(|kept| kept.key == *key);
        (found.map(|kept| (kept.scan.clone(), kept.created.elapsed())), kept.generation)
    }

    fn keep(&self, key: &ScanKey, scan: FolderScan, generation: u64) {
        let mut kept = self.lock();
        if kept.generation != generation {
            return;
        }
        kept.scans.retain(|kept| kept.key != *key);
        kept.scans.push(KeptScan { key: key.clone(), scan: Arc::new(scan), created: Instant::now() });
        let entries = |kept: &CachedScans| kept.scans.iter().map(|kept| kept.scan.len()).sum::<usize>();
        while kept.scans.len() > self.policy.max_scans || entries(&kept) > MAX_KEPT_ENTRIES {
            kept.scans.remove(0);
        }
    }

    fn lock(&self) -> MutexGuard<'_, CachedScans> {
        // The list is whole after every step, so a panic elsewhere does not spoil it.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
