//! Scans the workspace: a file with unchanged metadata is assumed to be unchanged. Other files are read and stored, at once
//! or, if that takes too long, ordered by importance as long as there is time.

mod fill;
mod names;
mod walk;

pub(crate) use fill::{CopiedNode, Filling, PendingFile};

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::UndoError;
use crate::digest::Digest;
use crate::folder::{Folder, FolderEntryKind};
use crate::git::{Git, GitObjects, Oid};
use crate::ignored::Ignored;
use crate::limit::UndoLimit;
use crate::node::{Node, NodeRecord, Stat, Uncovered};
use crate::objects::Objects;
use crate::rel_path::{RelPath, os_str};
use crate::tree::WorkspaceTree;
use walk::{FolderTask, WorkspaceWalk};

/// Thread limit; more threads do not make a disk faster.
const MOST_THREADS: usize = 4;
const LARGEST_GITIGNORE: u64 = 1 << 20;
/// How often a file is read again if it changes during the read.
const ATTEMPTS: usize = 3;

/// Size limits of a snapshot.
#[derive(Clone, Copy)]
pub(crate) struct SnapshotLimits {
    pub max_file: u64,
    pub max_bytes: u64,
    pub max_entries: u64,
}

pub(crate) struct Scanner {
    pub workspace: PathBuf,
    pub objects: Arc<Objects>,
    pub limits: SnapshotLimits,
    store: PathBuf,
    above: Ignored,
    /// Cached ignore rules, with the metadata of their file.
    rules: Mutex<HashMap<RelPath, (Stat, Ignored, Ignored)>>,
    /// Git attribute files of the user and the machine.
    attributes: Vec<PathBuf>,
    /// The repository of the workspace, set by the first scan.
    git: Mutex<Option<Arc<GitObjects>>>,
}

/// A file that is covered stays covered within a turn, regardless of changes to ignore files: otherwise a turn could hide
/// its changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    AsBefore,
    Anew,
}

/// Parameters of a scan.
pub(crate) struct ScanRequest {
    pub coverage: Coverage,
    /// This is the first scan of the process, so it is not known yet which contents git has.
    pub is_first: bool,
    /// There are files whose content git may have.
    pub asks_git: bool,
    /// Files that take long to read are left for [`Scanner::fill`].
    pub puts_off: bool,
    /// Deadline for files that were not known before. If the stop flag is set, the scan returns nothing.
    pub limit: UndoLimit,
    /// Deadline for reading git's index; without it the index is not used.
    pub index: UndoLimit,
    /// Deadline for checking which contents git has; the others are copied.
    pub in_git: UndoLimit,
}

/// Result of a scan.
pub(crate) struct Seen {
    pub tree: WorkspaceTree,
    /// Files that are identified only by metadata, the most important last.
    pub pending: Vec<PendingFile>,
}

impl Scanner {
    pub fn new(
        workspace: PathBuf,
        store: PathBuf,
        objects: Arc<Objects>,
        limits: SnapshotLimits,
        attributes: Vec<PathBuf>,
    ) -> Self {
        let above = Ignored::above(&workspace);
        Self { workspace, objects, limits, store, above, rules: Mutex::default(), attributes, git: Mutex::default() }
    }

    pub fn scan(&self, known: &WorkspaceTree, ask: &ScanRequest) -> Result<Seen, UndoError> {
        let git = ask.asks_git.then(|| Git::around(&self.workspace, &self.attributes, &ask.index)).flatten();
        if let Some(git) = &git {
            let mut held = self.git.lock().unwrap_or_else(PoisonError::into_inner);
            match &*held {
                // Packs that were opened before stay available.
                Some(held) if !ask.is_first => held.refresh(),
                _ => *held = Some(git.objects.clone()),
            }
        }
        let root = Folder::open(&self.workspace).map_err(UndoError::Workspace)?;
        let device = root.itself().map_err(UndoError::Workspace)?.device;
        let first = FolderTask::first(root, self.above.clone(), git.is_some());
        let walk = WorkspaceWalk::new(self, known, ask, git.as_ref(), device, first);
        if !walk.work(true) {
            let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
            std::thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(|| walk.work(false));
                }
                walk.work(false);
            });
        }
        let mut walked = walk.into_result()?;
        if !walked.in_git.is_empty() {
            let missing = self.missing(std::mem::take(&mut walked.in_git), &ask.in_git);
            if !missing.is_empty() {
                put_off(&mut walked.tree, &mut walked.pending, |digest| missing.contains(digest));
            }
        }
        fill::sort(&mut walked.pending);
        Ok(Seen { tree: walked.tree, pending: walked.pending })
    }

    /// Returns contents that git should have, but that are not confirmed to be in a pack with the size of the file.
    fn missing(&self, mut in_git: Vec<(Oid, u64)>, limit: &UndoLimit) -> HashSet<Digest> {
        in_git.sort_unstable();
        in_git.dedup();
        let (oids, sizes): (Vec<Oid>, Vec<u64>) = in_git.into_iter().unzip();
        let held = match self.git() {
            Some(git) => git.held(&oids, &sizes, limit),
            None => vec![false; oids.len()],
        };
        oids.into_iter().zip(held).filter(|(_, held)| !held).map(|(oid, _)| Digest::git(oid)).collect()
    }

    fn git(&self) -> Option<Arc<GitObjects>> {
        self.git.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Also works before the first scan of the workspace.
    fn git_or_open(&self) -> Option<Arc<GitObjects>> {
        let mut git = self.git.lock().unwrap_or_else(PoisonError::into_inner);
        if git.is_none() {
            *git = GitObjects::around(&self.workspace).map(Arc::new);
        }
        git.clone()
    }

    pub fn content(&self, digest: &Digest) -> Result<Vec<u8>, UndoError> {
        match digest.as_git() {
            Some(oid) => self.git_or_open().and_then(|git| git.blob(&oid)).ok_or(UndoError::Evicted),
            None => self.objects.get(digest),
        }
    }

    pub fn has(&self, digest: &Digest) -> bool {
        match digest.as_git() {
            Some(oid) => self.git_or_open().is_some_and(|git| git.has(&oid)),
            None => self.objects.has(digest),
        }
    }

    fn rules_in(&self, task: &FolderTask, folder: &Folder, stat: Stat) -> Ignored {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, above, known)) = rules.get(&task.path)
            && *before == stat
            && above.is(&task.ignored)
        {
            return known.clone();
        }
        let mut text = Vec::new();
        let read = folder.file(b".gitignore").and_then(|file| file.take(LARGEST_GITIGNORE).read_to_end(&mut text));
        if read.is_err() {
            return task.ignored.clone();
        }
        let at = self.absolute(&task.path);
        let found = task.ignored.and(&at, &String::from_utf8_lossy(&text));
        rules.insert(task.path.clone(), (stat, task.ignored.clone(), found.clone()));
        found
    }

    fn absolute(&self, path: &RelPath) -> PathBuf {
        self.workspace.join(Path::new(os_str(path.as_bytes())))
    }

    /// Stores the content of a file. Returns `None` if the file no longer exists. Content that is unchanged in git is not
    /// copied.
    pub(crate) fn read(
        &self,
        folder: &Folder,
        name: &[u8],
        before: Option<&NodeRecord>,
    ) -> Result<Option<NodeRecord>, UndoError> {
        for attempt in 1..=ATTEMPTS {
            let read_at = now();
            let file = match folder.file(name) {
                Ok(file) => file,
                Err(error) => return unreadable(folder, name, &error),
            };
            let found = match Folder::found_of(&file) {
                Ok(found) if found.kind == FolderEntryKind::File => found,
                Ok(found) => return Ok(Some(NodeRecord::uncovered(found.stat, Uncovered::Special))),
                Err(error) => return unreadable(folder, name, &error),
            };
            let content = match content(&file, self.limits.max_file) {
                Ok(Some(content)) => content,
                Ok(None) => return Ok(Some(NodeRecord::uncovered(found.stat, Uncovered::TooLarge))),
                Err(error) => return unreadable(folder, name, &error),
            };
            let is_whole = Folder::found_of(&file).is_ok_and(|after| after.stat == found.stat);
            if !is_whole && attempt < ATTEMPTS {
                continue;
            }
            let in_git = before.and_then(|before| before.node.digest()).filter(|digest| is_blob(digest, &content));
            let hash = match in_git {
                Some(hash) => hash,
                None => self.objects.put(&content).map_err(UndoError::Store)?,
            };
            let node = Node::File { mode: found.stat.mode, size: content.len() as u64, hash };
            // A file that was still changing is read again in the next scan.
            let read_at = if is_whole { read_at } else { 0 };
            return Ok(Some(NodeRecord { stat: found.stat, read_at, node }));
        }
        Ok(None)
    }
}

fn is_blob(digest: &Digest, content: &[u8]) -> bool {
    digest.as_git().is_some_and(|oid| Oid::of_blob(content) == oid)
}

/// Marks files with such contents for copying.
fn put_off(tree: &mut WorkspaceTree, pending: &mut Vec<PendingFile>, is_missing: impl Fn(&Digest) -> bool) {
    for (folder, names) in &mut tree.folders {
        let is_here = |record: &NodeRecord| record.node.digest().is_some_and(|digest| is_missing(&digest));
        if !names.iter().any(|(_, record)| is_here(record)) {
            continue;
        }
        for (name, record) in Arc::make_mut(names).iter_mut().filter(|(_, record)| is_here(record)) {
            record.node = Node::Uncovered { why: Uncovered::NotYet };
            pending.push(PendingFile::new(folder, name, record, fill::CopyRank::Tracked));
        }
    }
}

fn content(file: &File, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}

fn unreadable(folder: &Folder, name: &[u8], error: &io::Error) -> Result<Option<NodeRecord>, UndoError> {
    if error.kind() == io::ErrorKind::NotFound {
        return Ok(None);
    }
    Ok(folder.look(name).ok().flatten().map(|found| NodeRecord::uncovered(found.stat, Uncovered::Unreadable)))
}

pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}
