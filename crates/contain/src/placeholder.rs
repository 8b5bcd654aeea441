//! Guarded paths that do not exist yet: something empty stands there while commands run, so that a mount can cover it.
//!
//! A folder, also where a file would be expected: git does not see empty folders, so nothing of it can be committed. Where
//! git itself looks for a file there is an empty one, as a folder would stop it. The sticky bit marks what is ours: what an
//! omp that was killed has left is taken over by the next. A lock tells other omps that a placeholder is still needed.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use crate::spares;

/// What stands for one running tree. Each goes with the last tree that needs it, if it is still empty.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    /// From the root down.
    standing: Vec<PathBuf>,
    /// Files and folders that are in the way of a guarded path: as long as they stay, it cannot come into being.
    pub(crate) in_the_way: Vec<PathBuf>,
    /// Nothing could be put there, nor can what is in the way be covered: it is a link that leads nowhere.
    pub(crate) open: Vec<PathBuf>,
}

#[derive(Debug)]
struct Stand {
    /// How many trees of this process need it.
    trees: usize,
    /// Of the placeholder itself; a folder around it has none.
    held: Option<File>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Around a placeholder.
    Outer,
    Folder,
    File,
}

type Standing = HashMap<PathBuf, Stand>;

static STANDING: LazyLock<Mutex<Standing>> = LazyLock::new(Mutex::default);

const STICKY: u32 = 0o1000;
const MODE: u32 = 0o7777;
/// Another omp may take one away in this very moment.
const TRIES: usize = 16;

impl Placeholders {
    pub(crate) fn make<'a>(guards: impl Iterator<Item = &'a Path>) -> Result<Self, String> {
        let mut made = Self::default();
        let mut standing = lock();
        for guard in guards {
            made.cover(guard, &mut standing)
                .map_err(|error| format!("{} could not be kept from being made: {error}", guard.display()))?;
        }
        Ok(made)
    }

    fn cover(&mut self, guard: &Path, standing: &mut Standing) -> io::Result<()> {
        let mut missing: Vec<&Path> = Vec::new();
        for path in guard.ancestors() {
            match fs::symlink_metadata(path) {
                Ok(data) if is_ours(path, standing) || (path == guard && is_left(path, &data)) => missing.push(path),
                Ok(_) if path == guard => return Ok(()),
                // Around those of an omp that was killed.
                Ok(data) if is_marked(&data) && data.is_dir() => missing.push(path),
                Ok(data) if data.is_dir() => break,
                Ok(data) if data.is_symlink() && path.is_dir() => break,
                Ok(data) => {
                    match data.is_symlink() {
                        true => self.open.push(guard.to_owned()),
                        false => self.in_the_way.push(path.to_owned()),
                    }
                    return Ok(());
                }
                Err(_) => missing.push(path),
            }
        }
        for path in missing.into_iter().rev() {
            let shape = if path == guard { shape_of(guard) } else { Shape::Outer };
            match stand(path, shape, standing) {
                Ok(()) => self.standing.push(path.to_owned()),
                // Somebody has made it meanwhile, or a command could not make it either.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists || is_forbidden(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        let mut standing = lock();
        for path in self.standing.drain(..).rev() {
            let Some(stand) = standing.get_mut(&path) else { continue };
            stand.trees -= 1;
            if stand.trees > 0 {
                continue;
            }
            match standing.remove(&path).and_then(|stand| stand.held) {
                None if !(spares::put_away(&path, Shape::Outer, None) || fs::remove_dir(&path).is_ok()) => leave(&path),
                None => {}
                Some(held) => take_away(&path, &held),
            }
        }
    }
}

/// One more tree needs it.
fn stand(path: &Path, shape: Shape, standing: &mut Standing) -> io::Result<()> {
    for _ in 0..TRIES {
        if let Some(stand) = standing.get_mut(path)
            && is_there(path, stand.held.as_ref())
        {
            stand.trees += 1;
            return Ok(());
        }
        let held = match shape {
            Shape::Outer => match put_there(path, shape) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => None,
            },
            Shape::Folder | Shape::File => match hold(path, shape)? {
                Some(held) => Some(held),
                None => continue,
            },
        };
        // What was there of this process has been taken away by somebody: its trees need the new one as well.
        let trees = standing.remove(path).map_or(0, |stand| stand.trees) + 1;
        standing.insert(path.to_owned(), Stand { trees, held });
        return Ok(());
    }
    Err(io::Error::other("another process makes and removes it again and again"))
}

/// Fails where something is there.
fn put_there(path: &Path, shape: Shape) -> io::Result<()> {
    spares::stand_at(path, shape).unwrap_or_else(|| match shape {
        Shape::File => File::options().write(true).create_new(true).mode(0o644 | STICKY).open(path).map(drop),
        _ => DirBuilder::new().mode(0o755 | STICKY).create(path),
    })
}

/// `None` when it has gone again meanwhile.
fn hold(path: &Path, shape: Shape) -> io::Result<Option<File>> {
    match put_there(path, shape) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::symlink_metadata(path) {
            Ok(data) if !is_left(path, &data) => return Err(error),
            _ => {}
        },
        made => made?,
    }
    let Ok(held) = File::options().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path) else { return Ok(None) };
    let is_ours = held.try_lock_shared().is_ok() && is_there(path, Some(&held));
    Ok(is_ours.then_some(held))
}

fn is_ours(path: &Path, standing: &Standing) -> bool {
    standing.get(path).is_some_and(|stand| is_there(path, stand.held.as_ref()))
}

/// Whether the path still leads to what is held.
fn is_there(path: &Path, held: Option<&File>) -> bool {
    let Ok(data) = fs::symlink_metadata(path) else { return false };
    let Some(held) = held else { return data.is_dir() };
    held.metadata().is_ok_and(|held| (held.dev(), held.ino()) == (data.dev(), data.ino()))
}

/// Unless another omp needs it, or somebody has put something there.
fn take_away(path: &Path, held: &File) {
    if held.try_lock().is_err() || !is_there(path, Some(held)) {
        return;
    }
    let Ok(data) = held.metadata() else { return };
    let (shape, number) = (if data.is_dir() { Shape::Folder } else { Shape::File }, (data.dev(), data.ino()));
    let gone = spares::put_away(path, shape, Some(number))
        || match shape {
            Shape::File => data.len() == 0 && fs::remove_file(path).is_ok(),
            _ => fs::remove_dir(path).is_ok(),
        };
    if !gone {
        // It is theirs now.
        let _ = held.set_permissions(Permissions::from_mode(data.mode() & MODE & !STICKY));
    }
}

/// Somebody has put something in it: it is theirs now.
fn leave(path: &Path) {
    if let Ok(data) = fs::symlink_metadata(path)
        && data.is_dir()
        && is_marked(&data)
        && !holds_placeholders_only(path)
    {
        let _ = fs::set_permissions(path, Permissions::from_mode(data.mode() & MODE & !STICKY));
    }
}

/// Another omp needs what is in it, and takes it away in its time.
fn holds_placeholders_only(folder: &Path) -> bool {
    let is_placeholder = |path: &Path| {
        path.symlink_metadata().is_ok_and(|data| {
            is_left(path, &data) || (data.is_dir() && is_marked(&data) && holds_placeholders_only(path))
        })
    };
    fs::read_dir(folder).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|it| is_placeholder(&it.path()))))
}

/// Whether another omp has put it there, one that was killed perhaps.
pub(crate) fn is_left(path: &Path, data: &Metadata) -> bool {
    let is_empty = match data.is_dir() {
        true => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
        false => data.is_file() && data.len() == 0,
    };
    is_empty && is_marked(data)
}

/// Not so the temp folder, which everybody may write to.
fn is_marked(data: &Metadata) -> bool {
    data.mode() & (MODE & !0o755) == STICKY
}

/// git reads these, and stops at a folder.
fn shape_of(guard: &Path) -> Shape {
    const READ_BY_GIT: &[&str] = &[".gitconfig", "config", "config.worktree", "attributes"];
    let is_read_by_git = guard.file_name().is_some_and(|name| READ_BY_GIT.iter().any(|read| name == *read));
    if is_read_by_git { Shape::File } else { Shape::Folder }
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn lock() -> MutexGuard<'static, Standing> {
    STANDING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(guards: &[PathBuf]) -> Placeholders {
        Placeholders::make(guards.iter().map(PathBuf::as_path)).unwrap()
    }

    #[test]
    fn they_stand_as_long_as_anything_runs_and_go_if_empty() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let guards = [".omp", ".claude/settings.json", ".claude/settings.local.json", ".git/info/attributes"].map(at);
        let (one, two) = (make(&guards), make(&guards));
        drop(one);
        assert!(guards[..3].iter().all(|guard| guard.is_dir()) && guards[3].is_file());
        fs::write(at(".claude/theirs"), "x").unwrap();
        fs::write(at(".omp/theirs"), "x").unwrap();
        drop(two);
        assert!(!guards[1].exists() && !guards[2].exists() && !at(".git").exists());
        assert!(at(".claude/theirs").exists() && at(".omp/theirs").exists());
        for theirs in [".omp", ".claude"] {
            assert_eq!(fs::metadata(at(theirs)).unwrap().mode() & STICKY, 0);
        }
    }

    #[test]
    fn what_a_killed_omp_has_left_goes_and_what_another_needs_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let guards = [at(".omp"), at(".mcp.json")];
        for guard in &guards {
            fs::create_dir(guard).unwrap();
            fs::set_permissions(guard, Permissions::from_mode(0o1755)).unwrap();
        }
        let of_another = File::open(at(".omp")).unwrap();
        of_another.lock_shared().unwrap();
        drop(make(&guards));
        assert!(at(".omp").exists() && !at(".mcp.json").exists());
        drop(of_another);
        drop(make(&guards));
        assert!(!at(".omp").exists());
        std::mem::forget(make(&[at(".vscode/tasks.json")]));
        lock().clear();
        drop(make(&[at(".vscode/tasks.json")]));
        assert!(!at(".vscode").exists());
        // An empty folder of the user's own is theirs.
        fs::create_dir(at(".omp")).unwrap();
        drop(make(&guards));
        assert!(at(".omp").exists());
    }

    #[test]
    fn a_folder_around_what_another_needs_stays_marked() {
        let folder = tempfile::tempdir().unwrap();
        let guard = folder.path().join(".claude/settings.json");
        // As another omp lets them stand.
        for path in [folder.path().join(".claude"), guard.clone()] {
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o1755)).unwrap();
        }
        let of_another = File::open(&guard).unwrap();
        of_another.lock_shared().unwrap();
        drop(make(std::slice::from_ref(&guard)));
        let mode = fs::metadata(folder.path().join(".claude")).unwrap().mode();
        assert!(guard.exists() && mode & STICKY != 0, "{mode:o}: it would pass for the user's");
        drop(of_another);
        drop(make(&[guard]));
        assert!(!folder.path().join(".claude").exists());
    }

    #[test]
    fn one_that_was_taken_away_is_put_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let guards = [folder.path().join(".omp")];
        let one = make(&guards);
        fs::remove_dir(&guards[0]).unwrap();
        let two = make(&guards);
        drop(one);
        assert!(guards[0].is_dir());
        drop(two);
        assert!(!guards[0].exists());
    }

    #[test]
    fn what_is_in_the_way_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::write(at(".claude"), "a file").unwrap();
        std::os::unix::fs::symlink("nowhere", at(".vscode")).unwrap();
        let made = make(&[at(".claude/settings.json"), at(".vscode/tasks.json")]);
        assert_eq!((&made.in_the_way[..], &made.open[..]), (&[at(".claude")][..], &[at(".vscode/tasks.json")][..]));
    }
}
