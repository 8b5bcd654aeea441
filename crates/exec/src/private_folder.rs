//! A temporary folder that only this user can access, removed when it is dropped.
//!
//! All of them are inside one folder, which containment guards: a command of one session must not write what the shell of
//! another one reads.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use omp_types::Env;

use crate::platform;
use crate::spawn::owner_mark;

/// Retries, since another omp may remove the parent folder when its own folder was the last one in it.
const TRIES: usize = 8;

/// Removed on drop, or by the watchdog if omp is killed.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    around: PathBuf,
}

impl PrivateFolder {
    pub(crate) fn create(env: &Env) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("omp-{}-{}", owner_mark(), COUNT.fetch_add(1, Ordering::Relaxed));
        let around = omp_contain::own_temp_folder(env);
        for _ in 0..TRIES {
            match Self::create_in(&around, &name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => break,
                created => return created,
            }
        }
        // The parent folder was replaced by another user or cannot be created: use its parent instead.
        let temp = around.parent().ok_or(io::ErrorKind::NotFound)?;
        let path = temp.join(name);
        Self::make(&path)?;
        Ok(Self { path, around: PathBuf::new() })
    }

    fn create_in(around: &Path, name: &str) -> io::Result<Self> {
        let path = around.join(name);
        platform::remove_if_empty(around);
        let made = builder().create(around).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(error),
        });
        let made = made.and_then(|()| is_ours(around)).and_then(|()| Self::make(&path));
        made.inspect_err(|_| platform::leave(around))?;
        Ok(Self { path, around: around.to_owned() })
    }

    /// Registers the folder with the watchdog before creating it, because omp can be killed at any moment.
    fn make(path: &Path) -> io::Result<()> {
        platform::remove_later(path);
        // Fails if the path already exists, so that nobody can prepare a folder there.
        builder().create(path).inspect_err(|_| platform::leave(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if std::fs::remove_dir_all(&self.path).is_ok() {
            platform::leave(&self.path);
        }
        // Fails as long as other folders are in it.
        let _ = std::fs::remove_dir(&self.around);
        platform::leave(&self.around);
    }
}

#[cfg(unix)]
fn builder() -> std::fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn builder() -> std::fs::DirBuilder {
    std::fs::DirBuilder::new()
}

/// Checks that this is a folder, not a link, and that no other user can write to it.
#[cfg(unix)]
fn is_ours(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let data = std::fs::symlink_metadata(folder)?;
    let ours = data.is_dir() && data.uid() == nix::unistd::geteuid().as_raw() && data.mode() & 0o022 == 0;
    if ours { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

#[cfg(not(unix))]
fn is_ours(folder: &Path) -> io::Result<()> {
    if folder.is_dir() { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn staged() -> (tempfile::TempDir, Env, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let env: Env = [("TMPDIR", temp.path().to_str().unwrap())].into_iter().collect();
        let around = omp_contain::own_temp_folder(&env);
        (temp, env, around)
    }

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).map_or(0, Iterator::count)
    }

    #[test]
    fn nothing_is_left_of_the_last_one() {
        let (temp, env, around) = staged();
        let (one, two) = (PrivateFolder::create(&env).unwrap(), PrivateFolder::create(&env).unwrap());
        assert_eq!((one.path().parent(), two.path().parent()), (Some(&*around), Some(&*around)));
        for folder in [one.path(), &around] {
            assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
        drop(one);
        assert!(two.path().is_dir());
        drop(two);
        assert_eq!(names(temp.path()), 0);
    }

    /// Cases: a link to another folder, a folder that others can write to, a file.
    #[test]
    fn what_somebody_has_put_in_its_place_is_not_used() {
        let squats: [fn(&Path, &Path); 3] = [
            |around, elsewhere| std::os::unix::fs::symlink(elsewhere, around).unwrap(),
            |around, _| {
                std::fs::create_dir(around).unwrap();
                std::fs::set_permissions(around, PermissionsExt::from_mode(0o777)).unwrap();
            },
            |around, _| std::fs::write(around, "").unwrap(),
        ];
        for squat in squats {
            let ((temp, env, around), elsewhere) = (staged(), tempfile::tempdir().unwrap());
            squat(&around, elsewhere.path());
            let folder = PrivateFolder::create(&env).unwrap();
            assert_eq!(folder.path().parent(), Some(temp.path()), "{}", folder.path().display());
            assert_eq!((names(elsewhere.path()), names(&around)), (0, 0));
            drop(folder);
            assert!(around.symlink_metadata().is_ok(), "it is theirs");
        }
    }
}
