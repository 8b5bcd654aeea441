//! Empty folders and files that are moved to where a placeholder is needed, and back. To make and remove some twenty of them
//! for every command costs a file system much more: each is a number that has to be found and set free again.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::libc;

use crate::placeholder::{Shape, is_left};

#[derive(Default)]
struct Spares {
    folder: Option<PathBuf>,
    /// A folder that commands could write to stays one.
    idle: Vec<(Shape, PathBuf)>,
    /// Of the next name.
    number: u64,
}

static SPARES: Mutex<Spares> = Mutex::new(Spares { folder: None, idle: Vec::new(), number: 0 });

/// More are removed.
const MOST: usize = 64;

/// From now on they wait in `folder`, which only this process uses and no command may write to. Where it lies on another file
/// system, or has gone, placeholders are made and removed.
pub fn keep_spares_in(folder: PathBuf) {
    let mut spares = lock();
    spares.idle.clear();
    spares.folder = Some(folder);
}

/// Moves one to `path`. `None` when there is none that could be.
pub(crate) fn stand_at(path: &Path, shape: Shape) -> Option<io::Result<()>> {
    let mut spares = lock();
    let at = spares.idle.iter().position(|(idle, _)| *idle == shape)?;
    let (_, spare) = spares.idle.swap_remove(at);
    match rename_new(&spare, path) {
        Ok(()) => Some(Ok(())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            spares.idle.push((shape, spare));
            Some(Err(error))
        }
        // It goes with its folder.
        Err(_) => None,
    }
}

/// Moves the placeholder away from `path`, where it is still empty. `number` is its own, where it is known.
pub(crate) fn put_away(path: &Path, shape: Shape, number: Option<(u64, u64)>) -> bool {
    let is_empty = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|data| {
            is_left(path, &data) && number.is_none_or(|number| number == (data.dev(), data.ino()))
        })
    };
    let mut spares = lock();
    let Some(folder) = spares.folder.as_ref().filter(|_| spares.idle.len() < MOST && is_empty(path)) else {
        return false;
    };
    let spare = folder.join(spares.number.to_string());
    if rename_new(path, &spare).is_err() {
        return false;
    }
    spares.number += 1;
    if is_empty(&spare) {
        spares.idle.push((shape, spare));
        return true;
    }
    // Somebody has put something there in this very moment. Should they have made another one meanwhile, it lies beside it.
    let mut beside = path.as_os_str().to_owned();
    beside.push(".set-aside");
    rename_new(&spare, path).is_err() && rename_new(&spare, Path::new(&beside)).is_ok()
}

/// Fails where something is there.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (CString::new(from.as_os_str().as_bytes())?, CString::new(to.as_os_str().as_bytes())?);
    let here = libc::AT_FDCWD;
    // SAFETY: C strings that outlive the call, and numbers.
    let renamed = unsafe {
        libc::syscall(libc::SYS_renameat2, here, from.as_ptr(), here, to.as_ptr(), libc::RENAME_NOREPLACE)
    };
    if renamed < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn lock() -> MutexGuard<'static, Spares> {
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}
