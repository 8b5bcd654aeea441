//! The entries of one folder and everything below it: made by a parallel walk, met again without one.
//!
//! A walk is made in one of two ways. Work that takes long on each file is done while walking, on all threads. Work
//! that takes no time is done afterwards: then the files need not go through the walker's queue, which costs more
//! than to list them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::{DirEntry, WalkBuilder, WalkParallel, WalkState};

use super::ScanKey;
use crate::walk::{Stop, WalkReport, threads};

/// A file or a folder below the root of a scan.
#[derive(Debug)]
pub(crate) struct ScanEntry {
    pub relative: Box<Path>,
    pub is_folder: bool,
    /// Nanoseconds since 1970; asked for when somebody wants it, as that is half the cost of a walk.
    modified: AtomicI64,
}

const NOT_ASKED: i64 = i64::MIN;

impl ScanEntry {
    pub(crate) fn file(relative: &Path) -> Self {
        Self { relative: relative.into(), is_folder: false, modified: AtomicI64::new(NOT_ASKED) }
    }
}

/// An entry as a visitor meets it.
pub(crate) struct Met<'a> {
    pub path: &'a Path,
    pub entry: &'a ScanEntry,
}

impl Met<'_> {
    pub(crate) fn modified(&self) -> SystemTime {
        let mut nanos = self.entry.modified.load(Ordering::Relaxed);
        if nanos == NOT_ASKED {
            let asked = self.path.symlink_metadata().and_then(|data| data.modified());
            let since = asked.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            nanos = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
            self.entry.modified.store(nanos, Ordering::Relaxed);
        }
        UNIX_EPOCH + Duration::from_nanos(nanos.unsigned_abs())
    }
}

/// What is done with the entries of a scan.
pub(crate) struct Visit<'a> {
    /// Whether meeting an entry takes about as long as opening a file, or much less.
    pub slow: bool,
    /// Which entries are met.
    pub wants: &'a (dyn Fn(&ScanEntry) -> bool + Sync),
    /// Makes one visitor a thread.
    pub make: &'a (dyn Fn() -> Box<dyn FnMut(&Met<'_>) + Send + 'a> + Sync),
}

/// Everything below a folder, in no particular order.
#[derive(Debug, Default)]
pub(super) struct Scan {
    entries: Vec<ScanEntry>,
    unreadable: usize,
}

/// Entries that a thread takes at a time.
const CHUNK: usize = 128;

impl Scan {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Walks and visits. There is no scan if the walk was cut short or has more than `room` entries.
    pub(super) fn walk(
        root: &Path,
        key: &ScanKey,
        limits: Limits,
        stop: Stop<'_>,
        visit: &Visit<'_>,
    ) -> (Option<Self>, WalkReport) {
        let all = Arc::new(Progress::new(root, limits, !visit.slow));
        build(root, key, &all).run(|| {
            let mut visitor = (visit.make)();
            let all = &*all;
            Box::new(move |entry| {
                if stop() {
                    all.stopped.store(true, Ordering::Relaxed);
                }
                if all.is_over() {
                    return WalkState::Quit;
                }
                match entry {
                    Ok(entry) => {
                        // Folders were listed already; a file that was listed does not come here.
                        if let Some(scanned) = scanned(&entry, root).filter(|scanned| !(all.lists && scanned.is_folder))
                        {
                            if (visit.wants)(&scanned) {
                                visitor(&Met { path: entry.path(), entry: &scanned });
                            }
                            all.keep(scanned);
                        }
                    }
                    Err(_) => {
                        all.unreadable.fetch_add(1, Ordering::Relaxed);
                    }
                }
                WalkState::Continue
            })
        });
        let (scan, report, whole) = all.finish();
        let visited = if visit.slow { WalkReport::default() } else { scan.replay(root, stop, visit) };
        let report = WalkReport { stopped: report.stopped || visited.stopped, ..report };
        ((whole && !report.stopped).then_some(scan), report)
    }

    /// Visits the entries again, on several threads when there are many.
    pub(super) fn replay(&self, root: &Path, stop: Stop<'_>, visit: &Visit<'_>) -> WalkReport {
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            let mut visitor = (visit.make)();
            let mut path = PathBuf::new();
            while let Some(chunk) = self.entries.chunks(CHUNK).nth(next.fetch_add(1, Ordering::Relaxed)) {
                for entry in chunk.iter().filter(|entry| (visit.wants)(entry)) {
                    if stop() {
                        stopped.store(true, Ordering::Relaxed);
                        return;
                    }
                    path.as_mut_os_string().clear();
                    path.push(root);
                    path.push(&entry.relative);
                    visitor(&Met { path: &path, entry });
                }
            }
        };
        let workers = threads().min(self.entries.len().div_ceil(CHUNK)).max(1);
        std::thread::scope(|scope| {
            (1..workers).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        WalkReport { unreadable: self.unreadable, stopped: stopped.into_inner(), ..WalkReport::default() }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Entries looked at.
    pub max_entries: usize,
    /// Entries kept.
    pub room: usize,
}

/// More threads than walk at a time.
const SHELVES: usize = 16;

/// What the threads of a walk share.
struct Progress {
    root: PathBuf,
    limits: Limits,
    /// Whether entries are kept when their folder is read, to be met later.
    lists: bool,
    seen: AtomicUsize,
    kept: AtomicUsize,
    unreadable: AtomicUsize,
    stopped: AtomicBool,
    /// A thread has a shelf nearly to itself, so nobody waits.
    shelves: [Mutex<Vec<ScanEntry>>; SHELVES],
}

impl Progress {
    fn new(root: &Path, limits: Limits, lists: bool) -> Self {
        Self {
            root: root.to_owned(),
            limits,
            lists,
            seen: AtomicUsize::new(0),
            kept: AtomicUsize::new(0),
            unreadable: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            shelves: Default::default(),
        }
    }

    fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.seen.load(Ordering::Relaxed) > self.limits.max_entries
    }

    /// Asked for each entry while its folder is read: whether the walker goes on with it.
    fn admits(&self, entry: &DirEntry) -> bool {
        if entry.file_name() == ".git" {
            return false;
        }
        let seen = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_over() || seen > self.limits.max_entries {
            return false;
        }
        if !self.lists {
            return true;
        }
        let Some(scanned) = scanned(entry, &self.root) else { return entry.depth() == 0 };
        let is_folder = scanned.is_folder;
        // What there is no room for is met at once.
        let listed = self.keep(scanned);
        is_folder || !listed
    }

    fn keep(&self, entry: ScanEntry) -> bool {
        let fits = self.kept.fetch_add(1, Ordering::Relaxed) < self.limits.room;
        if fits {
            self.shelf().lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        }
        fits
    }

    fn shelf(&self) -> &Mutex<Vec<ScanEntry>> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHELVES);
        &self.shelves[MINE.with(|mine| *mine)]
    }

    /// What was kept, what happened, and whether that is all there is.
    fn finish(&self) -> (Scan, WalkReport, bool) {
        let report = WalkReport {
            unreadable: self.unreadable.load(Ordering::Relaxed),
            stopped: self.stopped.load(Ordering::Relaxed),
            capped: self.seen.load(Ordering::Relaxed) > self.limits.max_entries,
            cached_for: None,
        };
        let take = |shelf: &Mutex<_>| std::mem::take(&mut *shelf.lock().unwrap_or_else(PoisonError::into_inner));
        let mut shelves: Vec<Vec<ScanEntry>> = self.shelves.iter().map(take).collect();
        // The longest stays where it is.
        shelves.sort_unstable_by_key(Vec::len);
        let mut entries = shelves.pop().unwrap_or_default();
        shelves.iter_mut().for_each(|shelf| entries.append(shelf));
        // An entry without room was counted all the same.
        let whole = !report.stopped && !report.capped && self.kept.load(Ordering::Relaxed) == entries.len();
        (Scan { entries, unreadable: report.unreadable }, report, whole)
    }
}

/// Links, pipes and devices are no entries: nothing can be read from them that is not reached otherwise.
fn scanned(entry: &DirEntry, root: &Path) -> Option<ScanEntry> {
    let kind = entry.file_type().filter(|kind| entry.depth() > 0 && (kind.is_file() || kind.is_dir()))?;
    let relative = below(entry.path(), root)?;
    Some(ScanEntry { is_folder: kind.is_dir(), ..ScanEntry::file(relative) })
}

/// The walker puts paths together from the root as it was given, so bytes can be compared.
fn below<'a>(path: &'a Path, root: &Path) -> Option<&'a Path> {
    let strip = || path.strip_prefix(root).ok();
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let rest = path.as_os_str().as_bytes().strip_prefix(root.as_os_str().as_bytes())?;
        if let Some(rest) = rest.strip_prefix(b"/") {
            return Some(Path::new(std::ffi::OsStr::from_bytes(rest)));
        }
    }
    strip()
}

fn build(root: &Path, key: &ScanKey, all: &Arc<Progress>) -> WalkParallel {
    let all = all.clone();
    // Outside a repository a `.gitignore` still says what matters, but those above the root belong to something
    // else: a home folder kept in git often ignores everything.
    let in_repository = root.ancestors().any(|folder| folder.join(".git").exists());
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(key.gitignore)
        .hidden(!key.hidden)
        .require_git(in_repository)
        .parents(key.gitignore && in_repository)
        .threads(threads())
        .filter_entry(move |entry| all.admits(entry));
    builder.build_parallel()
}
