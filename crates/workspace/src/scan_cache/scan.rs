//! The entries of a folder and everything below it: collected by a parallel walk and replayed without one.
//!
//! There are two kinds of walk. Files that are slow to visit go through the walker's queue, so that all threads share them.
//! Others are only listed, and each thread visits its listed entries when it reaches the next folder.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use super::ScanKey;
use super::progress::{FinishedScan, ScanLimits, ScanProgress};
use super::{aside, parallel};
use crate::walk::{StopCheck, WalkReport, threads};

/// A file or a folder below the root of a scan.
#[derive(Debug)]
pub(crate) struct ScanEntry {
    pub relative: Box<Path>,
    pub is_folder: bool,
    /// Nanoseconds since 1970; read on demand, because a first scan takes twice as long with it.
    modified: AtomicI64,
}

const NOT_ASKED: i64 = i64::MIN;

impl ScanEntry {
    pub(super) fn new(relative: &Path, is_folder: bool) -> Self {
        Self { relative: relative.into(), is_folder, modified: AtomicI64::new(NOT_ASKED) }
    }

    pub(crate) fn file(relative: &Path) -> Self {
        Self::new(relative, false)
    }
}

/// An entry as it is passed to a visitor.
pub struct Met<'a> {
    place: MetPath<'a>,
    pub(crate) entry: &'a ScanEntry,
}

enum MetPath<'a> {
    Known(&'a Path),
    /// The path is built on demand; most entries of a cached scan are only filtered.
    Below(&'a Path),
}

impl<'a> Met<'a> {
    pub(crate) fn at(path: &'a Path, entry: &'a ScanEntry) -> Self {
        Self { place: MetPath::Known(path), entry }
    }

    pub fn path(&self) -> Cow<'a, Path> {
        match self.place {
            MetPath::Known(path) => Cow::Borrowed(path),
            MetPath::Below(root) => Cow::Owned(root.join(&self.entry.relative)),
        }
    }

    /// Nanoseconds since 1970.
    pub(crate) fn modified(&self) -> i64 {
        let mut nanos = self.entry.modified.load(Ordering::Relaxed);
        if nanos == NOT_ASKED {
            let asked = self.path().symlink_metadata().and_then(|data| data.modified());
            let since = asked.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            nanos = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
            self.entry.modified.store(nanos, Ordering::Relaxed);
        }
        nanos
    }
}

/// How the entries of a scan are visited.
pub(crate) struct Visit<'a> {
    /// Whether visiting an entry takes about as long as opening a file, rather than much less.
    pub slow: bool,
    /// Filters the entries to visit.
    pub wants: &'a (dyn Fn(&ScanEntry) -> bool + Sync),
    /// Creates one visitor per thread.
    pub make: &'a (dyn Fn() -> Box<dyn FnMut(&Met<'_>) + Send + 'a> + Sync),
}

/// Everything below a folder, in no particular order.
#[derive(Debug, Default)]
pub(super) struct FolderScan {
    entries: Vec<ScanEntry>,
    unreadable: usize,
}

/// Number of entries that a thread takes at a time.
const CHUNK: usize = 128;
/// Number of entries between two stop checks.
const QUICK_STEP: usize = 16;

impl FolderScan {
    pub(super) fn new(entries: Vec<ScanEntry>, unreadable: usize) -> Self {
        Self { entries, unreadable }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Walks and visits. Returns no scan if the walk was cut short or has more than `room` entries.
    pub(super) fn walk(
        root: &Path,
        key: &ScanKey,
        limits: ScanLimits,
        stop: StopCheck<'_>,
        visit: &Visit<'_>,
    ) -> (Option<Self>, WalkReport) {
        let all = Arc::new(ScanProgress::new(root, limits, !visit.slow));
        if !all.sets_aside(root, root.metadata().ok()) {
            parallel::walk(root, key, &all, stop, visit);
        }
        aside::walk(root, key, &all, stop, visit);
        let FinishedScan { scan, met, report, whole } = all.finish();
        let rest = scan.replay_from(met, root, stop, visit);
        let report = WalkReport { stopped: report.stopped || rest.stopped, ..report };
        ((whole && !report.stopped).then_some(scan), report)
    }

    /// Visits the entries again, on several threads if there are many.
    pub(super) fn replay(&self, root: &Path, stop: StopCheck<'_>, visit: &Visit<'_>) -> WalkReport {
        self.replay_from(0, root, stop, visit)
    }

    /// Visits the entries that have not been visited yet.
    fn replay_from(&self, first: usize, root: &Path, stop: StopCheck<'_>, visit: &Visit<'_>) -> WalkReport {
        let entries = &self.entries[first..];
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            let mut visitor = (visit.make)();
            while let Some(chunk) = entries.chunks(CHUNK).nth(next.fetch_add(1, Ordering::Relaxed)) {
                if !meet_all(chunk, root, stop, visit, &mut *visitor) {
                    return stopped.store(true, Ordering::Relaxed);
                }
            }
        };
        let workers = threads().min(entries.len().div_ceil(CHUNK)).max(1);
        std::thread::scope(|scope| {
            (1..workers).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        WalkReport { unreadable: self.unreadable, stopped: stopped.into_inner(), ..WalkReport::default() }
    }
}

/// Visits the wanted entries; returns `false` if it was stopped.
pub(super) fn meet_all(
    entries: &[ScanEntry],
    root: &Path,
    stop: StopCheck<'_>,
    visit: &Visit<'_>,
    visitor: &mut dyn FnMut(&Met<'_>),
) -> bool {
    // Slow visits check before each entry. Fast ones check only once per chunk, because the check itself takes time.
    for few in entries.chunks(if visit.slow { 1 } else { QUICK_STEP }) {
        if stop() {
            return false;
        }
        for entry in few.iter().filter(|entry| (visit.wants)(entry)) {
            visitor(&Met { place: MetPath::Below(root), entry });
        }
    }
    true
}
