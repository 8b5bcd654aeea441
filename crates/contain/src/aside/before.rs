//! How guarded places were before commands ran, where no mount keeps them: what is otherwise afterwards is put back.
//!
//! A look costs little: what has the same numbers as before (size, times, inode) is not read. Small files are held in
//! memory, up to a limit. Every path is reached without following a link, so a link on the way counts as a change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2, readlinkat};
use nix::sys::stat::{FileStat, SFlag, fstat};

use super::hands::{self, Make};
use super::lock;
use super::shelf::Shelf;
use crate::kept::{Deed, SetAside};

/// A longer file is known by its numbers only: its change is seen, and what it was is lost.
const LARGEST: u64 = 256 * 1024;
/// Of all files together.
const MOST_BYTES: u64 = 4 << 20;
/// Of all places together.
const MOST_ENTRIES: usize = 2_000;
/// Folders within each other.
const DEEPEST: usize = 8;
/// Times have a grain: what was changed this short a time before it was looked at is read again.
const GRAIN: Duration = Duration::from_millis(100);

/// As long as anything runs that could have changed it.
#[derive(Debug)]
pub(super) struct Before {
    roots: Vec<PathBuf>,
    things: Arc<Mutex<Things>>,
    /// Whether nothing ran of any omp when it was looked at. Otherwise it may be an attacker's work, and is not put back.
    is_clean: bool,
    /// Tells other omps that something runs.
    _lock: Option<File>,
}

#[derive(Debug, Default)]
pub(super) struct Things {
    all: BTreeMap<PathBuf, Thing>,
    /// Hold more than is kept.
    pub(super) beyond: Vec<PathBuf>,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct Thing {
    numbers: Numbers,
    kind: Kind,
    seen: SystemTime,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    /// Without its bytes where it is too large.
    File(Option<Arc<[u8]>>),
    Link(PathBuf),
    /// A link is on the way to it.
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

/// What it needs to know of the session.
pub(super) trait Ground {
    /// The user has allowed it.
    fn may_change(&self, path: &Path) -> bool;
    /// The writable place that it is in.
    fn root_of(&self, path: &Path) -> Option<PathBuf>;
    /// Where it goes when it is set aside.
    fn shelf_of(&self, path: &Path) -> Option<Shelf>;
    /// A folder of git's that is not there any more needs nothing of what was in it.
    fn is_gone(&self, path: &Path) -> bool;
}

impl Before {
    /// Before anything runs. What has the same numbers as in `last` is not read again.
    pub(super) fn survey(roots: Vec<PathBuf>, workspace: &Path, last: Option<&Things>) -> Self {
        let (held, is_clean) = hold(workspace);
        let things = Things::survey(&roots, last);
        Self { roots, things: Arc::new(Mutex::new(things)), is_clean, _lock: held }
    }

    pub(super) fn things(&self) -> Arc<Mutex<Things>> {
        self.things.clone()
    }

    /// Puts back what is otherwise, and tells it.
    pub(super) fn look(&self, ground: &dyn Ground) -> Vec<SetAside> {
        let mut before = lock(&self.things);
        let now = Things::survey(&self.roots, Some(&before));
        let mut found = Vec::new();
        // What was renamed or made again, with all that is in it.
        let mut done: Vec<PathBuf> = Vec::new();
        let paths: BTreeSet<PathBuf> = before.all.keys().chain(now.all.keys()).cloned().collect();
        for path in paths {
            let (was, is) = (before.all.get(&path), now.all.get(&path));
            let is_done = done.iter().any(|done| path.starts_with(done));
            // With the link on the way to it, it is as it was.
            let is_behind = was.is_some_and(|was| was.kind == Kind::BehindALink);
            if now.is_beyond(&path) || (is_done && (was.is_none() || is_behind)) {
                continue;
            }
            if !differ(was, is) || ground.may_change(&path) {
                before.adopt(path, is);
                continue;
            }
            let Some((told, is_final)) = self.mend(&path, was, is.is_some(), ground) else { continue };
            found.extend((!is_done).then_some(told));
            if is_final {
                before.adopt(path.clone(), is.filter(|_| reach(&path, OFlag::O_PATH).is_ok()));
            }
            done.push(path);
        }
        found
    }

    /// `None` where nothing is to be done about it. The second says that nothing more can be done: it is told once.
    fn mend(&self, path: &Path, was: Option<&Thing>, is_there: bool, ground: &dyn Ground) -> Option<(SetAside, bool)> {
        let root = ground.root_of(path)?;
        let inner = path.strip_prefix(&root).ok()?;
        let deed = match (was, is_there) {
            (None, _) => Deed::Made,
            (Some(_), true) => Deed::Changed,
            (Some(_), false) => Deed::Removed,
        };
        if deed != Deed::Made && !self.is_clean {
            return Some((SetAside { path: path.to_owned(), deed, to: None, put_back: false, keys: Vec::new() }, true));
        }
        // Also what is in its way: a link or a file in the place of a folder.
        let (moved, to) = hands::rename_in(&root, inner, ground.shelf_of(path).as_ref()).unzip();
        let to = to.flatten();
        let Some(was) = was.filter(|_| !ground.is_gone(path)) else {
            let is_final = to.is_none();
            return moved
                .map(|path| (SetAside { path, deed: Deed::Made, to, put_back: false, keys: Vec::new() }, is_final));
        };
        let made = was.made().map(|what| hands::make_in(&root, inner, what, was.numbers.mode));
        let put_back = matches!(made, Some(Ok(())));
        Some((SetAside { path: path.to_owned(), deed, to, put_back, keys: Vec::new() }, made.is_none()))
    }
}

impl Things {
    fn survey(roots: &[PathBuf], last: Option<&Things>) -> Self {
        let mut things = Self::default();
        for root in roots {
            let bytes = things.bytes;
            if things.add(root, last, 0).is_none() {
                things.all.retain(|path, _| !path.starts_with(root));
                things.bytes = bytes;
                things.beyond.push(root.clone());
            }
        }
        things
    }

    /// `None` where it is too much.
    fn add(&mut self, path: &Path, last: Option<&Things>, depth: usize) -> Option<()> {
        let handle = match reach(path, OFlag::O_PATH) {
            Ok(handle) => handle,
            Err(Errno::ENOENT | Errno::ENOTDIR) => return Some(()),
            Err(error) => {
                let kind = if error == Errno::ELOOP { Kind::BehindALink } else { Kind::Other };
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
        if let Kind::File(Some(bytes)) = &kind {
            self.bytes += bytes.len() as u64;
            if self.bytes > MOST_BYTES {
                return None;
            }
        }
        let seen = known.map_or(seen, |known| known.seen);
        let is_folder = kind == Kind::Folder;
        self.all.insert(path.to_owned(), Thing { numbers, kind, seen });
        if is_folder {
            for inner in names(path) {
                self.add(&inner, last, depth + 1)?;
            }
        }
        Some(())
    }

    /// From now on this is how it was.
    fn adopt(&mut self, path: PathBuf, is: Option<&Thing>) {
        match is {
            Some(is) => self.all.insert(path, is.clone()),
            None => self.all.remove(&path),
        };
    }

    fn is_beyond(&self, path: &Path) -> bool {
        self.beyond.iter().any(|beyond| path.starts_with(beyond))
    }
}

impl Thing {
    /// Whether these numbers tell that nothing has changed.
    fn still(&self, numbers: &Numbers) -> bool {
        let (seconds, nanos) = numbers.changed;
        let since = Duration::new(u64::try_from(seconds).unwrap_or_default(), u32::try_from(nanos).unwrap_or_default());
        let is_old = self.seen.duration_since(UNIX_EPOCH).is_ok_and(|seen| seen.saturating_sub(since) > GRAIN);
        self.numbers == *numbers && is_old
    }

    fn made(&self) -> Option<Make<'_>> {
        match &self.kind {
            Kind::Folder => Some(Make::Folder),
            Kind::File(bytes) => bytes.as_deref().map(Make::File),
            Kind::Link(to) => Some(Make::Link(to)),
            Kind::BehindALink | Kind::Other => None,
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

/// By what they are; of what is too large to be held, by its numbers.
fn differ(was: Option<&Thing>, is: Option<&Thing>) -> bool {
    match (was, is) {
        (Some(was), Some(is)) => {
            let is_held = !matches!(was.kind, Kind::File(None) | Kind::Other);
            was.kind != is.kind || was.numbers.mode != is.numbers.mode || (!is_held && was.numbers != is.numbers)
        }
        (was, is) => was.is_some() != is.is_some(),
    }
}

/// Without following any link; a link at its end is opened itself.
fn reach(path: &Path, flags: OFlag) -> nix::Result<OwnedFd> {
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat2(AT_FDCWD, path, OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS))
}

fn read(path: &Path, handle: &OwnedFd, data: &FileStat) -> Kind {
    match SFlag::from_bits_truncate(data.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFDIR => Kind::Folder,
        SFlag::S_IFLNK => readlinkat(handle, "").map_or(Kind::Other, |to| Kind::Link(to.into())),
        SFlag::S_IFREG => read_file(path, data).map_or(Kind::Other, Kind::File),
        _ => Kind::Other,
    }
}

/// `None` where it cannot be read, or is another by now.
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

/// What a folder holds, but for what was set aside in it.
fn names(folder: &Path) -> Vec<PathBuf> {
    let Ok(handle) = reach(folder, OFlag::O_RDONLY | OFlag::O_DIRECTORY) else { return Vec::new() };
    let Ok(mut entries) = Dir::from_fd(handle) else { return Vec::new() };
    let entries = entries.iter().take(MOST_ENTRIES + 2).flatten();
    let names = entries.map(|entry| std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    let names = names.filter(|name| name != "." && name != "..").map(|name| folder.join(name));
    names.filter(|path| !hands::is_set_aside(path)).collect()
}

/// Held as long as something runs. The second tells that no other omp holds it.
fn hold(workspace: &Path) -> (Option<File>, bool) {
    let Ok(folder) = File::open(workspace) else { return (None, true) };
    let is_alone = !matches!(folder.try_lock(), Err(std::fs::TryLockError::WouldBlock));
    let is_held = folder.try_lock_shared().is_ok();
    (is_held.then_some(folder), is_alone)
}
