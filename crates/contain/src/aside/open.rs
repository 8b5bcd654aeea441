//! Folders in which a path was lent to a call: such a folder cannot be mounted read-only, because the call has to create,
//! replace or remove the path. Instead each of its other entries is guarded, and anything else that appears in it is set
//! aside.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use omp_types::{AccessMap, Touch};

use super::{entries, exists, hands};

/// A folder outside the workspace with more entries is not opened, because every entry costs a mount.
const MOST_BESIDE: usize = 500;

/// The folder to open so that a command can create a path outside the workspace: the nearest existing one. `None` if it has
/// too many entries. Neither the root nor a kernel file system is ever opened.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
fn folder_to_open(path: &Path) -> Option<&Path> {
    let folder = path.ancestors().skip(1).find(|folder| exists(folder))?;
    folder.parent()?;
    if ["/dev", "/proc", "/sys"].iter().any(|made| folder.starts_with(made)) {
        return None;
    }
    let beside = std::fs::read_dir(folder).ok()?.take(MOST_BESIDE + 1).count();
    (is_plain_folder(folder) && beside <= MOST_BESIDE).then_some(folder)
}

/// Whether a command uses the writable `path`: it is known to write there, or its text contains the name.
///
/// A folder that exists has to be opened only to a command that may remove it. Caches are excluded, and missing caches are
/// created for the programs that need them: `git` in a command does not mean `~/.cargo/git`.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
pub(crate) fn is_named(path: &PathBuf, map: &AccessMap, command: &str, writes: &[PathBuf]) -> bool {
    let is_familiar = map.familiar.iter().any(|place| path.starts_with(place));
    if is_familiar || map.caches.iter().any(|cache| cache.path == *path) {
        return false;
    }
    let name = path.file_name().and_then(OsStr::to_str);
    let is_written = writes.iter().any(|write| write.starts_with(path));
    let is_meant = is_written || name.is_some_and(|name| has_name(command, name));
    is_meant && (!path.is_dir() || writes.contains(path))
}

/// Whether the name occurs as the last part of a path, or as a word of its own.
fn has_name(command: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    command.match_indices(name).any(|(at, _)| {
        let (before, after) = (&command[..at], &command[at + name.len()..]);
        !before.ends_with(is_of_name) && !after.starts_with(is_of_name)
    })
}

/// Decides which paths are opened to one command through their parent folder.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRules<'a> {
    pub(crate) map: &'a AccessMap,
    /// The map without what is lent to the call.
    pub(crate) session: Option<&'a AccessMap>,
    /// Writable paths that the command names.
    pub(crate) named: &'a [PathBuf],
}

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
impl OpenRules<'_> {
    /// The folder to open for `path`, which is writable and outside all writable folders: a missing path cannot be mounted,
    /// and a mount can be neither replaced nor removed.
    ///
    /// A path that the session may always write is opened only to commands that name it: anything else created in the
    /// folder while it is open is set aside, including files of the user.
    pub(crate) fn folder(&self, path: &Path) -> Option<PathBuf> {
        let holds = |paths: &[PathBuf]| paths.iter().any(|it| it == path);
        let (is_named, is_lent) = (holds(self.named), self.session.is_none_or(|session| !holds(&session.writable)));
        let roots = || self.map.writable.iter().chain([&self.map.workspace]).filter(|root| *root != path);
        let is_opened = is_named || (is_lent && !path.is_dir());
        if !is_opened || roots().any(|root| path.starts_with(root) && root.is_dir()) {
            return None;
        }
        let folder = folder_to_open(path)?;
        let is_hidden = self.map.hidden.iter().any(|hidden| folder.starts_with(hidden));
        (!is_hidden).then(|| folder.to_owned())
    }
}

/// Opens the parent folders of writable paths that cannot be mounted. Returns a path in each writable folder there, whose
/// parents must not be moved.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
pub(crate) fn open_outside(map: &mut Arc<AccessMap>, session: Option<&AccessMap>, named: &[PathBuf]) -> Vec<PathBuf> {
    let around = OpenRules { map, session, named };
    let paths = map.writable.iter().filter_map(|path| Some((path, around.folder(path)?)));
    let (paths, folders): (BTreeSet<&PathBuf>, BTreeSet<PathBuf>) = paths.unzip();
    if folders.is_empty() {
        return Vec::new();
    }
    let is_in = |root: &&PathBuf| folders.iter().any(|folder| root.starts_with(folder) && *root != folder);
    let roots = map.writable.iter().chain([&map.workspace]).filter(|root| root.is_dir() && !paths.contains(root));
    let kept = roots.filter(is_in).map(|root| root.join(INSIDE)).collect();
    let map = Arc::make_mut(map);
    // Otherwise it would be guarded like everything else in the folder.
    map.writable.push(map.workspace.clone());
    for folder in folders {
        // A mount on a link would mount its target instead: the link itself is restored.
        map.links.extend(entries(&folder).into_iter().filter(|path| path.is_symlink()));
        map.guarded.push(folder.clone());
        map.writable.push(folder);
    }
    kept
}

/// A placeholder for any name in a folder.
const INSIDE: &str = "inside";

/// Maximum folder depth.
const DEEPEST: usize = 16;

/// Guards the entries around lent paths one by one. Writable folders deeper in such an entry are mounted in it. Returns a
/// path in each of these folders, which must not be moved, even if they are empty.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for mounts"))]
pub(crate) fn open_for_lent(map: &mut Arc<AccessMap>) -> Vec<PathBuf> {
    let opened = opened(map);
    if opened.is_empty() {
        return Vec::new();
    }
    let is_opened = |path: &PathBuf| opened.iter().any(|(folder, _)| folder == path);
    let held = opened.iter().flat_map(|(_, held)| held).filter(|path| !is_opened(path) && !map.links.contains(path));
    // Evaluated while the folders are still guarded, which determines what is lent.
    let held = held.filter(|path| !is_lent(path, map)).cloned();
    // A mount on a link would mount its target instead: the link itself is restored.
    let (links, held): (Vec<PathBuf>, Vec<PathBuf>) = held.partition(|path| path.is_symlink());
    let kept = opened.iter().map(|(folder, _)| folder.join(INSIDE)).collect();
    let map = Arc::make_mut(map);
    map.guarded.retain(|guard| !is_opened(guard));
    map.guarded.extend(held);
    map.links.extend(links);
    kept
}

/// Whether the path has not changed for a moment.
pub(super) fn has_settled(path: &Path) -> bool {
    const SETTLES: Duration = Duration::from_millis(500);
    let changed = path.symlink_metadata().ok().map(|data| UNIX_EPOCH + since_epoch(data.ctime(), data.ctime_nsec()));
    changed.is_none_or(|changed| changed.elapsed().is_ok_and(|age| age >= SETTLES))
}

fn since_epoch(seconds: i64, nanos: i64) -> Duration {
    Duration::new(u64::try_from(seconds).unwrap_or_default(), u32::try_from(nanos).unwrap_or_default())
}

/// The opened folders, outermost first, with their current entries.
pub(super) fn opened(map: &AccessMap) -> Vec<(PathBuf, BTreeSet<PathBuf>)> {
    let mut opened: Vec<(PathBuf, BTreeSet<PathBuf>)> = Vec::new();
    let mut open = |folder: &Path| {
        if opened.iter().all(|(known, _)| known != folder) {
            opened.push((folder.to_owned(), entries(folder).into_iter().collect()));
        }
    };
    for guard in map.guarded.iter().filter(|guard| is_plain_folder(guard)) {
        // Outside the workspace it is the opened parent folder itself.
        if map.writable.contains(guard) {
            open(guard);
            continue;
        }
        // A lent folder is mounted as a whole.
        let lent = map.writable.iter().filter(|free| free.starts_with(guard) && *free != guard && !free.is_dir());
        let lent = lent.filter(|free| is_lent(free, map));
        for free in lent {
            let way = free.ancestors().skip(1).take_while(|above| above.starts_with(guard)).take(DEEPEST);
            way.filter(|folder| is_plain_folder(folder)).for_each(&mut open);
        }
    }
    opened.sort();
    opened
}

/// Adds `place`, or its entries around what is lent.
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

pub(super) fn is_lent(path: &Path, map: &AccessMap) -> bool {
    map.allows(Touch::Write, path).is_ok()
}

/// Whether the path contains something lent.
fn holds_lent(path: &Path, map: &AccessMap) -> bool {
    map.writable.iter().any(|free| free.starts_with(path) && free != path && is_lent(free, map))
}

fn is_plain_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_dir())
}
