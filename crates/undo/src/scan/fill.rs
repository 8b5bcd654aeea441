//! Copies what a look has left for later: what the user has made or changed last comes first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{MOST_THREADS, Scanner};
use crate::UndoError;
use crate::folder::Folder;
use crate::limit::UndoLimit;
use crate::node::{Node, NodeRecord, Stat, Uncovered};
use crate::rel_path::RelPath;
use crate::tree::WorkspaceTree;

/// How many files are left to one thread at once.
const AT_ONCE: usize = 16;
/// For fewer files no other thread is started.
const FEW: usize = 64;

/// What is copied first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CopyRank {
    /// Was known before: it had its chance, and the background goes on with it.
    Old,
    /// Git has it, if not in a pack.
    Tracked,
    /// Nobody else has it.
    New,
}

/// A file that is known by its times only.
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

/// The first to be copied at the end.
pub(super) fn sort(pending: &mut [PendingFile]) {
    pending.sort_unstable_by(|one, other| {
        (one.rank, one.modified, &other.folder, &other.name).cmp(&(other.rank, other.modified, &one.folder, &one.name))
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filling {
    /// What was not known before, with all threads: somebody waits.
    New,
    /// Everything, beside other work.
    Rest,
}

/// What is known of a name now.
pub(crate) type CopiedNode = (RelPath, Box<[u8]>, NodeRecord);

impl Scanner {
    /// Copies from the end of the list what still has the times that it had when it was seen, so that it is what it was
    /// then, whatever has been going on since. The rest of the list is left for another time. Where something goes wrong,
    /// nothing is taken for copied: the next look finds the same files again.
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
        // From the end.
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

    /// `None` when it is not what it was any more: the next look sees what became of it.
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

    /// One file that is known by its times, now.
    pub fn copy(&self, path: &RelPath, record: &NodeRecord) -> Result<Option<NodeRecord>, UndoError> {
        self.copied(&PendingFile::new(&path.parent(), path.split().1, record, CopyRank::New), &mut None)
    }

    /// By its handle, name by name, never through a link.
    fn folder(&self, path: &RelPath) -> Option<Folder> {
        let mut folder = Folder::open(&self.workspace).ok()?;
        for name in path.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            folder = folder.child(name).ok()?;
        }
        Some(folder)
    }

    /// Puts contents that only git has into the store. What git has lost meanwhile is told as that.
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
