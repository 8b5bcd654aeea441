//! `.git` files that point to submodules. Git creates, moves and removes them (`git mv`, `git rm`, `git submodule deinit`),
//! so they are not mounted. One that points outside the repository's own folders is restored at once.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_stdx::real_path;
use omp_types::AccessMap;

use super::hands::{self, Make};
use super::repositories::{folders_of_git, inner_repositories};
use super::{Asides, Maps, WatchedTree, is_within, lock};
use crate::kept::{Deed, SetAside};
use crate::repository;

/// Maximum in one session.
const MOST: usize = 1_000;

/// The pointer files before anything ran.
#[derive(Debug, Default)]
pub(super) struct Pointers(BTreeMap<PathBuf, PointerFile>);

#[derive(Clone, Debug)]
struct PointerFile {
    text: Arc<str>,
    mode: u32,
    /// The target, with links resolved.
    home: PathBuf,
}

impl PointerFile {
    /// `None` if it is not a valid pointer file: git does not follow it either.
    fn read(file: &Path) -> Option<Self> {
        let data = file.symlink_metadata().ok().filter(|data| data.is_file())?;
        let text = repository::pointer_text(file)?;
        let home = real_path::of(&repository::led_by(file, &text)?);
        Some(Self { text: text.into(), mode: data.mode() & 0o777, home })
    }
}

impl Pointers {
    /// Reads them before a tree starts. If other trees run, the known state is kept.
    pub(super) fn survey(&mut self, map: &AccessMap, others_run: bool) {
        let files: BTreeSet<PathBuf> = all(map).into_iter().chain(of_index(map)).take(MOST).collect();
        if !others_run {
            self.0.retain(|file, _| files.contains(file));
        }
        for file in files {
            if !(others_run && self.0.contains_key(&file)) {
                match PointerFile::read(&file).filter(|_| is_within(&file, map)) {
                    Some(known) => drop(self.0.insert(file, known)),
                    None => drop(self.0.remove(&file)),
                }
            }
        }
    }
}

/// The guarded pointer files, existing or not, except that of the workspace itself, which is never moved.
pub(super) fn all(map: &AccessMap) -> Vec<PathBuf> {
    let Some(top) = repository::top_of(&map.workspace) else { return Vec::new() };
    let is_inner = |guard: &&PathBuf| {
        let folder = guard.parent().filter(|_| guard.file_name().is_some_and(|name| name == ".git"));
        folder.is_some_and(|folder| folder.starts_with(top) && folder != top) && !is_folder(guard)
    };
    map.guarded.iter().filter(is_inner).cloned().collect()
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_dir())
}

fn of_index(map: &AccessMap) -> impl Iterator<Item = PathBuf> {
    inner_repositories(map).into_iter().filter(|inner| !inner.is_worktree).map(|inner| inner.dot_git)
}

impl Asides {
    pub(super) fn look_at_pointers(&self, trees: &[Arc<WatchedTree>], maps: &Maps) {
        let mut pointers = lock(&self.pointers);
        let homes: BTreeSet<PathBuf> = pointers.0.values().map(|known| known.home.clone()).collect();
        let own = |home: &Path| homes.contains(home) || trees.iter().any(|tree| is_module(home, &tree.map));
        let found: Vec<SetAside> =
            pointers.0.iter_mut().filter_map(|(file, known)| look_at(file, known, maps, &own)).collect();
        drop(pointers);
        self.tell(found);
    }
}

/// Whether this is a folder in which git keeps submodules.
fn is_module(home: &Path, map: &AccessMap) -> bool {
    folders_of_git(map).any(|git| home.starts_with(git.join("modules")) && is_within(git, map))
}

/// A removed file needs nothing, and anything else in its place is handled as a new repository.
fn look_at(file: &Path, known: &mut PointerFile, maps: &Maps, is_own: &dyn Fn(&Path) -> bool) -> Option<SetAside> {
    let folder = file.parent()?;
    let is_in_place = real_path::existing(folder).is_some_and(|real| real == folder);
    let now = PointerFile::read(file).filter(|_| is_in_place)?;
    let is_freed = || maps.all.iter().any(|map| map.writable.iter().any(|free| free == file));
    if is_own(&now.home) || is_freed() {
        *known = now;
        return None;
    }
    let root = maps.root_of(file)?;
    let inner = file.strip_prefix(&root).ok()?;
    let to = hands::rename_in(&root, inner, maps.shelf_of(file).as_ref())?.1;
    let put_back = hands::make_in(&root, inner, Make::File(known.text.as_bytes()), known.mode).is_ok();
    Some(SetAside { path: file.to_owned(), deed: Deed::Changed, to, put_back, in_git: false, keys: Vec::new() })
}
