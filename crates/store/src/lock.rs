//! One writer per session: a lock file next to the session, locked through the operating system while the writer lives, so
//! that a killed process never leaves a session locked. It names the holder for the error message: process ID, time and
//! host, one per line.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::platform;
use crate::stamp;

/// Maximum number of attempts; a stale lock file may be removed between opening and locking it.
const ATTEMPTS: usize = 16;
/// Size limit of the holder's data.
const MOST_TOLD: u64 = 512;

#[derive(Debug)]
pub(crate) struct SessionLock {
    path: PathBuf,
    _file: File,
}

/// The writer of a session, according to the lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    pub pid: Option<u32>,
    /// As in session files: `2026-11-15T20:00:03.186Z`.
    pub since: Option<String>,
    /// Host name, if known.
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
                // Some network file systems do not support locks; a session there is opened without one.
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

/// Returns the current writer of a session, or `None` if there is none.
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

/// Writes the holder's data. Errors such as a full disk are ignored, because the data is only used in messages.
fn write_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    let (pid, since) = (std::process::id(), stamp::iso(SystemTime::now()));
    let text = format!("{pid}\n{since}\n{}\n", platform::host_name().unwrap_or_default());
    let _ = file.write_all(text.as_bytes());
    Ok(())
}
