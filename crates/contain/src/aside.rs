//! What the kernel could not keep a command from making: it is set aside when the command has ended.
//!
//! No mount can stand in a repository that is not there yet, nor for the file `commondir`, whose mere presence changes what
//! git reads. So these are looked at afterwards, and what decides about running gets another name, by handles that follow
//! no link.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat};
use omp_types::{AccessMap, Touch};

use crate::kept::SetAside;
use crate::repository::Inner;
use crate::{git_config, repository};

/// Of all trees of a session.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    found: Mutex<Vec<SetAside>>,
    living: Mutex<Vec<Weak<Watch>>>,
}

/// What one tree must not have made. Dropped, it is looked for.
#[derive(Debug)]
pub(crate) struct Watch {
    map: Arc<AccessMap>,
    /// Were not there.
    places: Vec<PathBuf>,
    repositories: Vec<Repository>,
    /// Repositories within, which mounts keep.
    inner: Vec<PathBuf>,
    asides: Arc<Asides>,
}

#[derive(Debug)]
struct Repository {
    folder: PathBuf,
    /// Was not there.
    is_new: bool,
}

const SUFFIX: &str = "set-aside";
/// Names that are tried, files of a folder that are looked at.
const MOST: usize = 1_000;
/// A longer file is not read.
const LONGEST: u64 = 64 * 1024;

impl Asides {
    /// Looks for what trees that still run have made.
    pub(crate) fn look(&self) {
        let living: Vec<Arc<Watch>> = {
            let mut living = lock(&self.living);
            living.retain(|watch| watch.strong_count() > 0);
            living.iter().filter_map(Weak::upgrade).collect()
        };
        living.iter().for_each(|watch| watch.look());
    }

    /// What was found since it was asked for last.
    pub(crate) fn take(&self) -> Vec<SetAside> {
        std::mem::take(&mut lock(&self.found))
    }
}

impl Watch {
    /// Before the tree starts. `open` are guarded places that nothing stands at.
    pub(crate) fn new(map: Arc<AccessMap>, open: Vec<PathBuf>, asides: &Arc<Asides>) -> Arc<Self> {
        let folders = folders_of_git(&map).filter(|folder| is_within(folder, &map));
        let repositories = folders.map(|folder| Repository { folder: folder.to_owned(), is_new: !folder.is_dir() });
        let repositories: Vec<Repository> = repositories.collect();
        let inner = inner_repositories(&map).into_iter().map(|inner| inner.dot_git).collect();
        let missing = |folder: &Repository| Some(folder.folder.join("commondir")).filter(|file| !exists(file));
        let mut places: Vec<PathBuf> = repositories.iter().filter_map(missing).collect();
        places.extend(open);
        let watch = Arc::new(Self { map, places, repositories, inner, asides: asides.clone() });
        lock(&asides.living).push(Arc::downgrade(&watch));
        watch
    }

    fn look(&self) {
        let mut found = Vec::new();
        for Repository { folder, .. } in self.repositories.iter().filter(|repository| repository.is_new) {
            look_at_new(folder, &mut found);
        }
        found.extend(self.places.iter().filter(|place| exists(place)).cloned());
        // Unless the user has allowed it to this call, or it stands there for another one.
        found.retain(|path| self.map.allows(Touch::Write, path).is_err() && !stands_in(path));
        for Repository { folder, is_new } in &self.repositories {
            match folder.symlink_metadata() {
                // Leads to another one.
                Ok(data) if *is_new && !data.is_dir() => found.push(folder.clone()),
                _ => look_at_worktrees(folder, &mut found),
            }
        }
        // They may lie anywhere, also where commands may write what they like.
        let mut within = Vec::new();
        for inner in inner_repositories(&self.map).iter().filter(|inner| !self.inner.contains(&inner.dot_git)) {
            self.look_at_inner(inner, &mut within);
        }
        found.extend(within.into_iter().filter(|path| !self.map.writable.contains(path) && !stands_in(path)));
        let moved: Vec<SetAside> = found.iter().filter_map(|path| self.set_aside(path)).collect();
        lock(&self.asides.found).extend(moved);
    }

    /// git goes into it by itself from now on.
    fn look_at_inner(&self, inner: &Inner, found: &mut Vec<PathBuf>) {
        if inner.dot_git.is_symlink() {
            return found.push(inner.dot_git.clone());
        }
        let folder = omp_stdx::real_path::of(&inner.folder);
        look_at_new(&folder, found);
        let common = folder.join("commondir");
        let homes: Vec<PathBuf> = self.repositories.iter().filter_map(|it| it.folder.canonicalize().ok()).collect();
        if exists(&common) && !leads_to(&folder, &common, &homes) {
            found.push(common);
        }
    }

    fn set_aside(&self, path: &Path) -> Option<SetAside> {
        let roots = self.map.writable.iter().chain([&self.map.workspace]);
        let root = roots.filter(|root| path.starts_with(root)).min_by_key(|root| root.as_os_str().len())?;
        let (moved, to) = rename_in(root, path.strip_prefix(root).ok()?)?;
        Some(SetAside { path: moved, to })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.look();
    }
}

/// All that could run something in a repository that commands have made.
fn look_at_new(folder: &Path, found: &mut Vec<PathBuf>) {
    if !folder.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        return;
    }
    let config = folder.join("config");
    if exists(&config) && !is_plain_config(&config) {
        found.push(config);
    }
    let hooks = folder.join("hooks");
    match hooks.symlink_metadata() {
        Ok(data) if !data.is_dir() => found.push(hooks),
        Ok(_) => found.extend(entries(&hooks).into_iter().filter(|hook| !is_idle(hook))),
        Err(_) => {}
    }
    let rest = ["config.worktree", "info/attributes"].map(|name| folder.join(name));
    found.extend(rest.into_iter().filter(|path| exists(path)));
}

/// Those whose settings would be read from elsewhere.
fn look_at_worktrees(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(common) = folder.canonicalize() else { return };
    for worktree in entries(&folder.join("worktrees")) {
        let file = worktree.join("commondir");
        if exists(&file) && !leads_to(&worktree, &file, std::slice::from_ref(&common)) {
            found.push(file);
        }
    }
}

/// Whether what the file says leads from its folder to one of these.
fn leads_to(folder: &Path, file: &Path, homes: &[PathBuf]) -> bool {
    let text = omp_stdx::plain_file::read_itself(file, LONGEST).ok().and_then(|text| String::from_utf8(text).ok());
    text.and_then(|text| folder.join(text.trim_end()).canonicalize().ok()).is_some_and(|to| homes.contains(&to))
}

/// Repositories that have come to be within the workspace's own since the session began are guarded as well.
pub(crate) fn guard_inner(map: &mut Arc<AccessMap>) {
    let inner: Vec<PathBuf> = inner_repositories(map).iter().flat_map(Inner::guarded).collect();
    if inner.iter().any(|guard| !map.guarded.contains(guard)) {
        Arc::make_mut(map).guarded.extend(inner);
    }
}

/// Those that git goes into from the workspace's own.
fn inner_repositories(map: &AccessMap) -> Vec<Inner> {
    let Some(top) = repository::top_of(&map.workspace) else { return Vec::new() };
    let folders: Vec<PathBuf> = folders_of_git(map).map(Path::to_owned).collect();
    repository::inner_repositories(top, &folders)
}

fn folders_of_git(map: &AccessMap) -> impl Iterator<Item = &Path> {
    map.guarded.iter().filter(|guard| guard.ends_with(MARK_OF_GIT)).filter_map(|guard| guard.parent())
}

/// Guarded in every folder of git's, and nowhere else.
const MARK_OF_GIT: &str = "config.worktree";

fn is_within(path: &Path, map: &AccessMap) -> bool {
    map.writable.iter().chain([&map.workspace]).any(|root| path.starts_with(root))
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// For something that a tree which runs at the same time must not make.
#[cfg(target_os = "linux")]
fn stands_in(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| crate::placeholder::is_left(path, &data))
}

#[cfg(not(target_os = "linux"))]
fn stands_in(_path: &Path) -> bool {
    false
}

fn is_plain_config(path: &Path) -> bool {
    let text = omp_stdx::plain_file::read_itself(path, LONGEST).ok();
    text.and_then(|text| String::from_utf8(text).ok()).is_some_and(|text| git_config::runs_nothing(&text))
}

/// git runs hooks by their whole names.
fn is_idle(hook: &Path) -> bool {
    hook.extension().is_some_and(|end| end == "sample" || end.to_string_lossy().starts_with(SUFFIX))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(MOST).map(|entry| entry.path()).collect()
}

/// Renames `inner`, or the first link or file on the way to it, within its folder. `None` when nothing is there any more.
fn rename_in(root: &Path, inner: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut folder: OwnedFd = open(root, flags, Mode::empty()).ok()?;
    let mut path = root.to_owned();
    let mut names = inner.iter().peekable();
    while let Some(name) = names.next() {
        let kind = kind(&fstatat(&folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()?);
        if kind == SFlag::S_IFDIR && names.peek().is_some() {
            folder = openat(&folder, name, flags, Mode::empty()).ok()?;
            path.push(name);
            continue;
        }
        let name = name.to_str()?;
        let new = (1..MOST).map(|number| if number == 1 { SUFFIX.to_owned() } else { format!("{SUFFIX}-{number}") });
        let mut new = new.map(|suffix| format!("{name}.{suffix}"));
        let free = new.find(|new| fstatat(&folder, new.as_str(), AtFlags::AT_SYMLINK_NOFOLLOW).is_err())?;
        let renamed = renameat(&folder, name, &folder, free.as_str()).is_ok();
        return Some((path.join(name), renamed.then(|| path.join(free))));
    }
    None
}

fn kind(data: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(data.st_mode) & SFlag::S_IFMT
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene {
        folder: tempfile::TempDir,
        asides: Arc<Asides>,
    }

    impl Scene {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), asides: Arc::default() }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(path)
        }

        fn watch(&self) -> Arc<Watch> {
            let guarded = ["hooks", "config", "config.worktree", "info/attributes", "commondir"];
            let guarded = guarded.map(|name| self.at("work/.git").join(name)).to_vec();
            let map = AccessMap { workspace: self.at("work"), guarded, ..AccessMap::default() };
            Watch::new(Arc::new(map), Vec::new(), &self.asides)
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
            std::fs::write(self.at(path), text).unwrap();
        }

        /// What was set aside, from the workspace on.
        fn found(&self) -> Vec<String> {
            let shown = |found: SetAside| {
                assert!(found.to.is_some_and(|to| exists(&to)) && !exists(&found.path));
                found.path.strip_prefix(self.at("work")).unwrap().display().to_string()
            };
            self.asides.take().into_iter().map(shown).collect()
        }
    }

    #[test]
    fn a_new_repository_runs_nothing_that_a_command_has_put_there() {
        let scene = Scene::new();
        std::fs::create_dir(scene.at("work")).unwrap();
        let watch = scene.watch();
        scene.write("work/.git/config", "[core]\n\tbare = false\n");
        scene.write("work/.git/hooks/pre-commit.sample", "");
        drop(watch);
        assert_eq!(scene.found(), [""; 0]);
        std::fs::remove_dir_all(scene.at("work/.git")).unwrap();

        let watch = scene.watch();
        scene.write("work/.git/config", "[core]\n\tfsmonitor = evil\n");
        scene.write("work/.git/hooks/pre-commit", "evil");
        scene.write("work/.git/commondir", "../evil");
        scene.write("work/.git/info/attributes", "* filter=evil");
        scene.asides.look();
        assert_eq!(scene.found(), [".git/config", ".git/hooks/pre-commit", ".git/info/attributes", ".git/commondir"]);
        // What stands there for another command is left alone.
        scene.write("work/.git/config.worktree", "");
        let mark = std::os::unix::fs::PermissionsExt::from_mode(0o1644);
        std::fs::set_permissions(scene.at("work/.git/config.worktree"), mark).unwrap();
        // What goes on in the background is looked at again.
        scene.write("work/.git/hooks/pre-commit", "evil");
        drop(watch);
        assert_eq!(scene.found(), [".git/hooks/pre-commit"]);
        // The next command finds a repository, which is kept from it by mounts.
        let watch = scene.watch();
        scene.write("work/.git/hooks/pre-commit", "allowed by the user");
        drop(watch);
        assert_eq!(scene.found(), [""; 0]);
    }

    #[test]
    fn no_other_folder_takes_the_place_of_a_repository() {
        for plant in ["file", "link", "hooks"] {
            let scene = Scene::new();
            scene.write("work/evil/hooks/pre-commit", "evil");
            scene.write("outside/hooks/pre-commit", "the user's own");
            let watch = scene.watch();
            let link = |to: &str, at: &str| std::os::unix::fs::symlink(scene.at(to), scene.at(at)).unwrap();
            match plant {
                "file" => scene.write("work/.git", "gitdir: evil"),
                "link" => link("outside", "work/.git"),
                _ => {
                    std::fs::create_dir(scene.at("work/.git")).unwrap();
                    link("outside/hooks", "work/.git/hooks");
                }
            }
            drop(watch);
            assert_eq!(scene.found(), [if plant == "hooks" { ".git/hooks" } else { ".git" }], "{plant}");
            assert!(exists(&scene.at("outside/hooks/pre-commit")));
        }
    }

    #[test]
    fn worktrees_keep_their_repository() {
        let scene = Scene::new();
        scene.write("work/.git/worktrees/one/commondir", "../..\n");
        scene.write("work/.git/worktrees/two/commondir", "../..\n");
        std::fs::create_dir_all(scene.at("work/evil")).unwrap();
        let watch = scene.watch();
        scene.write("work/.git/worktrees/two/commondir", "../../../evil\n");
        drop(watch);
        assert_eq!(scene.found(), [".git/worktrees/two/commondir"]);
        assert!(exists(&scene.at("work/.git/worktrees/one/commondir")));
    }
}
