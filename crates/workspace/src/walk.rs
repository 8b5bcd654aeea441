//! Walking the project's files in parallel, the way `rg` does: ignore files respected, links not followed, and only
//! regular files handed out, so that no pipe or device can block a search.

use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use ignore::{DirEntry, WalkBuilder, WalkParallel, WalkState};

use crate::glob::Target;

/// Which files to visit.
#[derive(Clone, Debug)]
pub struct Walk {
    pub targets: Vec<Target>,
    /// Files and folders whose name starts with a dot. `.git` is never entered.
    pub hidden: bool,
    /// Leave out what `.gitignore` and its relatives leave out.
    pub gitignore: bool,
}

/// Asked often while walking: true ends the work early.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// What a walk could not do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkReport {
    /// Folders and files that could not be read.
    pub unreadable: usize,
    pub stopped: bool,
}

/// The newest files of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// Most recently changed first; same time by path.
    pub files: Vec<PathBuf>,
    /// How many there were altogether.
    pub total: usize,
    pub report: WalkReport,
}

impl Walk {
    /// The `limit` most recently changed files. `found` hears of every file as it is met.
    pub fn newest(&self, limit: usize, stop: Stop<'_>, found: &(dyn Fn(&Path) + Sync)) -> Newest {
        let total = AtomicUsize::new(0);
        // The oldest of those kept is on top, to be thrown out first. Targets may overlap: hence the second look.
        let kept = Mutex::new(BinaryHeap::new());
        let report = self.each_file(stop, || {
            |entry: &DirEntry| {
                total.fetch_add(1, Ordering::Relaxed);
                found(entry.path());
                let modified = entry.metadata().ok().and_then(|data| data.modified().ok());
                let age = std::cmp::Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH));
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push((age, entry.path().to_owned()));
                if kept.len() > limit.saturating_mul(self.targets.len().max(1)) {
                    kept.pop();
                }
            }
        });
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut files: Vec<PathBuf> = kept.into_sorted_vec().into_iter().map(|(_, path)| path).collect();
        let before = files.len();
        files.dedup();
        let total = total.into_inner() - (before - files.len());
        files.truncate(limit);
        Newest { files, total, report }
    }

    /// Calls a visitor for every regular file that a target matches. `make` makes one visitor a thread.
    pub(crate) fn each_file<V>(&self, stop: Stop<'_>, make: impl Fn() -> V + Sync) -> WalkReport
    where
        V: FnMut(&DirEntry) + Send,
    {
        let Some(walk) = self.build() else { return WalkReport::default() };
        let (unreadable, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        walk.run(|| {
            let mut visit = make();
            let (unreadable, stopped) = (&unreadable, &stopped);
            Box::new(move |entry| {
                if stop() {
                    stopped.store(true, Ordering::Relaxed);
                    return WalkState::Quit;
                }
                match entry {
                    Ok(entry) if is_regular(&entry) && self.matches(entry.path()) => visit(&entry),
                    Ok(_) => {}
                    Err(_) => {
                        unreadable.fetch_add(1, Ordering::Relaxed);
                    }
                }
                WalkState::Continue
            })
        });
        WalkReport { unreadable: unreadable.into_inner(), stopped: stopped.into_inner() }
    }

    fn build(&self) -> Option<WalkParallel> {
        let mut bases: Vec<&Path> = self.targets.iter().map(|target| target.base.absolute.as_path()).collect();
        bases.sort_unstable();
        bases.dedup();
        let (first, rest) = bases.split_first()?;
        let mut builder = WalkBuilder::new(first);
        for base in rest {
            builder.add(base);
        }
        // Outside a repository a `.gitignore` still says what matters, but those above the base belong to something
        // else: a home folder kept in git often ignores everything.
        let in_repository = bases.iter().all(|base| base.ancestors().any(|folder| folder.join(".git").exists()));
        builder
            .standard_filters(self.gitignore)
            .hidden(!self.hidden)
            .require_git(in_repository)
            .parents(self.gitignore && in_repository)
            .threads(threads())
            .filter_entry(|entry| entry.file_name() != ".git");
        Some(builder.build_parallel())
    }

    fn matches(&self, path: &Path) -> bool {
        self.targets.iter().any(|target| match (&target.glob, path.strip_prefix(&target.base.absolute)) {
            (Some(glob), Ok(below)) => glob.is_match(below),
            (None, below) => below.is_ok(),
            (Some(_), Err(_)) => false,
        })
    }
}

/// More threads than this only get in each other's way on one disk.
const MAX_THREADS: usize = 12;

pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// A target that is itself a link was followed by the walker, which then tells the kind of what it leads to.
fn is_regular(entry: &DirEntry) -> bool {
    match entry.file_type() {
        Some(kind) if kind.is_symlink() && entry.depth() == 0 => entry.path().is_file(),
        Some(kind) => kind.is_file(),
        None => false,
    }
}
