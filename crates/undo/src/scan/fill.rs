//! Copies files that a scan has postponed: those that the user created or changed last come first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{MOST_THREADS, Scanner};
use crate::UndoError;
use crate::folder::Folder;
use crate::limit::UndoLimit;
use crate::node::{Node, NodeRecord, Stat, Uncovered};
use crate::rel_path::RelPath;
use crate::tree::WorkspaceTree;

/// Number of files handed to a thread at once.
const AT_ONCE: usize = 16;
/// Minimum number of files for starting another thread.
const FEW: usize = 64;

/// Priority of copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CopyRank {
    /// Known before: it was not copied in time then, and the background continues with it.
    Old,
    /// Git has it, though not in a pack.
    Tracked,
    /// No other copy exists.
    New,
}

/// A file that is identified only by its metadata.
#[derive(Debug)]
pub(crate) struct PendingFile {
    pub rank: CopyRank,
    modified: i64,
    folder: RelPath,
    name: Box<[u8]>,
    stat: Stat,
}

impl PendingFile {
    pub fn new(folder: &RelPath, name: &[u8], record: &NodeRecord, rank: CopyRank) -> Self {
        let stat = record.stat;
        Self { rank, modified: stat.mtime.max(stat.ctime), folder: folder.clone(), name: name.into(), stat }
    }
}

/// Sorts the files so that the first to be copied is last.
pub(super) fn sort(pending: &mut [PendingFile]) {
    pending.sort_unstable_by(|one, other| {
        (one.rank, one.modified, &other.folder, &other.name).cmp(&(other.rank, other.modified, &one.folder, &one.name))
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filling {
    /// Copies files that were not known before with all threads, because a call is waiting.
    New,
    /// Copies everything, in the background.
    Rest,
}

/// The new record of a name.
pub(crate) type CopiedNode = (RelPath, Box<[u8]>, NodeRecord);

impl Scanner {
    /// Copies files from the end of the list that still have the metadata seen by the scan, so that they are unchanged since
    /// then. The rest of the list is kept for later. On an error nothing counts as copied: the next scan finds the same
    /// files again.
    pub fn fill(
        &self,
        tree: &mut WorkspaceTree,
        pending: &mut Vec<PendingFile>,
        how: Filling,
        limit: &UndoLimit,
    ) -> Result<Vec<CopiedNode>, UndoError> {
        let least = if how == Filling::Rest { CopyRank::Old } else { CopyRank::Tracked };
        let begin = pending.partition_point(|one| one.rank < least);
        let todo = &pending[begin..];
        // Starts at the end.
        let next = AtomicUsize::new(0);
        let problem = Mutex::new(None);
        let work = || {
            let mut done = Vec::new();
            let mut opened: Option<(RelPath, Folder)> = None;
            while !limit.is_over() && !is_some(&problem) {
                let from = next.fetch_add(AT_ONCE, Ordering::Relaxed);
                if from >= todo.len() {
                    break;
                }
                let piece = todo.len() - (from + AT_ONCE).min(todo.len())..todo.len() - from;
                for one in todo[piece.clone()].iter().rev() {
                    match self.copied(one, &mut opened) {
                        Ok(Some(record)) => done.push((one.folder.clone(), one.name.clone(), record)),
                        Ok(None) => {}
                        Err(error) => *problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(error),
                    }
                }
            }
            done
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let is_few = todo.len() < FEW || how == Filling::Rest;
        let done: Vec<CopiedNode> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).filter(|_| !is_few).map(|_| scope.spawn(work)).collect();
            let own = work();
            others.into_iter().filter_map(|other| other.join().ok()).flatten().chain(own).collect()
        });
        let problem = problem.into_inner().unwrap_or_else(PoisonError::into_inner);
        let finished = next.into_inner().min(todo.len());
        pending.truncate(pending.len() - finished);
        if let Some(problem) = problem {
            return Err(problem);
        }
        for (folder, name, record) in &done {
            tree.set(folder, name, record.clone());
        }
        Ok(done)
    }

    /// Returns `None` if the file has changed: the next scan records its new state.
    fn copied(
        &self,
        one: &PendingFile,
        opened: &mut Option<(RelPath, Folder)>,
    ) -> Result<Option<NodeRecord>, UndoError> {
        if opened.as_ref().is_none_or(|(path, _)| *path != one.folder) {
            *opened = self.folder(&one.folder).map(|folder| (one.folder.clone(), folder));
        }
        let Some((_, folder)) = opened else { return Ok(None) };
        let is_same = |stat: &Stat| *stat == one.stat;
        if !folder.look(&one.name).ok().flatten().is_some_and(|found| is_same(&found.stat)) {
            return Ok(None);
        }
        let record = self.read(folder, &one.name, None)?;
        let is_kept = |record: &NodeRecord| {
            matches!(
                record.node,
                Node::File { .. } | Node::Uncovered { why: Uncovered::Unreadable | Uncovered::TooLarge }
            )
        };
        Ok(record.filter(|record| is_same(&record.stat) && is_kept(record)))
    }

    /// Copies one file that is identified by its metadata.
    pub fn copy(&self, path: &RelPath, record: &NodeRecord) -> Result<Option<NodeRecord>, UndoError> {
        self.copied(&PendingFile::new(&path.parent(), path.split().1, record, CopyRank::New), &mut None)
    }

    /// Opens a folder by handle, name by name, never through a link.
    fn folder(&self, path: &RelPath) -> Option<Folder> {
        let mut folder = Folder::open(&self.workspace).ok()?;
        for name in path.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            folder = folder.child(name).ok()?;
        }
        Some(folder)
    }

    /// Copies contents that only git has into the store. Contents that git has lost meanwhile are reported as such.
    pub fn keep_blobs<'a>(
        &self,
        nodes: impl Iterator<Item = &'a mut Node>,
        limit: &UndoLimit,
    ) -> Result<(), UndoError> {
        for node in nodes {
            let Node::File { hash, .. } = node else { continue };
            if hash.as_git().is_none() {
                continue;
            }
            if limit.is_over() {
                return Ok(());
            }
            match self.content(hash) {
                Ok(content) if content.len() as u64 > self.limits.max_file => {}
                Ok(content) => *hash = self.objects.put(&content).map_err(UndoError::Store)?,
                Err(_) => *node = Node::Uncovered { why: Uncovered::GitGone },
            }
        }
        Ok(())
    }
}

fn is_some<T>(place: &Mutex<Option<T>>) -> bool {
    place.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}
