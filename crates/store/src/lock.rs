//! One writer a session: a lock file beside the session, held through the operating system for as long as the writer
//! lives, so that a killed process never leaves a session locked. It holds the owner's process id, for the message.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::platform;

/// A stale lock file may vanish between opening and locking it; more often than this is something else.
const ATTEMPTS: usize = 16;

#[derive(Debug)]
pub(crate) struct SessionLock {
    path: PathBuf,
    _file: File,
}

#[derive(Debug)]
pub(crate) enum LockError {
    Held { pid: Option<u32> },
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
                Err(TryLockError::WouldBlock) => return Err(LockError::Held { pid: pid_in(&mut file) }),
                // Some network file systems have no locks; a session there is not worth refusing.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
            }
            if platform::is_named(&file, &path).map_err(LockError::Io)? {
                write_pid(&mut file).map_err(LockError::Io)?;
                return Ok(Self { path, _file: file });
            }
        }
        Err(LockError::Held { pid: None })
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        platform::remove_held(&self.path);
    }
}

fn lock_path(session: &Path) -> PathBuf {
    let mut name = session.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// A full disk must not keep anybody from reading on: the id is only for the message.
fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    let _ = write!(file, "{}", std::process::id());
    Ok(())
}

fn pid_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
