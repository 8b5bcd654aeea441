//! Walks the project's files in parallel, as `rg` does: ignore files apply, links are not followed, and only regular files
//! are returned, so that no pipe or device can block a search.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::glob::PathTarget;
use crate::open::FileError;
use crate::scan_cache::{Met, ScanCache, ScanEntry, ScanKey, Visit};

/// Selects the files to visit.
#[derive(Clone, Debug)]
pub struct Walk {
    pub targets: Vec<PathTarget>,
    /// Include files and folders whose name starts with a dot. `.git` is never entered.
    pub hidden: bool,
    /// Skip files that `.gitignore` and similar files exclude.
    pub gitignore: bool,
}

/// Polled during a walk; returning true stops the walk early.
pub type StopCheck<'a> = &'a (dyn Fn() -> bool + Sync);

/// Limitations and errors of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkReport {
    /// Number of folders and files that could not be read.
    pub unreadable: usize,
    /// Number of files that the access rules hide.
    pub kept: usize,
    pub stopped: bool,
    /// The walk hit its size limit and left files out.
    pub capped: bool,
    /// Age of the oldest cached scan that was used instead of a walk.
    pub cached_for: Option<Duration>,
}

impl WalkReport {
    fn add(&mut self, other: Self) {
        self.unreadable += other.unreadable;
        self.kept += other.kept;
        self.stopped |= other.stopped;
        self.capped |= other.capped;
        self.cached_for = self.cached_for.max(other.cached_for);
    }

    /// Returns whether a cached scan is old enough that an empty result should be checked again.
    pub(crate) fn worth_a_recheck(&self, scans: &ScanCache) -> bool {
        !self.stopped && self.cached_for.is_some_and(|age| age >= scans.policy().empty_recheck)
    }
}

/// The most recently changed files of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// Most recently changed first; files with the same time by path.
    pub files: Vec<PathBuf>,
    /// Total number of matching files.
    pub total: usize,
    pub report: WalkReport,
}

impl Walk {
    /// Returns the `limit` most recently changed files. `found` is called for every file that is visited.
    pub fn newest(
        &self,
        limit: usize,
        scans: &ScanCache,
        stop: StopCheck<'_>,
        found: &(dyn Fn(&Met<'_>) + Sync),
    ) -> Newest {
        let newest = self.newest_once(limit, scans, false, stop, found);
        if newest.total == 0 && newest.report.worth_a_recheck(scans) {
            return self.newest_once(limit, scans, true, stop, found);
        }
        newest
    }

    fn newest_once(
        &self,
        limit: usize,
        scans: &ScanCache,
        fresh: bool,
        stop: StopCheck<'_>,
        found: &(dyn Fn(&Met<'_>) + Sync),
    ) -> Newest {
        let all = Mutex::new((0, Vec::new()));
        let report = self.each_file(scans, How { fresh, slow: false }, stop, || {
            let mut youngest = Youngest { limit, met: 0, heap: BinaryHeap::new(), all: &all };
            move |met: &Met<'_>| {
                found(met);
                youngest.offer(met);
            }
        });
        let (total, mut kept) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        kept.sort_unstable();
        // Targets may overlap.
        let before = kept.len();
        kept.dedup();
        let total = total - (before - kept.len());
        kept.truncate(limit);
        Newest { files: kept.into_iter().map(|(_, path)| path).collect(), total, report }
    }

    /// Calls a visitor for every regular file that a target matches. `make` creates one visitor per thread.
    pub(crate) fn each_file<'a, V>(
        &'a self,
        scans: &ScanCache,
        how: How,
        stop: StopCheck<'_>,
        make: impl Fn() -> V + Sync + 'a,
    ) -> WalkReport
    where
        V: FnMut(&Met<'_>) + Send + 'a,
    {
        let mut bases: Vec<&Path> = self.targets.iter().map(|target| target.base.absolute.as_path()).collect();
        bases.sort_unstable();
        bases.dedup();
        let mut report = WalkReport::default();
        for base in &bases {
            if matches!(scans.reach().hold(base), Err(FileError::Denied(_))) {
                report.kept += 1;
                continue;
            }
            if !base.is_dir() {
                // A target that is a link to a file is followed; other kinds of files are skipped.
                if base.is_file() {
                    make()(&Met::at(base, &ScanEntry::file(Path::new(""))));
                }
                continue;
            }
            let (here, elsewhere): (Vec<_>, Vec<_>) =
                self.targets.iter().partition(|target| target.base.absolute == **base);
            // Bases may be nested; a file below several of them is visited once, from the innermost.
            let inner: Vec<&Path> = bases
                .iter()
                .filter_map(|other| other.strip_prefix(base).ok())
                .filter(|it| *it != Path::new(""))
                .collect();
            let (kept, left_out) = (scans.reach().kept_below(base), AtomicUsize::new(0));
            let is_kept = |entry: &ScanEntry| {
                let is_kept = kept.iter().any(|kept| entry.relative.starts_with(kept));
                left_out.fetch_add(usize::from(is_kept), Ordering::Relaxed);
                is_kept
            };
            let wants = |entry: &ScanEntry| {
                !entry.is_folder
                    && !is_kept(entry)
                    && !inner.iter().any(|inner| entry.relative.starts_with(inner))
                    && (here.iter().any(|target| matches_below(target, &entry.relative))
                        || !elsewhere.is_empty() && matches_any(&elsewhere, &base.join(&entry.relative)))
            };
            let visit = Visit { slow: how.slow, wants: &wants, make: &|| Box::new(make()) };
            let key = ScanKey::new(base, self.hidden, self.gitignore);
            report.add(scans.each(base, &key, how.fresh, stop, &visit));
            report.kept += left_out.into_inner();
        }
        report
    }
}

/// Options for visiting files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// Do not use cached scans.
    pub fresh: bool,
    /// See [`Visit::slow`].
    pub slow: bool,
}

fn matches_below(target: &PathTarget, relative: &Path) -> bool {
    target.glob.as_ref().is_none_or(|glob| glob.is_match(relative))
}

fn matches_any(targets: &[&PathTarget], path: &Path) -> bool {
    targets
        .iter()
        .any(|target| path.strip_prefix(&target.base.absolute).is_ok_and(|below| matches_below(target, below)))
}

/// Thread limit, the same as in `rg`.
const MAX_THREADS: usize = 12;

pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// Modification time and path of a file.
type Aged = (Reverse<i64>, PathBuf);

/// The most recently changed files that one thread has visited, merged into the result when the thread ends.
struct Youngest<'a> {
    limit: usize,
    met: usize,
    /// The oldest kept file is on top and is evicted first.
    heap: BinaryHeap<Aged>,
    all: &'a Mutex<(usize, Vec<Aged>)>,
}

impl Youngest<'_> {
    fn offer(&mut self, met: &Met<'_>) {
        self.met += 1;
        let age = Reverse(met.modified());
        if self.heap.len() < self.limit {
            self.heap.push((age, met.path().into_owned()));
        } else if let Some(mut oldest) = self.heap.peek_mut()
            && (age < oldest.0 || age == oldest.0 && *met.path() < *oldest.1)
        {
            *oldest = (age, met.path().into_owned());
        }
    }
}

impl Drop for Youngest<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.0 += self.met;
        all.1.extend(self.heap.drain());
    }
}
