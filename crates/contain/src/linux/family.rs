//! Commands that may see each other: those with the same map share one user namespace.
//!
//! A process can read another one's open files (`lsof -ti:8000`, `ss -p`, `fuser`) only if both are in one user namespace,
//! and it is in no Landlock domain that the other is not in. A command that was lent more than the map allows has a
//! namespace of its own.

use std::ffi::{CStr, c_int};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
use nix::libc;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork, getegid, geteuid};
use omp_types::AccessMap;

use super::door;
use super::enter::map_user;

/// One for each recently used map. A namespace exists as long as a process is in it.
const MOST: usize = 16;

/// The user namespaces of one session.
#[derive(Debug, Default)]
pub(crate) struct Families(Mutex<KnownFamilies>);

type KnownFamilies = Vec<(Arc<AccessMap>, Arc<OwnedFd>)>;

/// The user namespace for `map`, created if necessary. `None` if none can be created, or if sharing would weaken the
/// containment.
pub(super) fn of(families: &Families, map: &Arc<AccessMap>, tag: &str) -> Option<Arc<OwnedFd>> {
    let mut known = families.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, namespace)) = known.iter().find(|(other, _)| other == map) {
        return Some(namespace.clone());
    }
    if has_automounts() {
        return None;
    }
    let namespace = Arc::new(make(tag).ok()?);
    if known.len() >= MOST {
        known.remove(0);
    }
    known.push((map.clone(), namespace.clone()));
    Some(namespace)
}

/// Automounts triggered by a command appear in its view unchanged, and are writable if only mounts prevent writing. So on
/// such systems each command keeps its own file rules, and with them its own domain.
fn has_automounts() -> bool {
    let mut table = String::new();
    let read = File::open("/proc/self/mountinfo").and_then(|mut file| file.read_to_string(&mut table));
    let is_automount = |line: &str| line.contains(" - autofs ") && !line.contains(" /proc/sys/fs/binfmt_misc ");
    read.is_err() || table.lines().any(is_automount)
}

/// Forks a process that creates the namespace, sends it and exits.
fn make(tag: &str) -> io::Result<OwnedFd> {
    let (uid, gid) = (geteuid(), getegid());
    let (uid_map, gid_map) = (format!("{uid} {uid} 1"), format!("{gid} {gid} 1"));
    let (ours, theirs) = UnixStream::pair()?;
    // SAFETY: the child makes only system calls, and exits without running any code of this process.
    let child = match unsafe { fork() }? {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            let _ = new_namespace(uid_map.as_bytes(), gid_map.as_bytes(), tag.as_bytes())
                .and_then(|()| hand_out(c"/proc/self/ns/user", theirs.as_raw_fd()));
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) }
        }
    };
    drop(theirs);
    let handed = door::take(&ours);
    waitpid(child, None)?;
    handed
}

fn new_namespace(uid_map: &[u8], gid_map: &[u8], tag: &[u8]) -> io::Result<()> {
    // SAFETY: passes only an integer.
    super::enter::done(super::enter::EnterStep::Namespaces, unsafe { libc::unshare(libc::CLONE_NEWUSER) }.into())?;
    map_user(uid_map, gid_map, tag)
}

/// Opens `path` and sends the descriptor. Called between fork and exec.
pub(super) fn hand_out(path: &CStr, to: c_int) -> io::Result<()> {
    // SAFETY: a C string, and open descriptors.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 || door::send(to, file) < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::close(file);
    }
    Ok(())
}

/// Puts the calling thread, and processes started from it, into a Landlock domain whose signals and abstract sockets reach
/// nothing outside. Does nothing if the kernel does not support it.
pub fn scope_thread() {
    let scoped = || {
        let rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .scope(Scope::AbstractUnixSocket)?
            .scope(Scope::Signal)?
            .create()?;
        rules.restrict_self()
    };
    // A kernel before 6.12 supports neither, which `omp doctor` reports.
    let _: Result<_, landlock::RulesetError> = scoped();
}

/// Receives a command's own namespace, which identifies its whole tree.
#[derive(Debug)]
pub struct Herald {
    pub(super) end: UnixStream,
}

impl Herald {
    /// The namespace, once the command has started; `None` if it did not get that far.
    pub fn receive(self) -> Option<OwnedFd> {
        self.end.set_nonblocking(true).ok()?;
        door::take(&self.end).ok()
    }
}
