//! Repositories that commands have created, within the workspace's own or in its place: finds files in them that would run
//! something.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_types::AccessMap;

use super::{LONGEST, SeenRepository, WatchedTree, entries, exists, hands};
use crate::repository::{self, NestedRepository};

impl WatchedTree {
    /// Scans new repositories, which may be anywhere, including in freely writable folders.
    pub(super) fn look_at_repositories(&self, found: &mut Vec<PathBuf>) {
        for SeenRepository { folder, is_new } in &self.repositories {
            match folder.symlink_metadata() {
                // A file that points to another repository.
                Ok(data) if *is_new && !data.is_dir() => found.push(folder.clone()),
                _ => look_at_worktrees(folder, found),
            }
        }
        let mut within = Vec::new();
        for inner in inner_repositories(&self.map).iter().filter(|inner| !self.knows(inner)) {
            self.look_at_inner(inner, &mut within);
        }
        found.extend(within.into_iter().filter(|path| !self.map.writable.contains(path)));
    }

    /// Whether it existed before, under this name or another.
    pub(super) fn knows(&self, inner: &NestedRepository) -> bool {
        !inner.is_worktree && self.known.contains(&inner.real_folder()) && !inner.dot_git.is_symlink()
    }

    /// Scans a nested repository that git now enters by itself.
    fn look_at_inner(&self, inner: &NestedRepository, found: &mut Vec<PathBuf>) {
        if inner.dot_git.is_symlink() {
            return found.push(inner.dot_git.clone());
        }
        let folder = inner.real_folder();
        let common = folder.join("commondir");
        // A worktree takes its hooks and settings from the main repository.
        if !inner.is_worktree {
            let mut new = Vec::new();
            look_at_new(&folder, &mut new);
            found.extend(new.into_iter().filter(|path| *path != common));
            // Git does not create this file in a new repository.
            found.extend(Some(folder.join(MARK_OF_GIT)).filter(|path| exists(path)));
        }
        let homes: Vec<PathBuf> = self.repositories.iter().filter_map(|it| it.folder.canonicalize().ok()).collect();
        if exists(&common) && !leads_to(&folder, &common, &homes) {
            found.push(common);
        }
    }
}

/// Finds everything in a repository created by commands that could run something, except its settings.
pub(super) fn look_at_new(folder: &Path, found: &mut Vec<PathBuf>) {
    if !folder.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        return;
    }
    let hooks = folder.join("hooks");
    match hooks.symlink_metadata() {
        Ok(data) if !data.is_dir() => found.push(hooks),
        Ok(_) => found.extend(entries(&hooks).into_iter().filter(|hook| !is_idle(hook))),
        Err(_) => {}
    }
    let rest = ["info/attributes", "commondir"].map(|name| folder.join(name));
    found.extend(rest.into_iter().filter(|path| exists(path)));
}

/// Finds worktrees whose settings would be read from elsewhere.
fn look_at_worktrees(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(common) = folder.canonicalize() else { return };
    for worktree in entries(&folder.join("worktrees")) {
        let file = worktree.join("commondir");
        if exists(&file) && !leads_to(&worktree, &file, std::slice::from_ref(&common)) {
            found.push(file);
        }
    }
}

/// Whether the path in the file points from its folder to one of these.
fn leads_to(folder: &Path, file: &Path, homes: &[PathBuf]) -> bool {
    let text = omp_stdx::plain_file::read_itself(file, LONGEST).ok().and_then(|text| String::from_utf8(text).ok());
    text.and_then(|text| folder.join(text.trim_end()).canonicalize().ok()).is_some_and(|to| homes.contains(&to))
}

/// Guards repositories that were created within the workspace's own since the session began.
pub(crate) fn guard_inner(map: &mut Arc<AccessMap>) {
    let inner: Vec<PathBuf> = inner_repositories(map).iter().flat_map(NestedRepository::guarded).collect();
    if inner.iter().any(|guard| !map.guarded.contains(guard)) {
        Arc::make_mut(map).guarded.extend(inner);
    }
}

/// The repositories that git enters from the workspace's own.
pub(super) fn inner_repositories(map: &AccessMap) -> Vec<NestedRepository> {
    let Some(top) = repository::top_of(&map.workspace) else { return Vec::new() };
    let folders: Vec<PathBuf> = folders_of_git(map).map(Path::to_owned).collect();
    repository::inner_repositories(top, &folders)
}

pub(super) fn folders_of_git(map: &AccessMap) -> impl Iterator<Item = &Path> {
    map.guarded.iter().filter(|guard| guard.ends_with(MARK_OF_GIT)).filter_map(|guard| guard.parent())
}

/// A file that is guarded in every git folder, and nowhere else.
pub(super) const MARK_OF_GIT: &str = "config.worktree";

/// Whether git does not run the hook, because git only runs hooks with their exact names.
fn is_idle(hook: &Path) -> bool {
    hook.extension().is_some_and(|end| end == "sample") || hands::is_set_aside(hook)
}
