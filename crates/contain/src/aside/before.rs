//! The state of guarded paths before commands run, for paths that no mount protects. Later differences are put back.
//!
//! A scan is cheap: a file with the same metadata as before (size, times, inode) is not read. Small files are kept in
//! memory, up to a limit. Paths are opened without following links, so a link on the way counts as a change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2, readlinkat};
use nix::sys::stat::{FileStat, SFlag, fstat};
use omp_types::PastVersion;

use super::hands::{self, Make};
use super::lock;
use super::shelf::Shelf;
use super::tracked::Tracked;
use crate::kept::{Deed, SetAside};

/// For a larger file only the metadata is kept: a change is detected but cannot be undone.
const LARGEST: u64 = 256 * 1024;
/// Limit for all files together.
const MOST_BYTES: u64 = 4 << 20;
/// Limit for all guarded paths together.
const MOST_ENTRIES: usize = 2_000;
/// Maximum folder depth.
const DEEPEST: usize = 8;
/// If more entries than this differ in one guarded path, the whole path is recreated, because repairing each file takes
/// time.
const MOST_MENDED: usize = 64;
/// File times have a limited resolution: a file that was changed this shortly before the scan is read again.
const GRAIN: Duration = Duration::from_millis(100);
/// Git writes a file in several steps: while a command runs, a tracked file has this long to match git's content.
const SETTLES: Duration = Duration::from_millis(500);

/// Kept as long as any process runs that could change the paths.
#[derive(Debug)]
pub(super) struct Before {
    roots: Vec<PathBuf>,
    /// Paths inside them that are protected by mounts.
    left_out: Vec<PathBuf>,
    things: Arc<Mutex<Things>>,
    /// Whether no omp had anything running during the scan. If not, the state may be an attacker's work and is not
    /// restored.
    is_clean: bool,
    /// Paths that may be restored nevertheless, with git's content.
    trusted: Vec<PathBuf>,
    /// The time since which files that git may be writing differ.
    suspects: Mutex<BTreeMap<PathBuf, Instant>>,
    /// A lock on the workspace folder, which shows other omps that something runs.
    _lock: Option<File>,
}

#[derive(Debug, Default)]
pub(super) struct Things {
    all: BTreeMap<PathBuf, Thing>,
    /// Paths that contain more than is kept.
    pub(super) beyond: Vec<PathBuf>,
    bytes: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Thing {
    numbers: Numbers,
    kind: FormerNode,
    seen: SystemTime,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FormerNode {
    Folder,
    /// `None` if the content is too large.
    File(Option<Arc<[u8]>>),
    Link(PathBuf),
    /// There is a link on the way to it.
    BehindALink,
    /// A pipe, a device, or unreadable.
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Numbers {
    device: u64,
    inode: u64,
    mode: u32,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// The information about the session that a scan needs.
pub(super) trait SessionGround {
    /// Whether the user has allowed changing the path; `is` is its current state.
    fn is_allowed(&self, path: &Path, is: Option<&Thing>) -> bool;
    /// Whether the user has allowed changing something inside the path.
    fn is_allowed_in(&self, path: &Path) -> bool;
    /// The writable folder that contains the path.
    fn root_of(&self, path: &Path) -> Option<PathBuf>;
    /// Whether the path is compared with git's content.
    fn is_of_git(&self, path: &Path) -> bool;
    /// Whether the path matches git's content at the start of the session.
    fn accepts(&self, path: &Path, was: Option<&Thing>, is: Option<&Thing>) -> bool;
    /// The folder for the path when it is set aside.
    fn shelf_of(&self, path: &Path) -> Option<Shelf>;
    /// Whether the path belongs to a git folder that no longer exists, so that nothing in it has to be restored.
    fn is_gone(&self, path: &Path) -> bool;
}

impl Before {
    /// Records the state before anything runs. Files with the same metadata as in `last` are not read again.
    pub(super) fn survey(
        (roots, left_out): (Vec<PathBuf>, Vec<PathBuf>),
        workspace: &Path,
        last: Option<&Things>,
        tracked: &Tracked,
    ) -> Self {
        let (held, is_clean) = hold(workspace);
        let things = Things::survey(&roots, &left_out, last);
        let mut trusted = Vec::new();
        match is_clean {
            true => things.iter().for_each(|(path, thing)| tracked.remember(path, thing)),
            false => trusted = tracked.trusted(&things),
        }
        let things = Arc::new(Mutex::new(things));
        Self { roots, left_out, things, is_clean, trusted, suspects: Mutex::default(), _lock: held }
    }

    /// Whether the path is scanned, existing or not.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root == path)
    }

    /// Whether the whole path can be restored.
    pub(super) fn holds(&self, root: &Path) -> bool {
        let things = lock(&self.things);
        self.covers(root)
            && self.may_put_back(root)
            && !things.is_beyond(root)
            && things.all_in(root, |_, thing| thing.made().is_some())
    }

    fn may_put_back(&self, path: &Path) -> bool {
        self.is_clean || self.trusted.iter().any(|root| path.starts_with(root))
    }

    pub(super) fn things(&self) -> Arc<Mutex<Things>> {
        self.things.clone()
    }

    /// Restores what differs, and reports it. If there is time, waits for files that git may be writing.
    pub(super) fn look(&self, ground: &dyn SessionGround, has_time: bool) -> Vec<SetAside> {
        let mut before = lock(&self.things);
        let now = Things::survey(&self.roots, &self.left_out, Some(&before));
        if now.is_as(&before) {
            // With their current metadata.
            *before = now;
            lock(&self.suspects).clear();
            return Vec::new();
        }
        let is_closed = |root: &&PathBuf| !before.is_beyond(root) && !ground.is_allowed_in(root);
        let closed: Vec<PathBuf> = self.roots.iter().filter(is_closed).cloned().collect();
        let (mut wrong, mut whole) = self.judge(&mut before, &now, ground, &closed, has_time);
        // Folders that were filled with more entries than can be scanned.
        whole.extend(closed.into_iter().filter(|root| now.is_beyond(root)));
        // These folders are recreated with all their content.
        let is_in_whole = |path: &&PathBuf| whole.iter().any(|root| path.starts_with(root));
        wrong.extend(before.all.keys().filter(is_in_whole).chain(&whole).cloned());
        let mut found = Vec::new();
        let mut done: Vec<PathBuf> = Vec::new();
        let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
        for path in wrong {
            let (was, is) = (before.all.get(&path), now.all.get(&path));
            let is_done = done.iter().any(|done| path.starts_with(done));
            // The path is unchanged if the link on the way to it is.
            let is_behind = was.is_some_and(|was| was.kind == FormerNode::BehindALink);
            if is_done && (was.is_none() || is_behind) {
                continue;
            }
            let is_whole = whole.contains(&path);
            let Some((told, is_final)) = self.mend(&path, was, is.is_some() || is_whole, ground) else { continue };
            if let Some(to) = told.to.clone().filter(|_| is_whole) {
                moved.push((path.clone(), to));
            }
            if is_final {
                before.adopt(path.clone(), is.filter(|_| reach(&path, OFlag::O_PATH).is_ok()));
            }
            // Content is reported with its folder, unless it was lost.
            if !is_done || !told.put_back {
                found.push(told);
            }
            if !is_done {
                done.push(path);
            }
        }
        moved.iter().for_each(|(root, to)| self.carry_back(root, to));
        found
    }

    /// Returns forbidden differences, and paths with too many of them. All other differences become part of the recorded
    /// state.
    fn judge(
        &self,
        before: &mut Things,
        now: &Things,
        ground: &dyn SessionGround,
        closed: &[PathBuf],
        has_time: bool,
    ) -> (BTreeSet<PathBuf>, Vec<PathBuf>) {
        let paths: BTreeSet<PathBuf> = before.all.keys().chain(now.all.keys()).cloned().collect();
        let (mut wrong, mut counts) = (BTreeSet::new(), vec![0; closed.len()]);
        // A folder sorts before its content.
        let mut outer: Option<PathBuf> = None;
        for path in paths.into_iter().filter(|path| !now.is_beyond(path)) {
            let (was, is) = (before.all.get(&path), now.all.get(&path));
            let root = closed.iter().position(|root| path.starts_with(root));
            if root.is_some_and(|root| counts[root] > MOST_MENDED) {
                continue;
            }
            // It is moved with its folder and restored with it.
            let is_within_wrong = outer.as_ref().is_some_and(|outer| path.starts_with(outer));
            if is_within_wrong && was.is_none() {
                continue;
            }
            let is_accepted = || !is_within_wrong && ground.accepts(&path, was, is);
            if !differ(was, is) || ground.is_allowed(&path, is) || is_accepted() {
                lock(&self.suspects).remove(&path);
                before.adopt(path, is);
                continue;
            }
            if !is_within_wrong {
                root.into_iter().for_each(|root| counts[root] += 1);
                outer = Some(path.clone());
            }
            if !(has_time && ground.is_of_git(&path) && !self.is_settled(&path)) {
                lock(&self.suspects).remove(&path);
                wrong.insert(path);
            }
        }
        let many = closed.iter().zip(counts).filter(|(_, count)| *count > MOST_MENDED);
        (wrong, many.map(|(root, _)| root.clone()).collect())
    }

    /// Moves back what mounts protect and what was moved with its folder.
    fn carry_back(&self, root: &Path, from: &Path) {
        for path in &self.left_out {
            if let Ok(inner) = path.strip_prefix(root) {
                // On failure it stays with the rest.
                let _ = hands::carry(from, root, inner);
            }
        }
    }

    fn is_settled(&self, path: &Path) -> bool {
        let now = Instant::now();
        *lock(&self.suspects).entry(path.to_owned()).or_insert(now) + SETTLES <= now
    }

    /// `None` if there is nothing to do. The second value says that nothing more can be done, which is reported once.
    fn mend(
        &self,
        path: &Path,
        was: Option<&Thing>,
        is_there: bool,
        ground: &dyn SessionGround,
    ) -> Option<(SetAside, bool)> {
        let root = ground.root_of(path)?;
        let inner = path.strip_prefix(&root).ok()?;
        let deed = match (was, is_there) {
            (None, _) => Deed::Made,
            (Some(_), true) => Deed::Changed,
            (Some(_), false) => Deed::Removed,
        };
        let in_git = ground.is_of_git(path);
        let told = |path: PathBuf, deed, to, put_back| SetAside { path, deed, to, put_back, in_git, keys: Vec::new() };
        if deed != Deed::Made && !self.may_put_back(path) {
            return Some((told(path.to_owned(), deed, None, false), true));
        }
        // This includes a link or a file in place of a folder.
        let (moved, to) = hands::rename_in(&root, inner, ground.shelf_of(path).as_ref()).unzip();
        let to = to.flatten();
        let Some(was) = was.filter(|_| !ground.is_gone(path)) else {
            let is_final = to.is_none();
            return moved.map(|path| (told(path, Deed::Made, to, false), is_final));
        };
        let made = was.made().map(|what| hands::make_in(&root, inner, what, was.numbers.mode));
        let put_back = matches!(made, Some(Ok(())));
        Some((told(path.to_owned(), deed, to, put_back), made.is_none()))
    }
}

impl Things {
    pub(super) fn survey(roots: &[PathBuf], left_out: &[PathBuf], last: Option<&Things>) -> Self {
        let mut things = Self::default();
        for root in roots {
            let bytes = things.bytes;
            if things.add(root, left_out, last, 0).is_none() {
                things.all.retain(|path, _| !path.starts_with(root));
                things.bytes = bytes;
                things.beyond.push(root.clone());
            }
        }
        things
    }

    /// `None` if there is too much.
    fn add(&mut self, path: &Path, left_out: &[PathBuf], last: Option<&Things>, depth: usize) -> Option<()> {
        let handle = match reach(path, OFlag::O_PATH) {
            Ok(handle) => handle,
            Err(Errno::ENOENT | Errno::ENOTDIR) => return Some(()),
            Err(error) => {
                let kind = if error == Errno::ELOOP { FormerNode::BehindALink } else { FormerNode::Other };
                let thing = Thing { numbers: Numbers::default(), kind, seen: UNIX_EPOCH };
                self.all.insert(path.to_owned(), thing);
                return Some(());
            }
        };
        let Ok(data) = fstat(&handle) else { return Some(()) };
        if self.all.len() >= MOST_ENTRIES || depth > DEEPEST {
            return None;
        }
        let (numbers, seen) = (Numbers::of(&data), SystemTime::now());
        let known = last.and_then(|last| last.all.get(path)).filter(|known| known.still(&numbers));
        let kind = match known {
            Some(known) => known.kind.clone(),
            None => read(path, &handle, &data),
        };
        if let FormerNode::File(Some(bytes)) = &kind {
            self.bytes += bytes.len() as u64;
            if self.bytes > MOST_BYTES {
                return None;
            }
        }
        let seen = known.map_or(seen, |known| known.seen);
        let is_folder = kind == FormerNode::Folder;
        self.all.insert(path.to_owned(), Thing { numbers, kind, seen });
        if is_folder {
            for inner in names(path).iter().filter(|inner| !left_out.contains(inner)) {
                self.add(inner, left_out, last, depth + 1)?;
            }
        }
        Some(())
    }

    /// Whether nothing differs. This is the usual case, in which no permissions have to be checked.
    fn is_as(&self, before: &Self) -> bool {
        let is_same = |(path, was): (&PathBuf, &Thing)| !differ(Some(was), self.all.get(path));
        self.beyond == before.beyond && self.all.len() == before.all.len() && before.all.iter().all(is_same)
    }

    /// Whether the condition holds for a path and everything in it.
    pub(super) fn all_in(&self, place: &Path, is: impl Fn(&Path, &Thing) -> bool) -> bool {
        self.all.iter().filter(|(path, _)| path.starts_with(place)).all(|(path, thing)| is(path, thing))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Thing)> {
        self.all.iter()
    }

    /// Makes this the recorded state.
    fn adopt(&mut self, path: PathBuf, is: Option<&Thing>) {
        match is {
            Some(is) => self.all.insert(path, is.clone()),
            None => self.all.remove(&path),
        };
    }

    pub(super) fn is_beyond(&self, path: &Path) -> bool {
        self.beyond.iter().any(|beyond| path.starts_with(beyond))
    }
}

impl Thing {
    /// Whether the metadata shows that nothing has changed.
    fn still(&self, numbers: &Numbers) -> bool {
        let (seconds, nanos) = numbers.changed;
        let since = Duration::new(u64::try_from(seconds).unwrap_or_default(), u32::try_from(nanos).unwrap_or_default());
        let is_old = self.seen.duration_since(UNIX_EPOCH).is_ok_and(|seen| seen.saturating_sub(since) > GRAIN);
        self.numbers == *numbers && is_old
    }

    /// The content in a form to compare with git; `None` for a type that is never accepted.
    pub(super) fn version(thing: Option<&Self>) -> Option<PastVersion<'_>> {
        let Some(thing) = thing else { return Some(PastVersion::Nothing) };
        match &thing.kind {
            FormerNode::Folder => Some(PastVersion::Folder),
            FormerNode::File(Some(bytes)) => Some(PastVersion::File { bytes, is_executable: thing.is_executable() }),
            FormerNode::File(None) | FormerNode::Link(_) | FormerNode::BehindALink | FormerNode::Other => None,
        }
    }

    pub(super) fn mode(&self) -> u32 {
        self.numbers.mode
    }

    pub(super) fn is_folder(&self) -> bool {
        self.kind == FormerNode::Folder
    }

    /// The content of a file, if it is kept.
    pub(super) fn bytes(&self) -> Option<&Arc<[u8]>> {
        match &self.kind {
            FormerNode::File(bytes) => bytes.as_ref(),
            _ => None,
        }
    }

    pub(super) fn is_executable(&self) -> bool {
        self.numbers.mode & 0o100 != 0
    }

    fn made(&self) -> Option<Make<'_>> {
        match &self.kind {
            FormerNode::Folder => Some(Make::Folder),
            FormerNode::File(bytes) => bytes.as_deref().map(Make::File),
            FormerNode::Link(to) => Some(Make::Link(to)),
            FormerNode::BehindALink | FormerNode::Other => None,
        }
    }
}

impl Numbers {
    fn of(data: &FileStat) -> Self {
        Self {
            device: data.st_dev,
            inode: data.st_ino,
            mode: data.st_mode & 0o7777,
            size: data.st_size,
            modified: (data.st_mtime, data.st_mtime_nsec),
            changed: (data.st_ctime, data.st_ctime_nsec),
        }
    }
}

/// Compares by content, or by metadata if the content is too large to be kept.
fn differ(was: Option<&Thing>, is: Option<&Thing>) -> bool {
    match (was, is) {
        (Some(was), Some(is)) => {
            let is_held = !matches!(was.kind, FormerNode::File(None) | FormerNode::Other);
            was.kind != is.kind || was.numbers.mode != is.numbers.mode || (!is_held && was.numbers != is.numbers)
        }
        (was, is) => was.is_some() != is.is_some(),
    }
}

/// Opens a path without following links; a link at its end is itself opened.
fn reach(path: &Path, flags: OFlag) -> nix::Result<OwnedFd> {
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat2(AT_FDCWD, path, OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS))
}

fn read(path: &Path, handle: &OwnedFd, data: &FileStat) -> FormerNode {
    match SFlag::from_bits_truncate(data.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFDIR => FormerNode::Folder,
        SFlag::S_IFLNK => readlinkat(handle, "").map_or(FormerNode::Other, |to| FormerNode::Link(to.into())),
        SFlag::S_IFREG => read_file(path, data).map_or(FormerNode::Other, FormerNode::File),
        _ => FormerNode::Other,
    }
}

/// `None` if the file cannot be read, or was replaced meanwhile.
fn read_file(path: &Path, data: &FileStat) -> Option<Option<Arc<[u8]>>> {
    if u64::try_from(data.st_size).unwrap_or_default() > LARGEST {
        return Some(None);
    }
    let file = reach(path, OFlag::O_RDONLY | OFlag::O_NONBLOCK).ok()?;
    let opened = fstat(file.as_fd()).ok()?;
    if (opened.st_dev, opened.st_ino) != (data.st_dev, data.st_ino) {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(file).take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    Some((bytes.len() as u64 <= LARGEST).then(|| bytes.into()))
}

/// The entries of a folder, except those that were set aside.
fn names(folder: &Path) -> Vec<PathBuf> {
    let Ok(handle) = reach(folder, OFlag::O_RDONLY | OFlag::O_DIRECTORY) else { return Vec::new() };
    let Ok(mut entries) = Dir::from_fd(handle) else { return Vec::new() };
    let entries = entries.iter().take(MOST_ENTRIES + 2).flatten();
    let names = entries.map(|entry| std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    let names = names.filter(|name| name != "." && name != "..").map(|name| folder.join(name));
    names.filter(|path| !hands::is_set_aside(path)).collect()
}

/// Takes the lock, which is held as long as something runs. The second value says that no other omp holds it.
fn hold(workspace: &Path) -> (Option<File>, bool) {
    let Ok(folder) = File::open(workspace) else { return (None, true) };
    let is_alone = !matches!(folder.try_lock(), Err(std::fs::TryLockError::WouldBlock));
    let is_held = folder.try_lock_shared().is_ok();
    (is_held.then_some(folder), is_alone)
}
