//! What the kernel could not keep a command from making, changing or removing: it is found at once or when the command has
//! ended, and set aside or put back.
//!
//! No mount can stand at a path that does not exist, and nothing is put there, for everybody would see it. So the folders
//! around such paths are watched while a command runs, and what it makes there gets another name, by handles that follow no
//! link. Where there are no mounts at all, everything that is guarded is looked at, and put back as it was. What git tracks is
//! looked at everywhere, for git has to be able to replace it.

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

/// Of all trees of a session.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    /// What the session may touch, without what is lent to calls that run.
    access: Option<Access>,
    found: Mutex<Vec<SetAside>>,
    /// Hears of each at once.
    listener: Mutex<Option<mpsc::Sender<SetAside>>>,
    living: Mutex<Living>,
    /// Held while anything looks, so that whoever asks what was found gets all of it.
    looking: Mutex<()>,
    /// Shared by all trees that run at the same time, and what was known when it was used last.
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
    /// Something looks now and then.
    #[cfg(target_os = "linux")]
    is_looked_after: bool,
}

/// Held as long as a tree runs. Dropped, it is looked for what the tree has done.
#[derive(Debug)]
pub(crate) struct TreeWatch {
    tree: Arc<WatchedTree>,
    asides: Arc<Asides>,
}

/// What one tree must not have made.
#[derive(Debug)]
struct WatchedTree {
    map: Arc<AccessMap>,
    /// Guarded, and not there when it began.
    places: Mutex<Vec<PathBuf>>,
    /// Of these, what earlier calls were allowed to make and did not make.
    lent_before: Vec<PathBuf>,
    /// Guarded folders in which something was lent to it, with what they held.
    opened: Vec<(PathBuf, BTreeSet<PathBuf>)>,
    repositories: Vec<SeenRepository>,
    /// Folders of git's that were there when it began, those of repositories within included: mounts keep them.
    known: Vec<PathBuf>,
    /// Files that lead to repositories within.
    pointers: Vec<PathBuf>,
    /// Settings of git that are kept by their keys: they are written, and put back where they run something.
    settings: Vec<PathBuf>,
    /// Guarded places that are put back as git has them, and not mounted.
    #[cfg(target_os = "linux")]
    loose: Vec<PathBuf>,
    #[cfg(target_os = "linux")]
    before: Option<Arc<Before>>,
}

#[derive(Debug)]
struct SeenRepository {
    folder: PathBuf,
    /// Was not there.
    is_new: bool,
}

/// A folder, and the name in it that counts; any name without one.
type WantedName = (PathBuf, Option<OsString>);

/// A longer file is not read.
const LONGEST: u64 = 256 * 1024;

impl Asides {
    pub(crate) fn of(access: Access) -> Arc<Self> {
        Arc::new(Self { access: Some(access), ..Self::default() })
    }

    /// Looks for what trees that still run have done.
    pub(crate) fn look(&self) {
        self.look_with(None, false);
    }

    /// The same, while there is time to wait for what is half done.
    #[cfg(target_os = "linux")]
    fn look_calmly(&self) {
        self.look_with(None, true);
    }

    /// The same for one that has just ended.
    fn look_with(&self, ended: Option<&Arc<WatchedTree>>, _has_time: bool) {
        let _looking = lock(&self.looking);
        let _maps = self.look_at_trees(ended, true);
        #[cfg(target_os = "linux")]
        self.look_back(&_maps, ended.and_then(|tree| tree.before.as_ref()), _has_time);
    }

    /// What was made, not what was changed or removed: that may be half of something that goes on.
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

    /// What was found since it was asked for last.
    pub(crate) fn take(&self) -> Vec<SetAside> {
        std::mem::take(&mut lock(&self.found))
    }

    fn tell(&self, told: Vec<SetAside>) {
        let mut found = lock(&self.found);
        let new: Vec<SetAside> = told.into_iter().filter(|told| !found.contains(told)).collect();
        if let Some(listener) = &*lock(&self.listener) {
            // Of a flood the first are enough.
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

    /// What is to be watched for all trees that run.
    #[cfg(target_os = "linux")]
    fn wanted(&self) -> Vec<WantedName> {
        let trees = lock(&self.living).trees.clone();
        trees.iter().flat_map(|tree| tree.wanted()).collect()
    }
}

impl TreeWatch {
    /// Before the tree starts.
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
        Self { tree: Arc::new(tree), asides: asides.clone() }
    }

    /// What the tree may write although it is guarded.
    pub(crate) fn settings(&self) -> &[PathBuf] {
        &self.tree.settings
    }

    /// What it may also move with the folder around it.
    pub(crate) fn pointers(&self) -> &[PathBuf] {
        &self.tree.pointers
    }

    /// What git may replace and remove although it is guarded.
    #[cfg(target_os = "linux")]
    pub(crate) fn loose(&self) -> &[PathBuf] {
        &self.tree.loose
    }

    /// From now on it is looked for what the tree does.
    pub(crate) fn begin(self) -> Self {
        lock(&self.asides.living).trees.push(self.tree.clone());
        #[cfg(target_os = "linux")]
        self.asides.notice(self.tree.wanted());
        self
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
            // Programs write a file under another name first; while it runs there is time for the rename.
            let new = new.filter(|path| is_over || open::has_settled(path));
            new.for_each(|path| open::all_but_lent(&path, &self.map, &mut found));
        }
        found.retain(|path| !self.is_allowed(path, maps));
        self.look_at_repositories(&mut found);
        found.iter().filter_map(|path| self.set_aside(path)).collect()
    }

    /// What was made as the user allowed it is theirs from then on.
    fn look_at_places(&self, maps: &Maps, found: &mut Vec<PathBuf>) {
        let mut places = lock(&self.places);
        places.retain(|place| !(exists(place) && self.is_allowed(place, maps)));
        for place in places.iter().filter(|place| exists(place) && !self.is_left_to_git(place, maps)) {
            open::all_but_lent(place, &self.map, found);
        }
    }

    /// git may be about to make it, for this tree or another: it is compared with what git has instead. What is as git has
    /// it stays when that tree has ended.
    fn is_left_to_git(&self, _place: &Path, _maps: &Maps) -> bool {
        #[cfg(target_os = "linux")]
        {
            let is_looked_at = _maps.before.iter().any(|before| before.covers(_place));
            (is_looked_at && _maps.tracked.knows(_place, _maps.until)) || _maps.tracked.made(_place, _maps.until)
        }
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// The user has allowed it, to this call or to another that ran at the same time.
    fn is_allowed(&self, path: &Path, maps: &Maps) -> bool {
        maps.may_change(path) || (maps.was_lent(path) && !self.lent_before.iter().any(|place| path.starts_with(place)))
    }

    fn set_aside(&self, path: &Path) -> Option<SetAside> {
        let root = root_of(path, &self.map)?;
        let (path, to) = rename_in(root, path.strip_prefix(root).ok()?, Shelf::of(path, &self.map).as_ref())?;
        Some(SetAside { path, deed: Deed::Made, to, put_back: false, in_git: false, keys: Vec::new() })
    }

    /// Where it can be seen at once that something was made.
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

/// Of the session with what is lent to calls, and of all trees that run.
struct Maps {
    all: Vec<Arc<AccessMap>>,
    session: Option<Access>,
    #[cfg(target_os = "linux")]
    tracked: Arc<Tracked>,
    /// What is put back for any of the trees.
    #[cfg(target_os = "linux")]
    before: Vec<Arc<Before>>,
    /// How long git's past is looked into.
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

/// Guarded paths that commands could make.
fn missing_guards(map: &AccessMap) -> Vec<PathBuf> {
    let guards = map.guarded.iter().filter(|guard| is_within(guard, map) && !map::is_in_missing_repository(guard));
    let mut missing: Vec<PathBuf> =
        guards.filter(|guard| !is_of_omp(guard, map) && is_missing(guard)).cloned().collect();
    missing.sort();
    missing.dedup();
    missing
}

/// Versions of omp before this one put empty folders and files there, marked by the sticky bit. What one of them has left
/// when it was killed is taken away.
fn is_missing(guard: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let Ok(data) = guard.symlink_metadata() else { return true };
        match data.mode() & 0o7777 {
            // Fails where it holds anything.
            0o1755 if data.is_dir() => std::fs::remove_dir(guard).is_ok(),
            0o1644 if data.is_file() && data.len() == 0 => std::fs::remove_file(guard).is_ok(),
            _ => false,
        }
    }
    #[cfg(not(target_os = "linux"))]
    !exists(guard)
}

/// omp itself writes there while commands run.
fn is_of_omp(guard: &Path, map: &AccessMap) -> bool {
    /// Hidden in omp's own folder, and nowhere else.
    const MARK_OF_OWN: &str = "secrets.key";
    let own = map.hidden.iter().filter(|hidden| hidden.ends_with(MARK_OF_OWN)).filter_map(|hidden| hidden.parent());
    map::is_own_temp_folder(guard) || own.into_iter().any(|own| own.starts_with(guard) || guard.starts_with(own))
}

/// The folder in which the first name on the way to `path` is missing, and that name; its own folder where none is.
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

/// The outermost place that may be written to.
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
