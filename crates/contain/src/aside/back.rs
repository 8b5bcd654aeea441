//! Putting back, for all trees of a session together: they share what was there before the first of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use omp_types::{Access, AccessMap, Touch};

use super::before::{Before, Ground};
use super::{Asides, MARK_OF_GIT, Watch, is_within, lock, root_of};
use crate::kept::{Deed, SetAside};
use crate::map;

/// While anything runs. What is planted counts for the user's own programs until it is found.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Editors write it on their own, all the time.
const OF_EDITORS: &str = ".idea/workspace.xml";
/// Hidden in omp's own folder, and nowhere else.
const MARK_OF_OWN: &str = "secrets.key";

impl Watch {
    /// Whatever is guarded is put back, as nothing keeps the tree from changing it.
    pub(crate) fn put_back_all(mut self) -> Self {
        let map = self.asides.session_map().unwrap_or_else(|| self.map.clone());
        let places = map.guarded.iter().chain(&map.links).filter(|guard| is_put_back(guard, &map)).cloned();
        self.before = Some(self.asides.before(places.collect(), &map));
        self
    }

    /// Links that lead to something guarded: no mount can stand on them.
    pub(crate) fn put_back_links(mut self) -> Self {
        if !self.map.links.is_empty() {
            let map = self.asides.session_map().unwrap_or_else(|| self.map.clone());
            self.before = Some(self.asides.before(map.links.clone(), &map));
        }
        self
    }
}

impl Asides {
    fn session_map(&self) -> Option<Arc<AccessMap>> {
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
        let unwatched = |path| SetAside { path, deed: Deed::Unwatched, to: None, put_back: false };
        self.tell(beyond.into_iter().filter(|path| !known.contains(path)).map(unwatched).collect());
        self.look_now_and_then();
        before
    }

    /// Compares with what was before, and with that of a tree that has just ended.
    pub(super) fn look_back(&self, ended: Option<(&Arc<Before>, &Arc<AccessMap>)>) {
        let before = match ended {
            Some((before, _)) => Some(before.clone()),
            None => lock(&self.before).0.upgrade(),
        };
        let Some(before) = before else { return };
        let mut maps: Vec<Arc<AccessMap>> = self.living().iter().map(|watch| watch.map.clone()).collect();
        maps.extend(ended.map(|(_, map)| map.clone()));
        maps.extend(self.access.as_ref().map(Access::map_with_returned));
        let found = before.look(&Maps(maps));
        self.tell(found);
    }

    /// Until nothing runs any more.
    fn look_now_and_then(self: &Arc<Self>) {
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
        let is_needed = lock(&self.before).0.strong_count() > 0;
        lock(&self.living).is_looked_after = is_needed;
        is_needed
    }
}

/// Of the session and of all trees that run.
struct Maps(Vec<Arc<AccessMap>>);

impl Ground for Maps {
    fn may_change(&self, path: &Path) -> bool {
        self.0.iter().any(|map| map.allows(Touch::Write, path).is_ok())
    }

    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        self.0.iter().find_map(|map| root_of(path, map)).map(Path::to_owned)
    }

    fn is_gone(&self, path: &Path) -> bool {
        let of_git = |guard: &&PathBuf| guard.ends_with(MARK_OF_GIT);
        let mut folders =
            self.0.iter().flat_map(|map| map.guarded.iter().filter(of_git)).filter_map(|guard| guard.parent());
        folders.any(|folder| path.starts_with(folder) && !folder.symlink_metadata().is_ok_and(|data| data.is_dir()))
    }
}

/// Not what omp itself writes to while commands run, nor in a repository that is not there yet.
fn is_put_back(guard: &Path, map: &AccessMap) -> bool {
    let own = map.hidden.iter().filter(|hidden| hidden.ends_with(MARK_OF_OWN)).filter_map(|hidden| hidden.parent());
    let is_own = |own: &Path| own.starts_with(guard) || guard.starts_with(own);
    is_within(guard, map)
        && !map::is_in_missing_repository(guard)
        && !guard.ends_with(OF_EDITORS)
        && !map::is_own_temp_folder(guard)
        && !own.into_iter().any(is_own)
}
