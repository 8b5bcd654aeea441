//! The folder for files that were set aside in a repository: inside the git folder, so that `git add -A` does not add them.
//!
//! Commands may write there. So it is opened with handles that follow no links, and its content is never trusted.

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fstat, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use omp_types::AccessMap;

use super::hands::{MOST, moment, named, open_in, open_root};
use super::repositories::folders_of_git;
use super::{is_within, root_of};
use crate::repository;

const NAME: &str = "omp-set-aside";
/// Maximum files kept; the oldest is removed.
const KEPT: usize = 100;
/// Maximum entries removed within one of them; if there are more, the rest stays.
const MOST_REMOVED: usize = 10_000;
/// Maximum folder depth.
const DEEPEST: usize = 64;

/// The folder, inside the outermost writable folder.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    root: PathBuf,
    inner: PathBuf,
}

impl Shelf {
    /// The shelf for a path in the repository's work tree or git folder. `None` if that may not be written.
    pub(super) fn of(path: &Path, map: &AccessMap) -> Option<Self> {
        let top = repository::top_of(&map.workspace)?;
        let own = repository::folder_of(top);
        // The git folder of a worktree is removed with the worktree, so the common one is used.
        let known = folders_of_git(map).filter(|git| own.starts_with(git) && is_within(git, map));
        let git = known.min_by_key(|git| git.as_os_str().len())?;
        let root = root_of(git, map).filter(|_| path.starts_with(top) || path.starts_with(git))?;
        Some(Self { root: root.to_owned(), inner: git.strip_prefix(root).ok()?.to_owned() })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.root.join(&self.inner).join(NAME)
    }

    /// Moves `name` out of its folder. Returns its new path; `None` if it was not moved.
    pub(super) fn put(&self, folder: &OwnedFd, name: &OsStr) -> Option<PathBuf> {
        /// Another omp may have taken the name.
        const TRIES: usize = 8;
        for _ in 0..TRIES {
            let (shelf, free) = self.room_for(name).ok()?;
            match rename_new(folder, name, &shelf, &free) {
                Ok(()) => return Some(self.path().join(free)),
                Err(Errno::EEXIST) => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// The folder, and an unused name in it.
    pub(super) fn room_for(&self, name: &OsStr) -> io::Result<(OwnedFd, OsString)> {
        let shelf = self.open()?;
        make_room(&shelf);
        let numbered = |number: usize| match number {
            1 => name.to_owned(),
            _ => named(name, &format!("-{number}")),
        };
        let is_free = |new: &OsString| fstatat(&shelf, new.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW).is_err();
        let free = (1..=MOST).map(numbered).find(is_free);
        Ok((shelf, free.unwrap_or_else(|| named(name, &format!("-{}", moment())))))
    }

    /// Opens the folder, creating it if necessary.
    fn open(&self) -> io::Result<OwnedFd> {
        let mut folder = open_root(&self.root)?;
        for name in &self.inner {
            folder = open_in(&folder, name)?;
        }
        match mkdirat(&folder, NAME, Mode::from_bits_truncate(0o700)) {
            Ok(()) | Err(Errno::EEXIST) => Ok(open_in(&folder, OsStr::new(NAME))?),
            Err(error) => Err(error.into()),
        }
    }
}

/// Fails if the name exists.
#[cfg(target_os = "linux")]
fn rename_new(from: &OwnedFd, name: &OsStr, to: &OwnedFd, free: &OsStr) -> nix::Result<()> {
    use nix::fcntl::{RenameFlags, renameat2};
    match renameat2(from, name, to, free, RenameFlags::RENAME_NOREPLACE) {
        // Not every file system supports this flag.
        Err(Errno::EINVAL | Errno::ENOSYS) => renameat(from, name, to, free),
        result => result,
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_new(from: &OwnedFd, name: &OsStr, to: &OwnedFd, free: &OsStr) -> nix::Result<()> {
    renameat(from, name, to, free)
}

/// Removes the oldest until there is room for one more.
fn make_room(shelf: &OwnedFd) {
    let Ok(names) = names(shelf) else { return };
    if names.len() < KEPT {
        return;
    }
    let age = |name: &OsString| {
        let data = fstatat(shelf, name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW);
        // The time at which it was moved here.
        data.map_or((i64::MIN, 0), |data| (data.st_ctime, data.st_ctime_nsec))
    };
    let mut old: Vec<_> = names.into_iter().map(|name| (Reverse(age(&name)), name)).collect();
    old.sort();
    for (_, name) in old.iter().skip(KEPT - 1) {
        let mut left = MOST_REMOVED;
        // One that cannot be removed stays.
        let _ = remove(shelf, name, &mut left, 0);
    }
}

fn remove(folder: &OwnedFd, name: &OsStr, left: &mut usize, depth: usize) -> nix::Result<()> {
    *left = left.checked_sub(1).filter(|_| depth < DEEPEST).ok_or(Errno::E2BIG)?;
    match unlinkat(folder, name, UnlinkatFlags::NoRemoveDir) {
        Err(Errno::EISDIR | Errno::EPERM) => {}
        result => return result,
    }
    let inner = open_in(folder, name)?;
    if fstat(&inner)?.st_dev != fstat(folder)?.st_dev {
        return Err(Errno::EXDEV);
    }
    loop {
        let names = names(&inner)?;
        if names.is_empty() {
            return unlinkat(folder, name, UnlinkatFlags::RemoveDir);
        }
        for name in names {
            remove(&inner, &name, left, depth + 1)?;
        }
    }
}

/// The names, up to the scan limit.
fn names(folder: &OwnedFd) -> nix::Result<Vec<OsString>> {
    let mut entries = Dir::from_fd(openat(folder, ".", OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?)?;
    let names = entries.iter().flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    Ok(names.filter(|name| name != "." && name != "..").take(MOST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene(tempfile::TempDir);

    impl Scene {
        fn new() -> Self {
            let scene = Self(tempfile::tempdir().unwrap());
            for folder in ["work/.git", "outside"] {
                std::fs::create_dir_all(scene.at(folder)).unwrap();
            }
            scene
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(path)
        }

        fn shelf(&self, path: &str) -> Option<Shelf> {
            let guarded = vec![self.at("work/.git/config.worktree"), self.at("work/lib/.git/config.worktree")];
            let writable = vec![self.at("outside")];
            let map = AccessMap { workspace: self.at("work"), guarded, writable, ..AccessMap::default() };
            Shelf::of(&self.at(path), &map)
        }

        /// The new path, relative to the top.
        fn put(&self, name: &str) -> Option<String> {
            let to = self.shelf("work/x")?.put(&open_root(&self.at("work")).unwrap(), OsStr::new(name))?;
            Some(to.strip_prefix(self.at("")).unwrap().display().to_string())
        }
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        let scene = Scene::new();
        for to in ["a", "a-2", "a-3"] {
            std::fs::write(scene.at("work/a"), to).unwrap();
            assert_eq!(scene.put("a"), Some(format!("work/.git/omp-set-aside/{to}")));
        }
        std::fs::create_dir(scene.at("work/b")).unwrap();
        assert_eq!(scene.put("b").as_deref(), Some("work/.git/omp-set-aside/b"));
        assert_eq!(scene.put("missing"), None);
        assert_eq!(std::fs::read_to_string(scene.at("work/.git/omp-set-aside/a")).unwrap(), "a");
        // A path outside the repository has no shelf.
        assert!(scene.shelf("outside/x").is_none() && scene.shelf("work/.git/x").is_some());
    }

    #[test]
    fn no_link_leads_it_elsewhere() {
        for (link, to) in [("work/.git/omp-set-aside", "outside"), ("work/.git", "outside")] {
            let scene = Scene::new();
            let _ = std::fs::remove_dir(scene.at(link));
            std::os::unix::fs::symlink(scene.at(to), scene.at(link)).unwrap();
            std::fs::write(scene.at("work/a"), "").unwrap();
            assert_eq!(scene.put("a"), None, "{link}");
            assert!(scene.at("work/a").exists());
            assert_eq!(std::fs::read_dir(scene.at("outside")).unwrap().count(), 0, "{link}");
        }
        // The same holds when the oldest are removed.
        let scene = Scene::new();
        std::fs::write(scene.at("outside/kept"), "").unwrap();
        std::fs::create_dir_all(scene.at("work/.git/omp-set-aside/old/er")).unwrap();
        std::os::unix::fs::symlink(scene.at("outside"), scene.at("work/.git/omp-set-aside/old/er/link")).unwrap();
        for number in 0..KEPT + 5 {
            std::fs::write(scene.at("work/a"), number.to_string()).unwrap();
            scene.put("a").unwrap();
        }
        let kept = std::fs::read_dir(scene.at("work/.git/omp-set-aside")).unwrap();
        let texts: Vec<String> = kept.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        assert_eq!(texts.len(), KEPT);
        assert!(texts.contains(&(KEPT + 4).to_string()) && !texts.contains(&"0".to_owned()));
        assert!(scene.at("outside/kept").exists());
    }
}
