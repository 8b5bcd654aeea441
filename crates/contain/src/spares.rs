//! Empty folders and files that are moved to where a placeholder is needed, and back. To make and remove some twenty of them
//! for every command costs a file system much more: each is a number that has to be found and set free again.

use std::ffi::CString;
use std::fs::{self, Metadata};
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
    *lock() = Spares { folder: Some(folder), ..Spares::default() };
}

/// Moves one to `path`. `None` when there is none that could be.
pub(crate) fn stand_at(path: &Path, shape: Shape) -> Option<io::Result<()>> {
    lock().stand_at(path, shape)
}

/// Moves the placeholder away from `path`, where it is still empty. `number` is its own, where it is known.
pub(crate) fn put_away(path: &Path, shape: Shape, number: Option<(u64, u64)>) -> bool {
    lock().put_away(path, shape, number)
}

impl Spares {
    fn stand_at(&mut self, path: &Path, shape: Shape) -> Option<io::Result<()>> {
        let at = self.idle.iter().position(|(idle, _)| *idle == shape)?;
        let (_, spare) = self.idle.swap_remove(at);
        match rename_new(&spare, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.idle.push((shape, spare));
                Some(Err(error))
            }
            // It goes with its folder.
            Err(_) => None,
            Ok(()) => Some(Ok(())),
        }
    }

    fn put_away(&mut self, path: &Path, shape: Shape, number: Option<(u64, u64)>) -> bool {
        let is_its_own = |data: &Metadata| number.is_none_or(|number| number == (data.dev(), data.ino()));
        let is_empty =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|data| is_its_own(&data) && is_left(path, &data));
        let Some(folder) = self.folder.as_ref().filter(|_| self.idle.len() < MOST && is_empty(path)) else {
            return false;
        };
        let spare = folder.join(self.number.to_string());
        if rename_new(path, &spare).is_err() {
            return false;
        }
        self.number += 1;
        if is_empty(&spare) {
            self.idle.push((shape, spare));
            return true;
        }
        // Somebody has put something there in this very moment. Should they have made another one meanwhile, it lies beside it.
        let mut beside = path.as_os_str().to_owned();
        beside.push(".set-aside");
        rename_new(&spare, path).is_err() && rename_new(&spare, Path::new(&beside)).is_ok()
    }
}

/// Fails where something is there.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (CString::new(from.as_os_str().as_bytes())?, CString::new(to.as_os_str().as_bytes())?);
    let here = libc::AT_FDCWD;
    // SAFETY: C strings that outlive the call, and numbers.
    let renamed =
        unsafe { libc::syscall(libc::SYS_renameat2, here, from.as_ptr(), here, to.as_ptr(), libc::RENAME_NOREPLACE) };
    if renamed < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn lock() -> MutexGuard<'static, Spares> {
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    fn make(path: &Path) -> (u64, u64) {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o1755)).unwrap();
        let data = fs::symlink_metadata(path).unwrap();
        (data.dev(), data.ino())
    }

    #[test]
    fn one_is_used_again_for_what_it_was() {
        let (work, idle) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut spares = Spares { folder: Some(idle.path().to_owned()), ..Spares::default() };
        let (one, two) = (work.path().join("one"), work.path().join("two"));
        assert!(spares.stand_at(&one, Shape::Folder).is_none(), "there is none yet");
        let number = make(&one);
        assert!(spares.put_away(&one, Shape::Folder, Some(number)));
        assert_eq!((names(work.path()), names(idle.path())), (0, 1));
        assert!(spares.stand_at(&two, Shape::Outer).is_none() && spares.stand_at(&two, Shape::File).is_none());
        fs::write(&two, "theirs").unwrap();
        let refused = spares.stand_at(&two, Shape::Folder).unwrap().unwrap_err();
        assert_eq!((refused.kind(), names(idle.path())), (io::ErrorKind::AlreadyExists, 1));
        spares.stand_at(&one, Shape::Folder).unwrap().unwrap();
        assert_eq!(fs::symlink_metadata(&one).unwrap().ino(), number.1);
        // Without their folder they are made as ever.
        assert!(spares.put_away(&one, Shape::Folder, Some(number)));
        drop(idle);
        assert!(spares.stand_at(&one, Shape::Folder).is_none() && !one.exists());
        let number = make(&one);
        assert!(!spares.put_away(&one, Shape::Folder, Some(number)) && one.exists());
    }

    #[test]
    fn what_is_somebody_elses_stays() {
        let (work, idle) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut spares = Spares { folder: Some(idle.path().to_owned()), ..Spares::default() };
        let (one, two) = (work.path().join("one"), work.path().join("two"));
        let (number, other) = (make(&one), make(&two));
        assert!(!spares.put_away(&one, Shape::Folder, Some(other)), "another one has its place");
        fs::write(one.join("theirs"), "x").unwrap();
        assert!(!spares.put_away(&one, Shape::Folder, Some(number)) && one.join("theirs").exists());
        fs::set_permissions(&two, PermissionsExt::from_mode(0o755)).unwrap();
        assert!(!spares.put_away(&two, Shape::Outer, None), "it bears no mark");
        assert_eq!((names(work.path()), names(idle.path())), (2, 0));
    }
}
