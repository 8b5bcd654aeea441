//! The walk of one scan, folder by folder, on several threads if there is much to scan.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::fill::{CopyRank, PendingFile};
use super::names::SeenNames;
use super::{Coverage, ScanRequest, Scanner, now};
use crate::UndoError;
use crate::digest::Digest;
use crate::folder::{Folder, FolderEntry, FolderEntryKind, FolderNames};
use crate::git::{Git, Oid};
use crate::ignored::Ignored;
use crate::node::{LinkTarget, Node, NodeRecord, Stat, Uncovered};
use crate::rel_path::{RelPath, os_str};
use crate::restore::TEMPORARY;
use crate::tree::{Names, WorkspaceTree, is_partial};

/// Other threads help if so many folders are queued, or two after so many entries: starting them takes as long as scanning a
/// small tree.
const MANY_FOLDERS: usize = 8;
const MANY_ENTRIES: u64 = 1_000;
/// A folder with more names is scanned after the others.
const LARGE_FOLDER: usize = 20_000;
/// Number of names between two checks of the time limit.
const LOOKS: usize = 64;
/// Size limit for files excluded by `.gitignore`: settings and keys are small, dumps and databases are not.
const IGNORED_FILE: u64 = 1 << 20;
/// Number of files read during the walk if reading may be postponed: most scans find few changes.
const READ_AT_ONCE: u64 = 256;
const BYTES_AT_ONCE: u64 = 8 << 20;
const TIME_AT_ONCE: Duration = Duration::from_millis(200);

/// One folder to scan.
pub(super) struct FolderTask {
    pub path: RelPath,
    /// The handle of the parent folder; for the workspace, its own.
    parent: Arc<Folder>,
    pub ignored: Ignored,
    /// Whether git's index applies here.
    in_git: bool,
    /// It has many names and was postponed.
    is_late: bool,
}

impl FolderTask {
    pub fn first(root: Folder, ignored: Ignored, in_git: bool) -> Self {
        Self { path: RelPath::root(), parent: Arc::new(root), ignored, in_git, is_late: false }
    }
}

/// Result of a walk.
#[derive(Default)]
pub(super) struct Walked {
    pub tree: WorkspaceTree,
    pub pending: Vec<PendingFile>,
    /// Contents that git should have, with the sizes of the files.
    pub in_git: Vec<(Oid, u64)>,
}

#[derive(Default)]
struct WalkQueue {
    tasks: Vec<FolderTask>,
    late: Vec<FolderTask>,
    working: usize,
    done: Walked,
    /// Folders that could not be scanned: the reason, or `None` if they no longer exist.
    gone: Vec<(RelPath, Option<Uncovered>)>,
    error: Option<UndoError>,
}

pub(super) struct WorkspaceWalk<'a> {
    scanner: &'a Scanner,
    known: &'a WorkspaceTree,
    nothing: Arc<Names>,
    ask: &'a ScanRequest,
    git: Option<&'a Git>,
    device: u64,
    begun: Instant,
    queue: Mutex<WalkQueue>,
    news: Condvar,
    entries: AtomicU64,
    bytes: AtomicU64,
    reads: AtomicU64,
    bytes_read: AtomicU64,
}

impl<'a> WorkspaceWalk<'a> {
    pub fn new(
        scanner: &'a Scanner,
        known: &'a WorkspaceTree,
        ask: &'a ScanRequest,
        git: Option<&'a Git>,
        device: u64,
        first: FolderTask,
    ) -> Self {
        Self {
            scanner,
            known,
            nothing: Arc::default(),
            ask,
            git,
            device,
            begun: Instant::now(),
            queue: Mutex::new(WalkQueue { tasks: vec![first], ..WalkQueue::default() }),
            news: Condvar::new(),
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
        }
    }

    pub fn into_result(self) -> Result<Walked, UndoError> {
        let queue = self.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        match queue.error {
            Some(error) => Err(error),
            None => Ok(Walked { tree: without(queue.done.tree, queue.gone), ..queue.done }),
        }
    }

    /// Returns `false` if so much is left that other threads should help.
    pub fn work(&self, is_alone: bool) -> bool {
        let mut queue = self.lock();
        loop {
            if queue.error.is_some() {
                return true;
            }
            if is_alone && self.is_much(queue.tasks.len()) {
                return false;
            }
            let next = queue.tasks.pop();
            let Some(task) = next.or_else(|| if queue.working == 0 { queue.late.pop() } else { None }) else {
                if queue.working == 0 {
                    return true;
                }
                queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            queue.working += 1;
            drop(queue);
            let looked = self.look_into(&task);
            queue = self.lock();
            queue.working -= 1;
            match looked {
                Ok(mut seen) => {
                    queue.done.tree.folders.insert(task.path, seen.names.finish());
                    queue.done.pending.append(&mut seen.pending);
                    queue.done.in_git.append(&mut seen.in_git);
                    queue.tasks.append(&mut seen.inner);
                }
                Err(WalkProblem::Large) => queue.late.push(FolderTask { is_late: true, ..task }),
                Err(WalkProblem::TooSlow) => queue.gone.push((task.path, Some(Uncovered::TooSlow))),
                Err(WalkProblem::Folder(error)) => match what_of(&task.path, &error) {
                    Some(why) => queue.gone.push((task.path, why)),
                    None => queue.error = Some(UndoError::Workspace(error)),
                },
                Err(WalkProblem::Whole(error)) => queue.error = Some(error),
            }
            self.news.notify_all();
        }
    }

    fn is_much(&self, waiting: usize) -> bool {
        waiting >= MANY_FOLDERS || (waiting > 1 && self.entries.load(Ordering::Relaxed) >= MANY_ENTRIES)
    }

    fn lock(&self) -> MutexGuard<'_, WalkQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_into(&self, task: &FolderTask) -> Result<SeenFolder<'_>, WalkProblem> {
        if self.ask.limit.stop.is_stopped() {
            return Err(WalkProblem::Whole(UndoError::Stopped));
        }
        let known = self.known.folders.get(&task.path).unwrap_or(&self.nothing);
        if self.ask.limit.is_over() && !task.path.as_bytes().is_empty() {
            return Err(WalkProblem::TooSlow);
        }
        if known.len() > LARGE_FOLDER && !task.is_late {
            return Err(WalkProblem::Large);
        }
        let folder = match task.path.as_bytes() {
            b"" => task.parent.clone(),
            _ => Arc::new(task.parent.child(task.path.split().1).map_err(WalkProblem::Folder)?),
        };
        let FolderNames { names: listed, is_cut } = self.listed(task, &folder, known)?;
        let mut ignored = task.ignored.clone();
        let is_there = |name: &[u8]| listed.binary_search_by(|other| (**other).cmp(name)).is_ok();
        if is_there(b".gitignore")
            && let Ok(Some(found)) = folder.look(b".gitignore")
            && found.kind == FolderEntryKind::File
        {
            ignored = self.scanner.rules_in(task, &folder, found.stat);
        }
        let tracked = self.git.filter(|_| task.in_git).map(|git| git.folder(task.path.as_bytes()));
        // Untracked attribute files may cause git to store files differently than they are here.
        let tracked = tracked.filter(|tracked| !is_there(GIT_ATTRIBUTES) || tracked.get(GIT_ATTRIBUTES).is_some());
        let place = WalkedName { task, folder: &folder, ignored: &ignored, tracked };
        let mut seen = SeenFolder::new(known, is_cut);
        for (number, name) in listed.into_iter().enumerate() {
            if number % LOOKS == LOOKS - 1 && self.ask.limit.is_over() {
                if self.ask.limit.stop.is_stopped() {
                    return Err(WalkProblem::Whole(UndoError::Stopped));
                }
                seen.names.cut();
                break;
            }
            // A temporary file of a killed undo is not a file of the user.
            if name.starts_with(TEMPORARY) {
                if is_left_over(&name) {
                    drop(folder.remove_file(&name));
                }
                continue;
            }
            let Some(found) = folder.look(&name).map_err(WalkProblem::Folder)? else { continue };
            let before = seen.names.known(&name);
            if let Some(same) = before.filter(|before| is_unchanged(before, &found)) {
                self.count(same, &mut seen);
                seen.names.keep();
                continue;
            }
            let record = self.record(&place, &name, &found, before, &mut seen).map_err(WalkProblem::Whole)?;
            let Some(record) = record else { continue };
            if record.node.is_folder() {
                let (path, parent, in_git) = (task.path.join(&name), folder.clone(), tracked.is_some());
                seen.inner.push(FolderTask { path, parent, ignored: ignored.clone(), in_git, is_late: false });
            }
            seen.names.push(name, record);
        }
        self.entries.fetch_add(seen.names.len() as u64, Ordering::Relaxed);
        Ok(seen)
    }

    fn sticks(&self) -> bool {
        self.ask.coverage == Coverage::AsBefore
    }

    /// Returns the names of a folder, or the known ones if there are too many.
    fn listed(&self, task: &FolderTask, folder: &Folder, known: &Names) -> Result<FolderNames, WalkProblem> {
        if self.sticks() && is_partial(known) {
            let names = known.iter().skip(1).map(|(name, _)| name.clone()).collect();
            return Ok(FolderNames { names, is_cut: true });
        }
        let room = self.scanner.limits.max_entries.saturating_sub(self.entries.load(Ordering::Relaxed));
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        // Entries that were covered before stay covered.
        let room = if self.sticks() { room.saturating_add(known.len()) } else { room };
        let most = if task.is_late { room } else { room.min(LARGE_FOLDER) };
        // Listing takes at most half the time, because the entries must be checked as well.
        let limit = self.ask.limit.half();
        let listed = folder.names(most, &|| limit.is_over()).map_err(WalkProblem::Folder)?;
        if listed.is_cut && !task.is_late {
            return Err(WalkProblem::Large);
        }
        Ok(listed)
    }

    /// Unchanged entries count as well.
    fn count(&self, record: &NodeRecord, seen: &mut SeenFolder<'_>) {
        if let Node::File { hash, size, .. } = &record.node {
            match hash.as_git() {
                Some(oid) if self.ask.is_first => seen.in_git.push((oid, *size)),
                Some(_) => {}
                None => drop(self.bytes.fetch_add(*size, Ordering::Relaxed)),
            }
        }
    }

    fn record(
        &self,
        place: &WalkedName<'_>,
        name: &[u8],
        found: &FolderEntry,
        before: Option<&NodeRecord>,
        seen: &mut SeenFolder<'_>,
    ) -> Result<Option<NodeRecord>, UndoError> {
        match found.kind {
            FolderEntryKind::Folder => {
                let known = before.filter(|_| self.sticks()).map(|before| &before.node);
                let why = match known {
                    Some(Node::Folder { .. }) => None,
                    Some(Node::Uncovered { why }) if *why != Uncovered::Unreadable && why.may_be_folder() => Some(*why),
                    _ => self.why_not_into(place, name, found),
                };
                // The times of a folder do not reflect changes in its subfolders.
                let stat = Stat { mode: found.stat.mode, ..Stat::default() };
                let node = match why {
                    Some(why) => Node::Uncovered { why },
                    None => Node::Folder { mode: found.stat.mode },
                };
                Ok(Some(NodeRecord { stat, read_at: 0, node }))
            }
            FolderEntryKind::Link => match place.folder.target(name) {
                Ok(target) => {
                    let node = Node::Link { target: LinkTarget(target) };
                    Ok(Some(NodeRecord { stat: found.stat, read_at: now(), node }))
                }
                Err(_) => Ok(None),
            },
            FolderEntryKind::Special => Ok(Some(NodeRecord::uncovered(found.stat, Uncovered::Special))),
            FolderEntryKind::File => self.file(place, name, found, before, seen),
        }
    }

    fn file(
        &self,
        place: &WalkedName<'_>,
        name: &[u8],
        found: &FolderEntry,
        before: Option<&NodeRecord>,
        seen: &mut SeenFolder<'_>,
    ) -> Result<Option<NodeRecord>, UndoError> {
        let stat = found.stat;
        if let Some(oid) = self.in_git(place, name, &stat) {
            seen.in_git.push((oid, stat.size));
            let node = Node::File { mode: stat.mode, size: stat.size, hash: Digest::git(oid) };
            return Ok(Some(NodeRecord { stat, read_at: now(), node }));
        }
        let known = before.filter(|_| self.sticks()).map(|before| &before.node);
        // Which files fit the limits depends on the order of the scan, so it is decided once per turn.
        if let Some(Node::Uncovered { why: why @ (Uncovered::OverBudget | Uncovered::Ignored) }) = known {
            return Ok(Some(NodeRecord::uncovered(stat, *why)));
        }
        let was_covered = matches!(known, Some(Node::File { .. } | Node::Uncovered { why: Uncovered::NotYet }));
        if let Some(why) = self.why_not(place, name, found, was_covered) {
            return Ok(Some(NodeRecord::uncovered(stat, why)));
        }
        if let Some(before) = before.filter(|before| before.is_not_yet() && before.stat == stat && !before.is_racy()) {
            let rank = if self.ask.is_first { CopyRank::New } else { CopyRank::Old };
            seen.pending.push(PendingFile::new(&place.task.path, name, before, rank));
            return Ok(Some(before.clone()));
        }
        if self.ask.puts_off && !self.reads_at_once(stat.size) {
            let node = Node::Uncovered { why: Uncovered::NotYet };
            let record = NodeRecord { stat, read_at: now(), node };
            let rank = if place.tracked.is_some_and(|tracked| tracked.get(name).is_some_and(|it| it.is(&stat))) {
                CopyRank::Tracked
            } else {
                CopyRank::New
            };
            seen.pending.push(PendingFile::new(&place.task.path, name, &record, rank));
            return Ok(Some(record));
        }
        self.scanner.read(place.folder, name, before)
    }

    fn in_git(&self, place: &WalkedName<'_>, name: &[u8], stat: &Stat) -> Option<Oid> {
        let entry = place.tracked.as_ref()?.get(name)?;
        // The whole path is needed only if there are filter rules.
        let path = || place.task.path.join(name);
        self.git?.unchanged(entry, path, stat)
    }

    fn reads_at_once(&self, size: u64) -> bool {
        self.reads.fetch_add(1, Ordering::Relaxed) < READ_AT_ONCE
            && self.bytes_read.fetch_add(size, Ordering::Relaxed) < BYTES_AT_ONCE
            && self.begun.elapsed() < TIME_AT_ONCE
    }

    fn why_not_into(&self, place: &WalkedName<'_>, name: &[u8], found: &FolderEntry) -> Option<Uncovered> {
        if name == b".git" {
            return Some(Uncovered::Git);
        }
        if found.device != self.device {
            return Some(Uncovered::Mount);
        }
        if self.entries.load(Ordering::Relaxed) > self.scanner.limits.max_entries {
            return Some(Uncovered::OverBudget);
        }
        let path = self.scanner.absolute(&place.task.path).join(os_str(name));
        if path == self.scanner.store {
            return Some(Uncovered::Store);
        }
        place.ignored.names(&path, true).then_some(Uncovered::Ignored)
    }

    fn why_not(
        &self,
        place: &WalkedName<'_>,
        name: &[u8],
        found: &FolderEntry,
        was_covered: bool,
    ) -> Option<Uncovered> {
        let size = found.stat.size;
        if size > self.scanner.limits.max_file {
            return Some(Uncovered::TooLarge);
        }
        let bytes = self.bytes.fetch_add(size, Ordering::Relaxed) + size;
        if was_covered {
            return None;
        }
        if bytes > self.scanner.limits.max_bytes {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            return Some(Uncovered::OverBudget);
        }
        let path = || self.scanner.absolute(&place.task.path).join(os_str(name));
        (size > IGNORED_FILE && place.ignored.names(&path(), false)).then_some(Uncovered::Ignored)
    }
}

const GIT_ATTRIBUTES: &[u8] = b".gitattributes";

/// A name and its folder.
struct WalkedName<'a> {
    task: &'a FolderTask,
    folder: &'a Folder,
    ignored: &'a Ignored,
    tracked: Option<crate::git::Slice<'a>>,
}

/// Result of scanning one folder.
struct SeenFolder<'a> {
    names: SeenNames<'a>,
    inner: Vec<FolderTask>,
    pending: Vec<PendingFile>,
    in_git: Vec<(Oid, u64)>,
}

impl<'a> SeenFolder<'a> {
    fn new(known: &'a Arc<Names>, is_cut: bool) -> Self {
        Self { names: SeenNames::new(known, is_cut), inner: Vec::new(), pending: Vec::new(), in_git: Vec::new() }
    }
}

enum WalkProblem {
    /// This folder cannot be scanned.
    Folder(io::Error),
    /// There is no time to scan it.
    TooSlow,
    /// It has so many names that others are scanned first.
    Large,
    Whole(UndoError),
}

/// Returns whether the process that wrote this file no longer exists.
fn is_left_over(name: &[u8]) -> bool {
    let process = name.strip_prefix(TEMPORARY).and_then(|rest| rest.split(|byte| *byte == b'-').next());
    let process = process.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<i32>().ok());
    process.is_some_and(|process| process > 0 && !Folder::is_running(process))
}

fn is_unchanged(before: &NodeRecord, found: &FolderEntry) -> bool {
    if before.stat != found.stat {
        return false;
    }
    match &before.node {
        Node::File { .. } | Node::Link { .. } => !before.is_racy(),
        Node::Uncovered { why } => matches!(why, Uncovered::Special),
        Node::Folder { .. } => false,
    }
}

/// Returns why a folder cannot be scanned, or that it no longer exists. Returns `None` if that is unknown: a folder that is
/// only inaccessible must not count as deleted.
fn what_of(path: &RelPath, error: &io::Error) -> Option<Option<Uncovered>> {
    match error.kind() {
        _ if path.as_bytes().is_empty() => None,
        io::ErrorKind::PermissionDenied => Some(Some(Uncovered::Unreadable)),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Some(None),
        _ => None,
    }
}

/// Marks folders that could not be scanned as not covered, or removes them.
fn without(mut tree: WorkspaceTree, gone: Vec<(RelPath, Option<Uncovered>)>) -> WorkspaceTree {
    for (path, why) in gone {
        let Some(names) = tree.folders.get_mut(&path.parent()) else { continue };
        let names = Arc::make_mut(names);
        let (_, name) = path.split();
        let Ok(at) = names.binary_search_by(|(other, _)| (**other).cmp(name)) else { continue };
        match why {
            Some(why) => names[at].1.node = Node::Uncovered { why },
            None => drop(names.remove(at)),
        }
    }
    tree
}
