//! Shares one walk between `find`, `search` and the file picker: the entries of a folder are cached for a short time, so
//! that the next query for the same folder needs no walk.
//!
//! A cached scan holds only names, never results. It is discarded after its time to live, after a write below its root, and
//! when a query has no match in it but might have one by now.

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

/// Lifetime and size limits of cached scans, the same for all users of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanPolicy {
    /// Zero disables caching.
    pub ttl: Duration,
    /// If a cached scan of at least this age gives no match, it is renewed once.
    pub empty_recheck: Duration,
    /// Maximum number of cached scans.
    pub max_scans: usize,
    /// Maximum number of entries that a walk visits before it stops and reports that.
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

/// Limit on the entries of all cached scans together, each 32 bytes plus a path. A larger scan is not cached.
const MAX_KEPT_ENTRIES: usize = 400_000;

/// Parameters of a walk. Scans are shared between queries with equal parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScanKey {
    /// The root with links resolved.
    root: PathBuf,
    hidden: bool,
    gitignore: bool,
}

impl ScanKey {
    pub(crate) fn new(root: &Path, hidden: bool, gitignore: bool) -> Self {
        Self { root: real_location(root), hidden, gitignore }
    }
}

/// Scans by their parameters. Clones share the scans; read permissions are checked when entries are visited.
#[derive(Clone, Debug, Default)]
pub struct ScanCache {
    policy: ScanPolicy,
    reach: FileReach,
    kept: Arc<Mutex<CachedScans>>,
}

#[derive(Debug, Default)]
struct CachedScans {
    /// Ordered by age, the oldest first.
    scans: Vec<KeptScan>,
    /// Number of invalidations: a walk that was running during one is not cached.
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

    /// Restricts visits to files that may be read.
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

    /// Discards every scan that a change of `path` could have made stale. The path may no longer exist.
    pub fn invalidate(&self, path: &Path) {
        let path = real_location(path);
        // An ignore file affects every folder below it.
        let is_ignore_file = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("ignore"));
        let above = if is_ignore_file { path.parent().unwrap_or(&path) } else { &path };
        let mut kept = self.lock();
        kept.generation += 1;
        kept.scans.retain(|kept| !path.starts_with(&kept.key.root) && !kept.key.root.starts_with(above));
    }

    /// Discards all scans, because a command may have changed anything.
    pub fn clear(&self) {
        let mut kept = self.lock();
        kept.generation += 1;
        kept.scans.clear();
    }

    /// Visits the wanted entries of a folder, from a cached scan unless `fresh` is set. Otherwise the entries are visited
    /// during a walk, and the walk is cached.
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
        // The list is consistent after every step, so a panic of another thread does not invalidate it.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
