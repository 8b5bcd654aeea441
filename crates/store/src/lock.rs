//! One writer a session: a lock file beside the session, held through the operating system for as long as the writer
//! lives, so that a killed process never leaves a session locked. It tells who holds it, for the message: process id,
//! time and host, a line each.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::platform;
use crate::stamp;

/// A stale lock file may vanish between opening and locking it; more often than this is something else.
const ATTEMPTS: usize = 16;
/// No holder writes more than this about itself.
const MOST_TOLD: u64 = 512;

#[derive(Debug)]
pub(crate) struct SessionLock {
    path: PathBuf,
    _file: File,
}

/// Who writes to a session, as far as the lock file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    pub pid: Option<u32>,
    /// As in session files: `2026-11-15T20:00:03.186Z`.
    pub since: Option<String>,
    /// The machine, where it can be learned.
    pub host: Option<String>,
}

#[derive(Debug)]
pub(crate) enum LockError {
    Held(Holder),
    Io(io::Error),
}

impl SessionLock {
    pub fn acquire(session: &Path) -> Result<Self, LockError> {
        let path = lock_path(session);
        for _ in 0..ATTEMPTS {
            let options = platform::private_file().create(true).truncate(false).read(true).write(true).clone();
            let mut file = options.open(&path).map_err(LockError::Io)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Held(Holder::in_file(&mut file))),
                // Some network file systems have no locks; a session there is not worth refusing.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
            }
            if platform::is_named(&file, &path).map_err(LockError::Io)? {
                write_holder(&mut file).map_err(LockError::Io)?;
                return Ok(Self { path, _file: file });
            }
        }
        Err(LockError::Held(Holder::default()))
    }
}

/// Who writes to a session at this moment; `None` when nobody does.
pub fn in_use(session: &Path) -> Option<Holder> {
    let mut file = File::open(lock_path(session)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(Holder::in_file(&mut file)),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        platform::remove_held(&self.path);
    }
}

impl Holder {
    fn in_file(file: &mut File) -> Self {
        let mut text = String::new();
        let _ = file.take(MOST_TOLD).read_to_string(&mut text);
        let mut lines = text.lines().map(str::trim);
        let mut next = || lines.next().filter(|line| !line.is_empty());
        Self {
            pid: next().and_then(|pid| pid.parse().ok()),
            since: next().map(str::to_owned),
            host: next().map(str::to_owned),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elsewhere = self.host.as_ref().filter(|host| platform::host_name().as_ref() != Some(*host));
        let parts = [
            self.pid.map(|pid| format!("process {pid}")),
            elsewhere.map(|host| format!("on {host}")),
            self.since.as_ref().map(|since| format!("since {since}")),
        ];
        let known: Vec<String> = parts.into_iter().flatten().collect();
        if known.is_empty() { f.write_str("another omp") } else { write!(f, "another omp ({})", known.join(", ")) }
    }
}

fn lock_path(session: &Path) -> PathBuf {
    let mut name = session.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// A full disk must not keep anybody from reading on: this is only for the message.
fn write_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    let (pid, since) = (std::process::id(), stamp::iso(SystemTime::now()));
    let text = format!("{pid}\n{since}\n{}\n", platform::host_name().unwrap_or_default());
    let _ = file.write_all(text.as_bytes());
    Ok(())
}
