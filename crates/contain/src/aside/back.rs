//! Putting back, for all trees of a session together: they share what was there before the first of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use omp_types::{Access, AccessMap};

use super::before::{Before, Ground};
use super::repositories::MARK_OF_GIT;
use super::shelf::Shelf;
use super::{Asides, Maps, Watch, is_of_omp, is_within, lock};
use crate::kept::{Deed, SetAside};
use crate::map;

/// While anything runs. What is planted counts for the user's own programs until it is found.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Editors write it on their own, all the time.
const OF_EDITORS: &str = ".idea/workspace.xml";

impl Watch {
    /// Whatever is guarded is put back, as nothing keeps the tree from changing it.
    pub(crate) fn put_back_all(self) -> Self {
        let map = self.asides.session_map().unwrap_or_else(|| self.tree.map.clone());
        let is_looked_at = |guard: &PathBuf| self.tree.settings.contains(guard) || self.tree.pointers.contains(guard);
        let guards = map.guarded.iter().chain(&map.links).filter(|guard| !is_looked_at(guard));
        let places = guards.filter(|guard| is_put_back(guard, &map)).cloned();
        let before = self.asides.before(places.collect(), &map);
        self.with(before)
    }

    /// Links that lead to something guarded: no mount can stand on them.
    pub(crate) fn put_back_links(self) -> Self {
        if self.tree.map.links.is_empty() {
            return self;
        }
        let map = self.asides.session_map().unwrap_or_else(|| self.tree.map.clone());
        // Those beside something lent are known to the tree only.
        let links: BTreeSet<PathBuf> = map.links.iter().chain(&self.tree.map.links).cloned().collect();
        let before = self.asides.before(links.into_iter().collect(), &map);
        self.with(before)
    }

    fn with(mut self, before: Arc<Before>) -> Self {
        // Nobody else has it before it begins.
        if let Some(tree) = Arc::get_mut(&mut self.tree) {
            tree.before = Some(before);
        }
        self
    }
}

impl Asides {
    /// Without what is lent to calls.
    pub(crate) fn session_map(&self) -> Option<Arc<AccessMap>> {
        self.access.as_ref().map(Access::map)
    }

    /// That of the trees that run, or a new one where none does.
    fn before(self: &Arc<Self>, places: Vec<PathBuf>, map: &AccessMap) -> Arc<Before> {
        let mut held = lock(&self.before);
        if let Some(before) = held.0.upgrade() {
            return before;
        }
        let known = lock(&held.1).beyond.clone();
        let before = Arc::new(Before::survey(places, &map.workspace, Some(&*lock(&held.1))));
        *held = (Arc::downgrade(&before), before.things());
        let beyond = lock(&held.1).beyond.clone();
        drop(held);
        let unwatched = |path| SetAside { path, deed: Deed::Unwatched, to: None, put_back: false, keys: Vec::new() };
        self.tell(beyond.into_iter().filter(|path| !known.contains(path)).map(unwatched).collect());
        self.look_now_and_then();
        before
    }

    /// Compares with what was before, and with that of a tree that has just ended.
    pub(super) fn look_back(&self, maps: &Maps, ended: Option<&Arc<Before>>) {
        let before = ended.cloned().or_else(|| lock(&self.before).0.upgrade());
        let Some(before) = before else { return };
        let found = before.look(maps);
        self.tell(found);
    }

    /// Until nothing runs any more.
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
                asides.look();
            }
        });
    }

    fn needs_looks(&self) -> bool {
        let mut living = lock(&self.living);
        living.is_looked_after = !living.trees.is_empty();
        living.is_looked_after
    }
}

impl Ground for Maps {
    fn may_change(&self, path: &Path) -> bool {
        self.may_change(path)
    }

    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        self.root_of(path)
    }

    fn shelf_of(&self, path: &Path) -> Option<Shelf> {
        self.shelf_of(path)
    }

    fn is_gone(&self, path: &Path) -> bool {
        let of_git = |guard: &&PathBuf| guard.ends_with(MARK_OF_GIT);
        let mut folders =
            self.all.iter().flat_map(|map| map.guarded.iter().filter(of_git)).filter_map(|guard| guard.parent());
        folders.any(|folder| path.starts_with(folder) && !folder.symlink_metadata().is_ok_and(|data| data.is_dir()))
    }
}

/// Not what omp itself writes to while commands run, nor in a repository that is not there yet.
fn is_put_back(guard: &Path, map: &AccessMap) -> bool {
    is_within(guard, map)
        && !map::is_in_missing_repository(guard)
        && !guard.ends_with(OF_EDITORS)
        && !is_of_omp(guard, map)
}
