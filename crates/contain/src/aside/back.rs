//! Restores guarded paths for all trees of a session together: they share the state before the first of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use omp_types::{Access, AccessMap};

use super::before::{Before, SessionGround, Thing};
use super::repositories::MARK_OF_GIT;
use super::shelf::Shelf;
use super::{Asides, Maps, PlannedWatch, is_of_omp, is_within, lock};
use crate::kept::{Deed, SetAside};
use crate::map;

/// The scan interval while anything runs. A planted file affects the user's own programs until it is found.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Editors write this file by themselves all the time.
const OF_EDITORS: &str = ".idea/workspace.xml";

impl PlannedWatch {
    /// Restores every guarded path, because nothing prevents the tree from changing it.
    pub(crate) fn put_back_all(self) -> Self {
        let map = self.begun();
        let is_looked_at = |guard: &PathBuf| self.tree.settings.contains(guard) || self.tree.pointers.contains(guard);
        let guards = map.guarded.iter().chain(&map.links).filter(|guard| !is_looked_at(guard));
        let places = guards.filter(|guard| is_put_back(guard, &map)).cloned();
        let (before, beyond) = self.asides.before((places.collect(), Vec::new()), &map);
        let unwatched =
            |path| SetAside { path, deed: Deed::Unwatched, to: None, put_back: false, in_git: false, keys: Vec::new() };
        self.asides.tell(beyond.into_iter().map(unwatched).collect());
        self.with(before, true)
    }

    /// Restores paths that cannot be mounted: links to guarded paths and, if git runs, files that git replaces.
    pub(crate) fn put_back_some(self, runs_git: bool) -> Self {
        let map = self.begun();
        let tracked = if runs_git { self.asides.tracked.places() } else { Vec::new() };
        if self.tree.map.links.is_empty() && tracked.is_empty() {
            return self;
        }
        // Links beside a lent path are only in the map of the tree.
        let links: BTreeSet<PathBuf> = map.links.iter().chain(&self.tree.map.links).cloned().collect();
        let beside = tracked.iter().flat_map(|place| self.asides.tracked.beside(place).unwrap_or_default()).collect();
        let (before, _) = self.asides.before((links.into_iter().chain(tracked).collect(), beside), &map);
        self.with(before, runs_git)
    }

    /// The map of the session. What git tracks is recorded with its first tree.
    fn begun(&self) -> Arc<AccessMap> {
        let map = self.asides.session_map().unwrap_or_else(|| self.tree.map.clone());
        self.asides.tracked.begin(&map);
        map
    }

    fn with(mut self, before: Arc<Before>, runs_git: bool) -> Self {
        let tracked = &self.asides.tracked;
        let is_loose = |guard: &&PathBuf| {
            let is_tracked = runs_git && tracked.is_place(guard) && tracked.tracks(guard);
            is_tracked && before.holds(guard) && tracked.beside(guard).is_some()
        };
        let loose: Vec<PathBuf> = self.tree.map.guarded.iter().filter(is_loose).cloned().collect();
        self.tree.opened.retain(|(folder, _)| !loose.iter().any(|place| folder.starts_with(place)));
        self.tree.loose = loose;
        self.tree.before = Some(before);
        self
    }
}

impl Asides {
    /// The session's map without temporary access lent to calls.
    pub(crate) fn session_map(&self) -> Option<Arc<AccessMap>> {
        self.access.as_ref().map(Access::map)
    }

    /// The state shared with the running trees, or a new one if none runs; and the paths that no longer fit into it.
    fn before(self: &Arc<Self>, places: (Vec<PathBuf>, Vec<PathBuf>), map: &AccessMap) -> (Arc<Before>, Vec<PathBuf>) {
        let mut held = lock(&self.before);
        if let Some(before) = held.0.upgrade() {
            return (before, Vec::new());
        }
        let known = lock(&held.1).beyond.clone();
        let before = Arc::new(Before::survey(places, &map.workspace, Some(&*lock(&held.1)), &self.tracked));
        *held = (Arc::downgrade(&before), before.things());
        let mut beyond = lock(&held.1).beyond.clone();
        drop(held);
        beyond.retain(|path| !known.contains(path));
        self.look_now_and_then();
        (before, beyond)
    }

    /// Compares with the earlier state, and with that of a tree that has just ended.
    pub(super) fn look_back(&self, maps: &Maps, ended: Option<&Arc<Before>>, has_time: bool) {
        let before = ended.cloned().or_else(|| lock(&self.before).0.upgrade());
        let Some(before) = before else { return };
        let found = before.look(maps, has_time);
        self.tell(found);
    }

    /// Scans periodically until nothing runs any more.
    pub(super) fn look_now_and_then(self: &Arc<Self>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if std::mem::replace(&mut lock(&self.living).is_looked_after, true) {
            return;
        }
        let asides = Arc::downgrade(self);
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                let Some(asides) = asides.upgrade() else { return };
                if !asides.needs_looks() {
                    return;
                }
                // This may take a while if git's history is searched.
                if tokio::task::spawn_blocking(move || asides.look_calmly()).await.is_err() {
                    return;
                }
            }
        });
    }

    fn needs_looks(&self) -> bool {
        let mut living = lock(&self.living);
        living.is_looked_after = !living.trees.is_empty();
        living.is_looked_after
    }
}

impl SessionGround for Maps {
    fn is_allowed(&self, path: &Path, is: Option<&Thing>) -> bool {
        let is_allowed = self.may_change(path);
        if let Some(is) = is.filter(|_| is_allowed) {
            self.tracked.remember(path, is);
        }
        is_allowed
    }

    fn is_allowed_in(&self, path: &Path) -> bool {
        self.may_change(path) || self.all.iter().any(|map| map.writable.iter().any(|free| free.starts_with(path)))
    }

    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        self.root_of(path)
    }

    fn shelf_of(&self, path: &Path) -> Option<Shelf> {
        self.shelf_of(path)
    }

    fn is_of_git(&self, path: &Path) -> bool {
        self.tracked.is_place(path)
    }

    fn accepts(&self, path: &Path, was: Option<&Thing>, is: Option<&Thing>) -> bool {
        self.tracked.accepts(path, was, is, self.until)
    }

    fn is_gone(&self, path: &Path) -> bool {
        let of_git = |guard: &&PathBuf| guard.ends_with(MARK_OF_GIT);
        let mut folders =
            self.all.iter().flat_map(|map| map.guarded.iter().filter(of_git)).filter_map(|guard| guard.parent());
        folders.any(|folder| path.starts_with(folder) && !folder.symlink_metadata().is_ok_and(|data| data.is_dir()))
    }
}

/// Excludes paths that omp itself writes while commands run, and paths in a repository that does not exist yet.
pub(super) fn is_put_back(guard: &Path, map: &AccessMap) -> bool {
    is_within(guard, map)
        && !map::is_in_missing_repository(guard)
        && !guard.ends_with(OF_EDITORS)
        && !is_of_omp(guard, map)
}
