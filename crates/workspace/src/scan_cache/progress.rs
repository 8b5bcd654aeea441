//! Shared state of the threads of one walk: progress, kept entries, and folders that were set aside.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ignore::DirEntry;

use super::scan::{FolderScan, Met, ScanEntry, Visit, meet_all};
use crate::walk::{StopCheck, WalkReport};

#[derive(Clone, Copy, Debug)]
pub(super) struct ScanLimits {
    /// Maximum number of entries visited.
    pub max_entries: usize,
    /// Maximum number of entries kept.
    pub room: usize,
    /// Folders whose directory file is larger than this are set aside, see [`super::aside`].
    pub enormous: u64,
}

/// Larger than the number of walking threads, so that there is little contention for a shelf.
const SHELVES: usize = 16;

pub(super) struct ScanProgress {
    root: PathBuf,
    limits: ScanLimits,
    /// Whether entries are only listed while their folder is read, and visited later.
    pub(super) lists: bool,
    seen: AtomicUsize,
    kept: AtomicUsize,
    unreadable: AtomicUsize,
    stopped: AtomicBool,
    shelves: [Mutex<EntryShelf>; SHELVES],
    aside: Mutex<Vec<PathBuf>>,
}

/// Entries in the order in which they were kept.
#[derive(Default)]
struct EntryShelf {
    entries: Vec<ScanEntry>,
    /// Number of entries, from the first, that have been visited.
    met: usize,
}

/// The result of a walk.
pub(super) struct FinishedScan {
    pub scan: FolderScan,
    /// Number of its entries, from the first, that have been visited.
    pub met: usize,
    pub report: WalkReport,
    /// Whether the scan is complete.
    pub whole: bool,
}

impl ScanProgress {
    pub(super) fn new(root: &Path, limits: ScanLimits, lists: bool) -> Self {
        Self {
            root: root.to_owned(),
            limits,
            lists,
            seen: AtomicUsize::new(0),
            kept: AtomicUsize::new(0),
            unreadable: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            shelves: Default::default(),
            aside: Mutex::default(),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.seen.load(Ordering::Relaxed) > self.limits.max_entries
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn could_not_read(&self) {
        self.unreadable.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an entry and returns whether it is still within the limit.
    pub(super) fn sees_one_more(&self) -> bool {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        !self.is_over() && seen <= self.limits.max_entries
    }

    /// Called for each entry while its folder is read; returns whether the parallel walk continues with it.
    pub(super) fn admits(&self, entry: &DirEntry) -> bool {
        if entry.file_name() == ".git" || !self.sees_one_more() {
            return false;
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if is_folder && self.sets_aside(entry.path(), entry.metadata().ok()) {
            return false;
        }
        if !self.lists {
            return true;
        }
        let Some(scanned) = self.scanned(entry) else { return entry.depth() == 0 };
        // Entries that do not fit are visited at once.
        let listed = self.keep(scanned);
        is_folder || !listed
    }

    /// Sets a folder aside if it is enormous, and returns whether it did.
    pub(super) fn sets_aside(&self, folder: &Path, data: Option<Metadata>) -> bool {
        let enormous = data.is_some_and(|data| data.len() > self.limits.enormous);
        if enormous {
            self.aside.lock().unwrap_or_else(PoisonError::into_inner).push(folder.to_owned());
        }
        enormous
    }

    pub(super) fn take_aside(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.aside.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns `None` for links, pipes and devices: they have no content that is not reachable otherwise.
    pub(super) fn scanned(&self, entry: &DirEntry) -> Option<ScanEntry> {
        let kind = entry.file_type().filter(|kind| entry.depth() > 0 && (kind.is_file() || kind.is_dir()))?;
        Some(ScanEntry::new(self.below_root(entry.path())?, kind.is_dir()))
    }

    /// The walker builds paths from the root as given, so comparing bytes is sufficient.
    pub(super) fn below_root<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let rest = path.as_os_str().as_bytes().strip_prefix(self.root.as_os_str().as_bytes())?;
            if let Some(rest) = rest.strip_prefix(b"/") {
                return Some(Path::new(std::ffi::OsStr::from_bytes(rest)));
            }
        }
        path.strip_prefix(&self.root).ok()
    }

    /// Visits an entry now and keeps it.
    pub(super) fn meet(&self, path: &Path, entry: ScanEntry, visit: &Visit<'_>, visitor: &mut dyn FnMut(&Met<'_>)) {
        if (visit.wants)(&entry) {
            visitor(&Met::at(path, &entry));
        }
        self.keep(entry);
    }

    /// Visits the entries that this thread has listed since its last call.
    pub(super) fn meet_listed(&self, stop: StopCheck<'_>, visit: &Visit<'_>, visitor: &mut dyn FnMut(&Met<'_>)) {
        let mut shelf = self.shelf().lock().unwrap_or_else(PoisonError::into_inner);
        let listed = &shelf.entries[shelf.met..];
        if !meet_all(listed, &self.root, stop, visit, visitor) {
            self.stop();
        }
        shelf.met = shelf.entries.len();
    }

    /// Checks for room before an entry is created, so that it is not both kept and visited at once.
    pub(super) fn has_room(&self) -> bool {
        self.kept.load(Ordering::Relaxed) < self.limits.room
    }

    pub(super) fn keep(&self, entry: ScanEntry) -> bool {
        let fits = self.kept.fetch_add(1, Ordering::Relaxed) < self.limits.room;
        if fits {
            self.shelf().lock().unwrap_or_else(PoisonError::into_inner).entries.push(entry);
        }
        fits
    }

    fn shelf(&self) -> &Mutex<EntryShelf> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHELVES);
        &self.shelves[MINE.with(|mine| *mine)]
    }

    pub(super) fn finish(&self) -> FinishedScan {
        let report = WalkReport {
            unreadable: self.unreadable.load(Ordering::Relaxed),
            stopped: self.stopped.load(Ordering::Relaxed),
            capped: self.seen.load(Ordering::Relaxed) > self.limits.max_entries,
            cached_for: None,
            kept: 0,
        };
        let take =
            |shelf: &Mutex<EntryShelf>| std::mem::take(&mut *shelf.lock().unwrap_or_else(PoisonError::into_inner));
        let mut shelves: Vec<EntryShelf> = self.shelves.iter().map(take).collect();
        // Slow entries were visited before they were kept.
        let first_unmet = |shelf: &EntryShelf| if self.lists { shelf.met } else { shelf.entries.len() };
        let unmet: Vec<Vec<ScanEntry>> =
            shelves.iter_mut().map(|shelf| shelf.entries.split_off(first_unmet(shelf))).collect();
        // The longest shelf is not moved.
        shelves.sort_unstable_by_key(|shelf| shelf.entries.len());
        let mut entries = shelves.pop().unwrap_or_default().entries;
        shelves.iter_mut().for_each(|shelf| entries.append(&mut shelf.entries));
        let met = entries.len();
        unmet.into_iter().for_each(|mut unmet| entries.append(&mut unmet));
        // An entry that did not fit was counted as well.
        let whole = !report.stopped && !report.capped && self.kept.load(Ordering::Relaxed) == entries.len();
        FinishedScan { scan: FolderScan::new(entries, report.unreadable), met, report, whole }
    }
}
