//! Notices immediately that something was created in a watched folder: one inotify thread per session.

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, OsStr, OsString, c_int};
use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Asides, WantedName, hands, lock};

/// Maximum folders watched at the same time. A user has a few thousand watches for all programs together.
const MOST_FOLDERS: usize = 512;
/// Maximum names that count in one folder; more than any map has.
const MOST_NAMES: usize = 1_000;
/// A created name may be a folder that has to be watched as well, recursively to this depth.
const DEEPEST: usize = 16;

const MADE: u32 = libc::IN_CREATE | libc::IN_MOVED_TO | libc::IN_CLOSE_WRITE | libc::IN_DELETE | libc::IN_MOVED_FROM;
const ITSELF: u32 = libc::IN_MOVE_SELF | libc::IN_DELETE_SELF;
const HOW: u32 = libc::IN_ONLYDIR | libc::IN_DONT_FOLLOW | libc::IN_EXCL_UNLINK;

#[derive(Debug, Default)]
pub(super) enum NotifierState {
    #[default]
    NotYet,
    Runs(Notifier),
    /// The system provides no watches: periodic scans are used instead.
    None,
}

#[derive(Debug)]
pub(super) struct Notifier {
    shared: Arc<WatchedPaths>,
    /// Closed with the session, which ends the thread.
    _alive: PipeWriter,
}

#[derive(Debug)]
struct WatchedPaths {
    inotify: OwnedFd,
    table: Mutex<WatchTable>,
}

#[derive(Debug, Default)]
struct WatchTable {
    numbers: HashMap<PathBuf, c_int>,
    names: HashMap<c_int, WatchedNames>,
}

#[derive(Debug, Default)]
struct WatchedNames {
    some: HashSet<OsString>,
    any: bool,
}

impl Asides {
    /// Watches for the creation of these names. If that is not possible, periodic scans are used.
    pub(super) fn notice(self: &Arc<Self>, wanted: Vec<WantedName>) {
        let mut state = lock(&self.notifier);
        if matches!(*state, NotifierState::NotYet) {
            *state = Notifier::start(Arc::downgrade(self)).map_or(NotifierState::None, NotifierState::Runs);
        }
        let is_noticed = match &*state {
            NotifierState::Runs(notifier) => notifier.shared.add(wanted).is_some(),
            _ => wanted.is_empty(),
        };
        drop(state);
        if !is_noticed {
            self.look_now_and_then();
        }
    }

    /// Something may have been created.
    fn noticed(&self, shared: &WatchedPaths) {
        for _ in 0..DEEPEST {
            self.look_for_made();
            // Files created in a new folder before it was watched are found by the next scan.
            if shared.add(self.wanted()).is_none_or(|added| added == 0) {
                return;
            }
        }
    }
}

impl Notifier {
    fn start(asides: Weak<Asides>) -> io::Result<Self> {
        const STACK: usize = 256 * 1024;
        // SAFETY: passes only integers.
        let inotify = unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) };
        if inotify < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just created and has no other owner.
        let inotify = unsafe { OwnedFd::from_raw_fd(inotify) };
        let shared = Arc::new(WatchedPaths { inotify, table: Mutex::default() });
        let (ended, alive) = io::pipe()?;
        let thread = std::thread::Builder::new().name("omp-watch".into()).stack_size(STACK);
        let of_thread = shared.clone();
        thread.spawn(move || {
            while of_thread.wait(&ended) {
                if of_thread.read() {
                    let Some(asides) = asides.upgrade() else { return };
                    asides.noticed(&of_thread);
                }
            }
        })?;
        Ok(Self { shared, _alive: alive })
    }
}

impl WatchedPaths {
    /// The number of folders newly watched. `None` if an existing one cannot be watched.
    fn add(&self, wanted: Vec<WantedName>) -> Option<usize> {
        let mut table = lock(&self.table);
        if table.numbers.len() >= MOST_FOLDERS {
            self.clear(&mut table);
        }
        let (mut added, mut failed) = (0, false);
        for (folder, name) in wanted {
            let known = table.numbers.get(&folder).copied();
            let number = match known.map_or_else(|| self.watch(&folder), Ok) {
                Ok(number) if table.numbers.len() < MOST_FOLDERS => number,
                // The folder is gone, or is not a folder: its parent folder is watched.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) => continue,
                _ => {
                    failed = true;
                    continue;
                }
            };
            if known.is_none() {
                table.numbers.insert(folder, number);
                added += 1;
            }
            let names = table.names.entry(number).or_default();
            match name {
                Some(name) if names.some.len() < MOST_NAMES => drop(names.some.insert(name)),
                _ => names.any = true,
            }
        }
        (!failed).then_some(added)
    }

    fn watch(&self, folder: &Path) -> io::Result<c_int> {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        // SAFETY: an open descriptor, and a C string that outlives the call.
        let number = unsafe { libc::inotify_add_watch(self.inotify.as_raw_fd(), path.as_ptr(), MADE | ITSELF | HOW) };
        if number < 0 { Err(io::Error::last_os_error()) } else { Ok(number) }
    }

    fn clear(&self, table: &mut WatchTable) {
        for number in table.names.keys() {
            self.leave(*number);
        }
        *table = WatchTable::default();
    }

    fn leave(&self, number: c_int) {
        // SAFETY: passes only integers; removing a watch that no longer exists has no effect.
        unsafe { libc::inotify_rm_watch(self.inotify.as_raw_fd(), number) };
    }

    /// `false` when the session has ended.
    fn wait(&self, ended: &impl AsFd) -> bool {
        let mut both =
            [PollFd::new(self.inotify.as_fd(), PollFlags::POLLIN), PollFd::new(ended.as_fd(), PollFlags::empty())];
        match poll(&mut both, PollTimeout::NONE) {
            Err(nix::errno::Errno::EINTR) => true,
            Err(_) => false,
            Ok(_) => both[1].revents().is_none_or(|events| events.is_empty()),
        }
    }

    /// Whether any event that was read matters.
    fn read(&self) -> bool {
        /// Aligned as the kernel aligns events.
        #[repr(C, align(8))]
        struct EventSpace([u8; 16 * 1024]);
        let mut space = EventSpace([0; 16 * 1024]);
        let mut counts = false;
        loop {
            // SAFETY: the buffer has the given length.
            let read = unsafe { libc::read(self.inotify.as_raw_fd(), space.0.as_mut_ptr().cast(), space.0.len()) };
            let Ok(read) = usize::try_from(read) else { return counts };
            if read == 0 {
                return counts;
            }
            counts |= self.take_in(&space.0[..read]);
        }
    }

    fn take_in(&self, mut events: &[u8]) -> bool {
        const HEAD: usize = size_of::<libc::inotify_event>();
        let mut counts = false;
        let mut table = lock(&self.table);
        while let Some(head) = events.first_chunk::<HEAD>() {
            let field = |at: usize| head[at..at + 4].try_into().map(u32::from_ne_bytes).unwrap_or_default();
            let (number, mask, length) = (field(0).cast_signed(), field(4), field(12) as usize);
            let name = events.get(HEAD..HEAD + length).unwrap_or_default();
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            counts |= self.counts(&mut table, number, mask, OsStr::from_bytes(name));
            events = events.get(HEAD + length..).unwrap_or_default();
        }
        counts
    }

    fn counts(&self, table: &mut WatchTable, number: c_int, mask: u32, name: &OsStr) -> bool {
        if mask & (libc::IN_IGNORED | ITSELF) != 0 {
            // Its path now refers to something else, or to nothing.
            table.names.remove(&number);
            table.numbers.retain(|_, known| *known != number);
            if mask & libc::IN_IGNORED == 0 {
                self.leave(number);
            }
            return true;
        }
        let is_known =
            |names: &WatchedNames| names.some.contains(name) || (names.any && !hands::is_set_aside(Path::new(name)));
        mask & libc::IN_Q_OVERFLOW != 0 || table.names.get(&number).is_some_and(is_known)
    }
}
