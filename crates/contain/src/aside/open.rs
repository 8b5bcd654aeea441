//! Folders in which something was lent to a call: the folder cannot be mounted read-only, for the call is to make, replace
//! or remove something in it. Each of its other entries is guarded instead, and what else appears in it is set aside.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_types::{AccessMap, Touch};

use super::{entries, exists, hands};

/// A folder outside the workspace that holds more is not opened: every entry costs a mount.
const MOST_BESIDE: usize = 500;

/// The folder around a path outside the workspace that has to be opened so that a command can make it: the nearest one
/// that exists. `None` where it holds too much. The root is never opened.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
pub(crate) fn folder_to_open(path: &Path) -> Option<&Path> {
    let folder = path.ancestors().skip(1).find(|folder| exists(folder))?;
    folder.parent()?;
    let beside = std::fs::read_dir(folder).ok()?.take(MOST_BESIDE + 1).count();
    (is_plain_folder(folder) && beside <= MOST_BESIDE).then_some(folder)
}

/// Opens the folders around what was lent to this call outside of all writable folders and cannot be mounted: what is not
/// there, and files, which the call may replace or remove. What `session` allows for good stays a mount.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
///
/// Gives back a path in each writable folder there, whose way has to stay where it is.
pub(crate) fn open_outside(map: &mut Arc<AccessMap>, session: Option<&AccessMap>) -> Vec<PathBuf> {
    let for_good = |path: &PathBuf| session.is_some_and(|session| session.writable.contains(path));
    let is_in_folder = |path: &PathBuf| {
        let roots = map.writable.iter().chain([&map.workspace]);
        roots.filter(|root| *root != path).any(|root| path.starts_with(root) && root.is_dir())
    };
    let needs = |path: &&PathBuf| !path.is_dir() && !is_in_folder(path) && !for_good(path);
    let folders = map.writable.iter().filter(needs).filter_map(|path| folder_to_open(path));
    let is_hidden = |folder: &Path| map.hidden.iter().any(|hidden| folder.starts_with(hidden));
    let folders: BTreeSet<PathBuf> = folders.filter(|folder| !is_hidden(folder)).map(Path::to_owned).collect();
    if folders.is_empty() {
        return Vec::new();
    }
    let roots = map.writable.iter().chain([&map.workspace]).filter(|root| root.is_dir());
    let roots = roots.filter(|root| folders.iter().any(|folder| root.starts_with(folder) && *root != folder));
    let kept = roots.map(|root| root.join(INSIDE)).collect();
    let map = Arc::make_mut(map);
    for folder in folders {
        // A mount at a link would be one at what it leads to: the link itself is put back.
        map.links.extend(entries(&folder).into_iter().filter(|path| path.is_symlink()));
        map.guarded.push(folder.clone());
        map.writable.push(folder);
    }
    kept
}

/// Stands for anything in a folder.
const INSIDE: &str = "inside";

/// Folders within each other.
const DEEPEST: usize = 16;

/// Guards entry by entry what lies around something lent. Gives back a path in each of these folders, which stay where they
/// are, also where they hold nothing.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
pub(crate) fn open_for_lent(map: &mut Arc<AccessMap>) -> Vec<PathBuf> {
    let opened = opened(map);
    if opened.is_empty() {
        return Vec::new();
    }
    let kept = opened.iter().map(|(folder, _)| folder.join(INSIDE)).collect();
    let map = Arc::make_mut(map);
    for (folder, held) in opened {
        map.guarded.retain(|guard| *guard != folder);
        let held = held.into_iter().filter(|path| !is_lent(path, map) && !holds_lent(path, map));
        let held: Vec<PathBuf> = held.collect();
        map.guarded.extend(held);
    }
    kept
}

/// The folders, from the root down, with what they hold now.
pub(super) fn opened(map: &AccessMap) -> Vec<(PathBuf, BTreeSet<PathBuf>)> {
    let mut opened: Vec<(PathBuf, BTreeSet<PathBuf>)> = Vec::new();
    for guard in map.guarded.iter().filter(|guard| is_plain_folder(guard)) {
        // A folder that was lent is mounted as a whole.
        let lent = map.writable.iter().filter(|free| free.starts_with(guard) && *free != guard && !free.is_dir());
        let lent = lent.filter(|free| is_lent(free, map));
        for free in lent {
            let way = free.ancestors().skip(1).take_while(|above| above.starts_with(guard)).take(DEEPEST);
            for folder in way.filter(|folder| is_plain_folder(folder)) {
                if opened.iter().all(|(known, _)| known != folder) {
                    opened.push((folder.to_owned(), entries(folder).into_iter().collect()));
                }
            }
        }
    }
    opened.sort();
    opened
}

/// `place`, or what lies in it around something lent.
pub(super) fn all_but_lent(place: &Path, map: &AccessMap, found: &mut Vec<PathBuf>) {
    let mut waiting = vec![(place.to_owned(), 0)];
    while let Some((path, depth)) = waiting.pop() {
        if is_lent(&path, map) {
            continue;
        }
        if holds_lent(&path, map) && is_plain_folder(&path) && depth < DEEPEST {
            let inner = entries(&path).into_iter().filter(|path| !hands::is_set_aside(path));
            waiting.extend(inner.map(|path| (path, depth + 1)));
        } else if exists(&path) {
            found.push(path);
        }
    }
}

fn is_lent(path: &Path, map: &AccessMap) -> bool {
    map.allows(Touch::Write, path).is_ok()
}

/// Whether something in it is.
fn holds_lent(path: &Path, map: &AccessMap) -> bool {
    map.writable.iter().any(|free| free.starts_with(path) && free != path && is_lent(free, map))
}

fn is_plain_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_dir())
}
