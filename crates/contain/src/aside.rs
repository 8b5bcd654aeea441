//! Finds what the kernel could not keep a command from creating, changing or removing, at once or when the command has
//! ended, and sets it aside or puts it back.
//!
//! A mount needs an existing path, and nothing may be created there for it, because every program would see it. So the
//! folders of missing guarded paths are watched while a command runs, and what it creates there is renamed, with handles
//! that follow no links. If there are no mounts at all, every guarded path is checked and restored. Tracked files are
//! always handled this way, because git has to be able to replace them.

#[cfg(target_os = "linux")]
mod back;
#[cfg(target_os = "linux")]
mod before;
mod hands;
#[cfg(target_os = "linux")]
mod notify;
mod open;
mod pointers;
mod repositories;
mod settings;
mod shelf;
#[cfg(target_os = "linux")]
mod tracked;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::Weak;
use std::sync::{Arc, Mutex, PoisonError};

use omp_types::{Access, AccessMap, Touch};
use tokio::sync::mpsc;

use crate::kept::{Deed, SetAside};
use crate::map;
#[cfg(target_os = "linux")]
use before::{Before, Things};
use hands::{MOST, rename_in};
pub(crate) use open::{OpenRules, is_named, open_for_lent, open_outside};
pub(crate) use repositories::guard_inner;
use repositories::{folders_of_git, inner_repositories};
use shelf::Shelf;
#[cfg(target_os = "linux")]
pub(crate) use tracked::{Tracked, leave_tracked, names_git};

/// The files set aside by all process trees of a session.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    /// The access of the session, without temporary access lent to calls.
    access: Option<Access>,
    found: Mutex<Vec<SetAside>>,
    /// Receives each result at once.
    listener: Mutex<Option<mpsc::Sender<SetAside>>>,
    living: Mutex<Living>,
    /// Locked during a scan, so that a caller who asks for results gets all of them.
    looking: Mutex<()>,
    /// The earlier state, shared by all trees that run at the same time, and the content known from its last use.
    #[cfg(target_os = "linux")]
    before: Mutex<(Weak<Before>, Arc<Mutex<Things>>)>,
    #[cfg(target_os = "linux")]
    notifier: Mutex<notify::NotifierState>,
    #[cfg(target_os = "linux")]
    pub(crate) tracked: Arc<Tracked>,
    settings: Mutex<settings::GitSettings>,
    pointers: Mutex<pointers::Pointers>,
}

#[derive(Debug, Default)]
struct Living {
    trees: Vec<Arc<WatchedTree>>,
    /// Whether a periodic scan is running.
    #[cfg(target_os = "linux")]
    is_looked_after: bool,
}

/// What is watched for a process tree, before the tree starts.
#[derive(Debug)]
pub(crate) struct PlannedWatch {
    tree: WatchedTree,
    asides: Arc<Asides>,
}

/// Held as long as a process tree runs. Dropping it scans for what the tree has done.
#[derive(Debug)]
pub(crate) struct TreeWatch {
    tree: Arc<WatchedTree>,
    asides: Arc<Asides>,
}

/// The paths that one tree must not create.
#[derive(Debug)]
struct WatchedTree {
    map: Arc<AccessMap>,
    /// Guarded paths that did not exist when it started.
    places: Mutex<Vec<PathBuf>>,
    /// The subset that earlier calls were allowed to create and did not.
    lent_before: Vec<PathBuf>,
    /// Guarded folders in which a path was lent to it, with their entries.
    opened: Vec<(PathBuf, BTreeSet<PathBuf>)>,
    repositories: Vec<SeenRepository>,
    /// Git folders that existed when it started, including those of nested repositories: mounts protect them.
    known: Vec<PathBuf>,
    /// `.git` files that point to nested repositories.
    pointers: Vec<PathBuf>,
    /// Git settings files that are protected by key: commands can write them, and keys that run something are put back.
    settings: Vec<PathBuf>,
    /// Guarded paths that are restored from git instead of being mounted.
    #[cfg(target_os = "linux")]
    loose: Vec<PathBuf>,
    #[cfg(target_os = "linux")]
    before: Option<Arc<Before>>,
}

#[derive(Debug)]
struct SeenRepository {
    folder: PathBuf,
    /// Whether it did not exist before.
    is_new: bool,
}

/// A folder, and the name in it that counts; `None` means any name.
type WantedName = (PathBuf, Option<OsString>);

/// Larger files are not read.
const LONGEST: u64 = 256 * 1024;

impl Asides {
    pub(crate) fn of(access: Access) -> Arc<Self> {
        Arc::new(Self { access: Some(access), ..Self::default() })
    }

    /// Scans for what running trees have done.
    pub(crate) fn look(&self) {
        self.look_with(None, false);
    }

    /// Scans as [`Self::look`] does, but waits for changes in progress.
    #[cfg(target_os = "linux")]
    fn look_calmly(&self) {
        self.look_with(None, true);
    }

    /// Scans, including a tree that has just ended.
    fn look_with(&self, ended: Option<&Arc<WatchedTree>>, _has_time: bool) {
        let _looking = lock(&self.looking);
        let _maps = self.look_at_trees(ended, true);
        #[cfg(target_os = "linux")]
        self.look_back(&_maps, ended.and_then(|tree| tree.before.as_ref()), _has_time);
    }

    /// Scans for created paths only: a change or removal may be part of an operation in progress.
    #[cfg(target_os = "linux")]
    fn look_for_made(&self) {
        let _looking = lock(&self.looking);
        self.look_at_trees(None, false);
    }

    fn look_at_trees(&self, ended: Option<&Arc<WatchedTree>>, has_ended: bool) -> Maps {
        let mut trees = lock(&self.living).trees.clone();
        trees.extend(ended.cloned());
        let maps = self.maps(&trees);
        if !trees.is_empty() {
            self.look_at_pointers(&trees, &maps);
        }
        for tree in &trees {
            let is_over = ended.is_some_and(|ended| Arc::ptr_eq(ended, tree));
            let found = tree.look(&maps, is_over);
            self.tell(found);
        }
        if !trees.is_empty() {
            self.look_at_settings(&trees, &maps, has_ended);
        }
        maps
    }

    /// The results since the last call.
    pub(crate) fn take(&self) -> Vec<SetAside> {
        std::mem::take(&mut lock(&self.found))
    }

    fn tell(&self, told: Vec<SetAside>) {
        let mut found = lock(&self.found);
        let new: Vec<SetAside> = told.into_iter().filter(|told| !found.contains(told)).collect();
        if let Some(listener) = &*lock(&self.listener) {
            // If there are too many, the first ones are enough.
            new.iter().for_each(|told| drop(listener.try_send(told.clone())));
        }
        found.extend(new);
        found.truncate(MOST);
    }

    pub(crate) fn hear(&self) -> mpsc::Receiver<SetAside> {
        let (sender, receiver) = mpsc::channel(MOST);
        *lock(&self.listener) = Some(sender);
        receiver
    }

    /// The paths to watch for all running trees.
    #[cfg(target_os = "linux")]
    fn wanted(&self) -> Vec<WantedName> {
        let trees = lock(&self.living).trees.clone();
        trees.iter().flat_map(|tree| tree.wanted()).collect()
    }
}

impl PlannedWatch {
    pub(crate) fn new(map: Arc<AccessMap>, asides: &Arc<Asides>) -> Self {
        let folders = folders_of_git(&map).filter(|folder| is_within(folder, &map));
        let repositories = folders.map(|folder| SeenRepository { folder: folder.to_owned(), is_new: !folder.is_dir() });
        let inner = inner_repositories(&map).into_iter().filter(|inner| !inner.is_worktree);
        let of_git = folders_of_git(&map).filter(|folder| folder.is_dir()).map(Path::to_owned);
        let known = inner.map(|inner| inner.real_folder()).chain(of_git).collect();
        let others_run = !lock(&asides.living).trees.is_empty();
        let settings = lock(&asides.settings).survey(&map, others_run);
        lock(&asides.pointers).survey(&map, others_run);
        let pointers = pointers::all(&map);
        let is_looked_at = |place: &PathBuf| settings.contains(place) || pointers.contains(place);
        let places: Vec<PathBuf> = missing_guards(&map).into_iter().filter(|place| !is_looked_at(place)).collect();
        let was_lent = |path: &&PathBuf| asides.access.as_ref().is_some_and(|access| access.was_lent(path));
        let lent_before = places.iter().filter(was_lent).cloned().collect();
        let tree = WatchedTree {
            places: Mutex::new(places),
            lent_before,
            settings,
            opened: open::opened(&map),
            repositories: repositories.collect(),
            known,
            pointers,
            #[cfg(target_os = "linux")]
            loose: Vec::new(),
            #[cfg(target_os = "linux")]
            before: None,
            map,
        };
        Self { tree, asides: asides.clone() }
    }

    /// Guarded files that the tree may write.
    pub(crate) fn settings(&self) -> &[PathBuf] {
        &self.tree.settings
    }

    /// Guarded files that the tree may also move with their folder.
    pub(crate) fn pointers(&self) -> &[PathBuf] {
        &self.tree.pointers
    }

    /// Guarded paths that git may replace and remove.
    #[cfg(target_os = "linux")]
    pub(crate) fn loose(&self) -> &[PathBuf] {
        &self.tree.loose
    }

    /// Starts watching the tree.
    pub(crate) fn begin(self) -> TreeWatch {
        let Self { tree, asides } = self;
        let tree = Arc::new(tree);
        lock(&asides.living).trees.push(tree.clone());
        #[cfg(target_os = "linux")]
        asides.notice(tree.wanted());
        TreeWatch { tree, asides }
    }
}

impl Drop for TreeWatch {
    fn drop(&mut self) {
        lock(&self.asides.living).trees.retain(|tree| !Arc::ptr_eq(tree, &self.tree));
        self.asides.look_with(Some(&self.tree), false);
    }
}

impl WatchedTree {
    fn look(&self, maps: &Maps, is_over: bool) -> Vec<SetAside> {
        let mut found = Vec::new();
        for SeenRepository { folder, .. } in self.repositories.iter().filter(|repository| repository.is_new) {
            repositories::look_at_new(folder, &mut found);
        }
        self.look_at_places(maps, &mut found);
        for (folder, held) in &self.opened {
            let new = entries(folder).into_iter().filter(|path| !held.contains(path) && !hands::is_set_aside(path));
            // Programs write a file under another name first; while the tree runs there is time for the rename.
            let new = new.filter(|path| is_over || open::has_settled(path));
            new.for_each(|path| open::all_but_lent(&path, &self.map, &mut found));
        }
        found.retain(|path| !self.is_allowed(path, maps));
        self.look_at_repositories(&mut found);
        found.iter().filter_map(|path| self.set_aside(path)).collect()
    }

    /// A path that was created with the user's permission belongs to the user from then on.
    fn look_at_places(&self, maps: &Maps, found: &mut Vec<PathBuf>) {
        let mut places = lock(&self.places);
        places.retain(|place| !(exists(place) && self.is_allowed(place, maps)));
        for place in places.iter().filter(|place| exists(place) && !self.is_left_to_git(place, maps)) {
            open::all_but_lent(place, &self.map, found);
        }
    }

    /// Git may be about to create the path, for this tree or another: it is then compared with git's content instead. If it
    /// matches, it stays when that tree has ended.
    fn is_left_to_git(&self, _place: &Path, _maps: &Maps) -> bool {
        #[cfg(target_os = "linux")]
        {
            let is_looked_at = _maps.before.iter().any(|before| before.covers(_place));
            (is_looked_at && _maps.tracked.knows(_place, _maps.until)) || _maps.tracked.made(_place, _maps.until)
        }
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Whether the user has allowed the path, for this call or for one that ran at the same time.
    fn is_allowed(&self, path: &Path, maps: &Maps) -> bool {
        maps.may_change(path) || (maps.was_lent(path) && !self.lent_before.iter().any(|place| path.starts_with(place)))
    }

    fn set_aside(&self, path: &Path) -> Option<SetAside> {
        let root = root_of(path, &self.map)?;
        let (path, to) = rename_in(root, path.strip_prefix(root).ok()?, Shelf::of(path, &self.map).as_ref())?;
        Some(SetAside { path, deed: Deed::Made, to, put_back: false, in_git: false, keys: Vec::new() })
    }

    /// The folders in which a creation can be noticed at once.
    #[cfg(target_os = "linux")]
    fn wanted(&self) -> Vec<WantedName> {
        let mut wanted: Vec<WantedName> = self.wanted_settings();
        for place in lock(&self.places).iter().chain(&self.pointers) {
            wanted.extend(nearest(place, &self.map));
        }
        for (folder, _) in &self.opened {
            wanted.push((folder.clone(), None));
        }
        for SeenRepository { folder, .. } in self.repositories.iter().filter(|repository| repository.is_new) {
            for name in ["config", "info/attributes", "commondir", "hooks"] {
                wanted.extend(nearest(&folder.join(name), &self.map));
            }
            wanted.push((folder.join("hooks"), None));
        }
        wanted
    }
}

/// The maps of the session, including what is lent to calls, and of all running trees.
struct Maps {
    all: Vec<Arc<AccessMap>>,
    session: Option<Access>,
    #[cfg(target_os = "linux")]
    tracked: Arc<Tracked>,
    /// The earlier states to restore, of all trees.
    #[cfg(target_os = "linux")]
    before: Vec<Arc<Before>>,
    /// The deadline for searching git's history.
    #[cfg(target_os = "linux")]
    until: std::time::Instant,
}

impl Asides {
    fn maps(&self, trees: &[Arc<WatchedTree>]) -> Maps {
        let mut all: Vec<Arc<AccessMap>> = trees.iter().map(|tree| tree.map.clone()).collect();
        all.extend(self.access.as_ref().map(Access::map_with_loans));
        Maps {
            all,
            session: self.access.clone(),
            #[cfg(target_os = "linux")]
            tracked: self.tracked.clone(),
            #[cfg(target_os = "linux")]
            before: trees.iter().filter_map(|tree| tree.before.clone()).collect(),
            #[cfg(target_os = "linux")]
            until: std::time::Instant::now() + tracked::PATIENCE,
        }
    }
}

impl Maps {
    fn may_change(&self, path: &Path) -> bool {
        self.all.iter().any(|map| map.allows(Touch::Write, path).is_ok())
    }

    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        self.all.iter().find_map(|map| root_of(path, map)).map(Path::to_owned)
    }

    fn shelf_of(&self, path: &Path) -> Option<Shelf> {
        self.all.iter().find_map(|map| Shelf::of(path, map))
    }

    fn was_lent(&self, path: &Path) -> bool {
        self.session.as_ref().is_some_and(|access| access.was_lent(path))
    }
}

/// Guarded paths that do not exist and that commands could create.
fn missing_guards(map: &AccessMap) -> Vec<PathBuf> {
    let guards = map.guarded.iter().filter(|guard| is_within(guard, map) && !map::is_in_missing_repository(guard));
    let mut missing: Vec<PathBuf> =
        guards.filter(|guard| !is_of_omp(guard, map) && is_missing(guard)).cloned().collect();
    missing.sort();
    missing.dedup();
    missing
}

/// Whether the guarded path is missing. Earlier versions of omp created empty folders and files there, marked by the sticky
/// bit; any that were left by a killed omp are removed.
fn is_missing(guard: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let Ok(data) = guard.symlink_metadata() else { return true };
        match data.mode() & 0o7777 {
            // Fails if the folder is not empty.
            0o1755 if data.is_dir() => std::fs::remove_dir(guard).is_ok(),
            0o1644 if data.is_file() && data.len() == 0 => std::fs::remove_file(guard).is_ok(),
            _ => false,
        }
    }
    #[cfg(not(target_os = "linux"))]
    !exists(guard)
}

/// Whether omp itself writes to the path while commands run.
fn is_of_omp(guard: &Path, map: &AccessMap) -> bool {
    /// A file that is hidden in omp's own folder, and nowhere else.
    const MARK_OF_OWN: &str = "secrets.key";
    let own = map.hidden.iter().filter(|hidden| hidden.ends_with(MARK_OF_OWN)).filter_map(|hidden| hidden.parent());
    map::is_own_temp_folder(guard) || own.into_iter().any(|own| own.starts_with(guard) || guard.starts_with(own))
}

/// The folder in which the first missing component of `path` would be created, and its name; if none is missing, the parent
/// folder.
#[cfg(target_os = "linux")]
fn nearest(path: &Path, map: &AccessMap) -> Option<WantedName> {
    let mut at = path;
    loop {
        let folder = at.parent().filter(|folder| is_within(folder, map))?;
        if folder.is_dir() {
            return Some((folder.to_owned(), at.file_name().map(OsString::from)));
        }
        at = folder;
    }
}

fn is_within(path: &Path, map: &AccessMap) -> bool {
    map.writable.iter().chain([&map.workspace]).any(|root| path.starts_with(root))
}

/// The outermost writable folder that contains the path.
fn root_of<'a>(path: &Path, map: &'a AccessMap) -> Option<&'a Path> {
    let roots = map.writable.iter().chain([&map.workspace]).map(PathBuf::as_path);
    roots.filter(|root| path.starts_with(root)).min_by_key(|root| root.as_os_str().len())
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
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
