//! What the kernel could not keep a command from making: it is set aside when the command has ended.
//!
//! No mount can stand in a repository that is not there yet, nor for the file `commondir`, whose mere presence changes what
//! git reads. So these are looked at afterwards, and what decides about running gets another name, by handles that follow
//! no link. Where there are no mounts at all, everything that is guarded is looked at, and put back as it was.

#[cfg(target_os = "linux")]
mod back;
#[cfg(target_os = "linux")]
mod before;
mod hands;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use omp_types::{Access, AccessMap, Touch};

use crate::kept::{Deed, SetAside};
use crate::repository::Inner;
use crate::{git_config, repository};
#[cfg(target_os = "linux")]
use before::{Before, Things};
use hands::{MOST, rename_in};

/// Of all trees of a session.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    /// What the session may touch, without what is lent to calls that run.
    access: Option<Access>,
    found: Mutex<Vec<SetAside>>,
    living: Mutex<Living>,
    /// Shared by all trees that run at the same time, and what was known when it was used last.
    #[cfg(target_os = "linux")]
    before: Mutex<(Weak<Before>, Arc<Mutex<Things>>)>,
}

#[derive(Debug, Default)]
struct Living {
    watches: Vec<Weak<Watch>>,
    /// Something looks now and then.
    #[cfg(target_os = "linux")]
    is_looked_after: bool,
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
    #[cfg(target_os = "linux")]
    before: Option<Arc<Before>>,
}

#[derive(Debug)]
struct Repository {
    folder: PathBuf,
    /// Was not there.
    is_new: bool,
}

/// A longer file is not read.
const LONGEST: u64 = 64 * 1024;

impl Asides {
    pub(crate) fn of(access: Access) -> Arc<Self> {
        Arc::new(Self { access: Some(access), ..Self::default() })
    }

    /// Looks for what trees that still run have made.
    pub(crate) fn look(&self) {
        self.living().iter().for_each(|watch| watch.look());
        #[cfg(target_os = "linux")]
        self.look_back(None);
    }

    /// What was found since it was asked for last.
    pub(crate) fn take(&self) -> Vec<SetAside> {
        std::mem::take(&mut lock(&self.found))
    }

    fn living(&self) -> Vec<Arc<Watch>> {
        let mut living = lock(&self.living);
        living.watches.retain(|watch| watch.strong_count() > 0);
        living.watches.iter().filter_map(Weak::upgrade).collect()
    }

    fn tell(&self, told: Vec<SetAside>) {
        let mut found = lock(&self.found);
        let new: Vec<SetAside> = told.into_iter().filter(|told| !found.contains(told)).collect();
        found.extend(new);
        found.truncate(MOST);
    }
}

impl Watch {
    /// Before the tree starts. `open` are guarded places that nothing stands at.
    pub(crate) fn new(map: Arc<AccessMap>, open: Vec<PathBuf>, asides: &Arc<Asides>) -> Self {
        let folders = folders_of_git(&map).filter(|folder| is_within(folder, &map));
        let repositories = folders.map(|folder| Repository { folder: folder.to_owned(), is_new: !folder.is_dir() });
        let repositories: Vec<Repository> = repositories.collect();
        let inner = inner_repositories(&map).into_iter().map(|inner| inner.dot_git).collect();
        let missing = |folder: &Repository| Some(folder.folder.join("commondir")).filter(|file| !exists(file));
        let mut places: Vec<PathBuf> = repositories.iter().filter_map(missing).collect();
        places.extend(open);
        Self {
            map,
            places,
            repositories,
            inner,
            asides: asides.clone(),
            #[cfg(target_os = "linux")]
            before: None,
        }
    }

    /// From now on it is looked for what the tree makes.
    pub(crate) fn begin(self) -> Arc<Self> {
        let watch = Arc::new(self);
        lock(&watch.asides.living).watches.push(Arc::downgrade(&watch));
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
        self.asides.tell(moved);
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
        let root = root_of(path, &self.map)?;
        let (path, to) = rename_in(root, path.strip_prefix(root).ok()?)?;
        Some(SetAside { path, deed: Deed::Made, to, put_back: false })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.look();
        #[cfg(target_os = "linux")]
        self.asides.look_back(self.before.as_ref().map(|before| (before, &self.map)));
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

/// The outermost place that may be written to.
fn root_of<'a>(path: &Path, map: &'a AccessMap) -> Option<&'a Path> {
    let roots = map.writable.iter().chain([&map.workspace]).map(PathBuf::as_path);
    roots.filter(|root| path.starts_with(root)).min_by_key(|root| root.as_os_str().len())
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
    hook.extension().is_some_and(|end| end == "sample") || hands::is_set_aside(hook)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(MOST).map(|entry| entry.path()).collect()
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
