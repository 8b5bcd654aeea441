//! Looks at the workspace: what has the same times as before is taken for the same, what has not is read and kept.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::UndoError;
use crate::folder::{Folder, Found, Kind};
use crate::ignored::Ignored;
use crate::node::{Node, Record, Stat, Target, Uncovered};
use crate::objects::Objects;
use crate::rel_path::{RelPath, os_str};
use crate::restore::TEMPORARY;
use crate::tree::{Names, Tree, named};

/// More do not make a disk faster.
const MOST_THREADS: usize = 4;
/// Others help where so many folders wait, or two after so many entries: to start them takes as long as a look at a small tree.
const MANY_FOLDERS: usize = 8;
const MANY_ENTRIES: u64 = 1_000;
/// A file that `.gitignore` names is covered up to here: settings and keys are small, dumps and databases are not.
const IGNORED_FILE: u64 = 1 << 20;
const LARGEST_GITIGNORE: u64 = 1 << 20;
/// How often a file is read again that changes while it is read.
const ATTEMPTS: usize = 3;

/// How much of a workspace is kept.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub max_file: u64,
    pub max_bytes: u64,
    pub max_entries: u64,
}

pub(crate) struct Scanner {
    pub workspace: PathBuf,
    pub objects: Arc<Objects>,
    pub limits: Limits,
    store: PathBuf,
    above: Ignored,
    /// Rules that were read before, with what their file looked like.
    rules: Mutex<HashMap<RelPath, (Stat, Ignored, Ignored)>>,
}

/// What is covered once stays so within a turn, whatever becomes of the ignore files: else a turn could hide what it does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    AsBefore,
    Anew,
}

impl Scanner {
    pub fn new(workspace: PathBuf, store: PathBuf, objects: Arc<Objects>, limits: Limits) -> Self {
        let above = Ignored::above(&workspace);
        Self { workspace, objects, limits, store, above, rules: Mutex::default() }
    }

    pub fn scan(&self, known: &Tree, coverage: Coverage) -> Result<Tree, UndoError> {
        let root = Folder::open(&self.workspace).map_err(UndoError::Workspace)?;
        let device = root.itself().map_err(UndoError::Workspace)?.device;
        let first = Task { path: RelPath::root(), parent: Arc::new(root), ignored: self.above.clone() };
        let scan = Scan {
            scanner: self,
            known,
            coverage,
            device,
            queue: Mutex::new(Queue {
                tasks: vec![first],
                working: 0,
                done: Tree::default(),
                gone: Vec::new(),
                error: None,
            }),
            news: Condvar::new(),
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        };
        if !scan.work(Alone::UntilMuch) {
            let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
            std::thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(|| scan.work(Alone::No));
                }
                scan.work(Alone::No);
            });
        }
        let queue = scan.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        match queue.error {
            Some(error) => Err(error),
            None => Ok(without(queue.done, queue.gone)),
        }
    }

    fn rules_in(&self, task: &Task, folder: &Folder, stat: Stat) -> Ignored {
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

    /// The content at a name, kept. `None` when it is gone.
    pub(crate) fn read(&self, folder: &Folder, name: &[u8]) -> Result<Option<Record>, UndoError> {
        for attempt in 1..=ATTEMPTS {
            let read_at = now();
            let file = match folder.file(name) {
                Ok(file) => file,
                Err(error) => return unreadable(folder, name, &error),
            };
            let found = match Folder::found_of(&file) {
                Ok(found) if found.kind == Kind::File => found,
                Ok(found) => return Ok(Some(uncovered(found.stat, Uncovered::Special))),
                Err(error) => return unreadable(folder, name, &error),
            };
            let content = match content(&file, self.limits.max_file) {
                Ok(Some(content)) => content,
                Ok(None) => return Ok(Some(uncovered(found.stat, Uncovered::TooLarge))),
                Err(error) => return unreadable(folder, name, &error),
            };
            let is_whole = Folder::found_of(&file).is_ok_and(|after| after.stat == found.stat);
            if !is_whole && attempt < ATTEMPTS {
                continue;
            }
            let hash = self.objects.put(&content).map_err(UndoError::Store)?;
            let node = Node::File { mode: found.stat.mode, size: content.len() as u64, hash };
            // What still changed is read again the next time.
            let read_at = if is_whole { read_at } else { 0 };
            return Ok(Some(Record { stat: found.stat, read_at, node }));
        }
        Ok(None)
    }
}

fn content(file: &File, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}

/// What containment lets stand at guarded paths while something runs: empty folders, and folders with nothing else in
/// them, marked by the sticky bit.
fn is_placeholder(folder: &Folder, name: &[u8], found: &Found) -> bool {
    const DEEPEST: usize = 8;
    fn holds_nothing(folder: &Folder, name: &[u8], found: &Found, left: usize) -> bool {
        let is_marked = found.kind == Kind::Folder && found.stat.mode & 0o7022 == 0o1000;
        let Some(inner) = (is_marked && left > 0).then(|| folder.child(name).ok()).flatten() else { return false };
        let nothing = |name: &[u8]| match inner.look(name) {
            Ok(Some(found)) => holds_nothing(&inner, name, &found, left - 1),
            _ => false,
        };
        inner.names().is_ok_and(|names| names.iter().all(|name| nothing(name)))
    }
    holds_nothing(folder, name, found, DEEPEST)
}

fn unreadable(folder: &Folder, name: &[u8], error: &io::Error) -> Result<Option<Record>, UndoError> {
    if error.kind() == io::ErrorKind::NotFound {
        return Ok(None);
    }
    Ok(folder.look(name).ok().flatten().map(|found| uncovered(found.stat, Uncovered::Unreadable)))
}

fn uncovered(stat: Stat, why: Uncovered) -> Record {
    Record { stat, read_at: 0, node: Node::Uncovered { why } }
}

pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// One folder to look at.
struct Task {
    path: RelPath,
    /// The folder it is in; itself for the workspace.
    parent: Arc<Folder>,
    ignored: Ignored,
}

struct Queue {
    tasks: Vec<Task>,
    working: usize,
    done: Tree,
    /// Folders that could not be looked into.
    gone: Vec<(RelPath, bool)>,
    error: Option<UndoError>,
}

struct Scan<'a> {
    scanner: &'a Scanner,
    known: &'a Tree,
    coverage: Coverage,
    device: u64,
    queue: Mutex<Queue>,
    news: Condvar,
    entries: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Alone {
    UntilMuch,
    No,
}

impl Scan<'_> {
    /// `false` when there is so much left that others should help.
    fn work(&self, alone: Alone) -> bool {
        let mut queue = self.lock();
        loop {
            if queue.error.is_some() {
                return true;
            }
            if alone == Alone::UntilMuch && self.is_much(queue.tasks.len()) {
                return false;
            }
            let Some(task) = queue.tasks.pop() else {
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
                Ok((names, inner)) => {
                    queue.done.folders.insert(task.path, names);
                    queue.tasks.extend(inner);
                }
                Err(Problem::Folder(error)) => match what_of(&task.path, &error) {
                    Some(is_there) => queue.gone.push((task.path, is_there)),
                    None => queue.error = Some(UndoError::Workspace(error)),
                },
                Err(Problem::Whole(error)) => queue.error = Some(error),
            }
            self.news.notify_all();
        }
    }

    fn is_much(&self, waiting: usize) -> bool {
        waiting >= MANY_FOLDERS || (waiting > 1 && self.entries.load(Ordering::Relaxed) >= MANY_ENTRIES)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_into(&self, task: &Task) -> Result<(Arc<Names>, Vec<Task>), Problem> {
        let folder = match task.path.as_bytes() {
            b"" => task.parent.clone(),
            _ => Arc::new(task.parent.child(task.path.split().1).map_err(Problem::Folder)?),
        };
        let listed = folder.names().map_err(Problem::Folder)?;
        let nothing = Arc::new(Names::new());
        let known = self.known.folders.get(&task.path).unwrap_or(&nothing);
        let mut ignored = task.ignored.clone();
        if listed.binary_search_by(|name| (**name).cmp(b".gitignore")).is_ok()
            && let Ok(Some(found)) = folder.look(b".gitignore")
            && found.kind == Kind::File
        {
            ignored = self.scanner.rules_in(task, &folder, found.stat);
        }
        let place = Place { task, folder: &folder, ignored: &ignored };
        let (mut names, mut inner) = (Names::with_capacity(listed.len()), Vec::new());
        let mut is_same = true;
        for name in listed {
            // What an undo that was killed has left half written is no file of the user's.
            if name.starts_with(TEMPORARY) {
                if is_left_over(&name) {
                    drop(folder.remove_file(&name));
                }
                continue;
            }
            let Some(found) = folder.look(&name).map_err(Problem::Folder)? else { continue };
            if is_placeholder(&folder, &name, &found) {
                continue;
            }
            let before = named(known, &name);
            let same = before.filter(|before| is_unchanged(before, &found));
            let record = match (&found.kind, same) {
                (Kind::File | Kind::Link, Some(same)) => {
                    self.bytes.fetch_add(found.stat.size, Ordering::Relaxed);
                    same.clone()
                }
                _ => match self.record(&place, &name, &found, before).map_err(Problem::Whole)? {
                    Some(record) => record,
                    None => continue,
                },
            };
            if record.node.is_folder() {
                inner.push(Task { path: task.path.join(&name), parent: folder.clone(), ignored: ignored.clone() });
            }
            is_same = is_same && before == Some(&record);
            names.push((name, record));
        }
        self.entries.fetch_add(names.len() as u64, Ordering::Relaxed);
        is_same = is_same && names.len() == known.len() && self.known.folders.contains_key(&task.path);
        Ok((if is_same { known.clone() } else { Arc::new(names) }, inner))
    }

    fn record(
        &self,
        place: &Place<'_>,
        name: &[u8],
        found: &Found,
        before: Option<&Record>,
    ) -> Result<Option<Record>, UndoError> {
        let sticks = self.coverage == Coverage::AsBefore;
        match found.kind {
            Kind::Folder => {
                let known = before.filter(|_| sticks).map(|before| &before.node);
                let why = match known {
                    Some(Node::Folder { .. }) => None,
                    Some(Node::Uncovered { why }) if *why != Uncovered::Unreadable && why.may_be_folder() => Some(*why),
                    _ => self.why_not_into(place, name, found),
                };
                // The times of a folder say nothing about what is in the folders in it.
                let stat = Stat { mode: found.stat.mode, ..Stat::default() };
                let node = match why {
                    Some(why) => Node::Uncovered { why },
                    None => Node::Folder { mode: found.stat.mode },
                };
                Ok(Some(Record { stat, read_at: 0, node }))
            }
            Kind::Link => match place.folder.target(name) {
                Ok(target) => {
                    let node = Node::Link { target: Target(target) };
                    Ok(Some(Record { stat: found.stat, read_at: now(), node }))
                }
                Err(_) => Ok(None),
            },
            Kind::Special => Ok(Some(uncovered(found.stat, Uncovered::Special))),
            Kind::File => {
                let known = before.filter(|_| sticks).map(|before| &before.node);
                // Which files find room depends on who is looked at first: it is decided once a turn.
                if let Some(Node::Uncovered { why: why @ (Uncovered::OverBudget | Uncovered::Ignored) }) = known {
                    return Ok(Some(uncovered(found.stat, *why)));
                }
                let was_covered = matches!(known, Some(Node::File { .. }));
                match self.why_not(place, name, found, was_covered) {
                    Some(why) => Ok(Some(uncovered(found.stat, why))),
                    None => self.scanner.read(place.folder, name),
                }
            }
        }
    }

    fn why_not_into(&self, place: &Place<'_>, name: &[u8], found: &Found) -> Option<Uncovered> {
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

    fn why_not(&self, place: &Place<'_>, name: &[u8], found: &Found, was_covered: bool) -> Option<Uncovered> {
        let size = found.stat.size;
        if size > self.scanner.limits.max_file {
            return Some(Uncovered::TooLarge);
        }
        let bytes = self.bytes.fetch_add(size, Ordering::Relaxed) + size;
        if was_covered {
            return None;
        }
        if bytes > self.scanner.limits.max_bytes {
            return Some(Uncovered::OverBudget);
        }
        let path = || self.scanner.absolute(&place.task.path).join(os_str(name));
        (size > IGNORED_FILE && place.ignored.names(&path(), false)).then_some(Uncovered::Ignored)
    }
}

/// Where a name stands.
struct Place<'a> {
    task: &'a Task,
    folder: &'a Folder,
    ignored: &'a Ignored,
}

enum Problem {
    /// This folder cannot be looked into.
    Folder(io::Error),
    Whole(UndoError),
}

/// Whether the process is gone that wrote this.
fn is_left_over(name: &[u8]) -> bool {
    let process = name.strip_prefix(TEMPORARY).and_then(|rest| rest.split(|byte| *byte == b'-').next());
    let process = process.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<i32>().ok());
    process.is_some_and(|process| process > 0 && !Folder::is_running(process))
}

fn is_unchanged(before: &Record, found: &Found) -> bool {
    if before.stat != found.stat {
        return false;
    }
    match &before.node {
        Node::File { .. } | Node::Link { .. } => !before.is_racy(),
        Node::Uncovered { why } => matches!(why, Uncovered::TooLarge | Uncovered::Special),
        Node::Folder { .. } => false,
    }
}

/// Whether a folder that cannot be looked into is still there. `None` when that cannot be told: nothing may be taken for
/// deleted that is only out of reach.
fn what_of(path: &RelPath, error: &io::Error) -> Option<bool> {
    match error.kind() {
        _ if path.as_bytes().is_empty() => None,
        io::ErrorKind::PermissionDenied => Some(true),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Some(false),
        _ => None,
    }
}

/// What could not be looked into is there without being covered, or gone.
fn without(mut tree: Tree, gone: Vec<(RelPath, bool)>) -> Tree {
    for (path, is_there) in gone {
        let Some(names) = tree.folders.get_mut(&path.parent()) else { continue };
        let names = Arc::make_mut(names);
        let (_, name) = path.split();
        let Ok(at) = names.binary_search_by(|(other, _)| (**other).cmp(name)) else { continue };
        match is_there {
            true => names[at].1.node = Node::Uncovered { why: Uncovered::Unreadable },
            false => drop(names.remove(at)),
        }
    }
    tree
}
