//! Guarded files in the work tree that git tracks. Git replaces and removes them at every checkout, so they are not mounted
//! but checked afterwards. A version stays if it is in a commit that was reachable when the session began, and is put back
//! otherwise, so a commit made by a command has no effect.

use std::collections::{BTreeSet, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use omp_types::{AccessMap, OpenPast, Past, PastVersion};

use super::back::is_put_back;
use super::before::{Thing, Things};
use super::repositories::folders_of_git;
use super::{entries, is_within, lock, open};
use crate::repository;

/// The time limit of one scan, for all changed files.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// The time limit if only the trust in a file is to be decided.
const SHORT_PATIENCE: Duration = Duration::from_millis(100);
/// Maximum files that came by a checkout.
const MOST_SINCE: usize = 2_000;
/// Maximum untracked files in a guarded folder, since each costs a mount. A folder with more is mounted as a whole.
const MOST_BESIDE: usize = 500;
/// Maximum versions recorded while nothing ran, and maximum bytes of them.
const MOST_EARLIER: usize = 1_000;
const MOST_BYTES: usize = 8 << 20;
/// Files that are guarded in a home folder, and nowhere else.
const MARKS_OF_HOME: [&str; 4] = [".bash_profile", ".bash_login", ".zlogout", ".kshrc"];
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The tracked files of one session.
#[derive(Debug, Default)]
pub(crate) struct Tracked {
    open: OnceLock<OpenPast>,
    known: OnceLock<Option<TrackedPast>>,
    /// Files that were not tracked when the session began, and that git has created since.
    since: Mutex<BTreeSet<PathBuf>>,
    earlier: Mutex<Earlier>,
}

#[derive(Debug)]
struct TrackedPast {
    past: Arc<dyn Past>,
    /// The guarded paths in the work tree, existing or not.
    places: Vec<PathBuf>,
    /// The mode of the workspace folder: files that git creates have no more permissions than that.
    mode: u32,
}

/// Versions of the user, perhaps in no commit, which `git stash pop` can bring back.
#[derive(Debug, Default)]
struct Earlier {
    all: VecDeque<(PathBuf, bool, Arc<[u8]>)>,
    bytes: usize,
}

impl Tracked {
    pub(crate) fn open_by(&self, open: OpenPast) {
        // The first value is kept.
        let _ = self.open.set(open);
    }

    /// To be called before anything runs for the first time.
    pub(super) fn begin(&self, map: &AccessMap) {
        self.known.get_or_init(|| TrackedPast::of(map, *self.open.get()?));
    }

    fn known(&self) -> Option<&TrackedPast> {
        self.known.get()?.as_ref()
    }

    /// The paths that are checked: tracked and missing ones. The others are mounted.
    pub(super) fn places(&self) -> Vec<PathBuf> {
        let Some(known) = self.known() else { return Vec::new() };
        let is_missing = |place: &PathBuf| place.symlink_metadata().is_err();
        known.places.iter().filter(|place| is_missing(place) || self.tracks(place)).cloned().collect()
    }

    /// Whether the path is compared with git's content.
    pub(super) fn is_place(&self, path: &Path) -> bool {
        self.known().is_some_and(|known| known.places.iter().any(|place| path.starts_with(place)))
    }

    /// Whether git tracks the path or something in it.
    pub(super) fn tracks(&self, path: &Path) -> bool {
        self.known().is_some_and(|known| known.past.tracks(path))
            || lock(&self.since).iter().any(|since| since.starts_with(path))
    }

    /// Whether git may have created what is there now.
    pub(super) fn knows(&self, place: &Path, until: Instant) -> bool {
        let had = |known: &TrackedPast| known.past.had(place, PastVersion::Anything, until);
        self.is_place(place) && (self.tracks(place) || self.known().is_some_and(had))
    }

    /// Whether everything that is there now matches git's content.
    pub(super) fn made(&self, place: &Path, until: Instant) -> bool {
        if !self.is_place(place) {
            return false;
        }
        let things = Things::survey(&[place.to_owned()], &[], None);
        let is_of_git = |path: &Path, thing: &Thing| self.accepts(path, None, Some(thing), until);
        !things.is_beyond(place) && things.all_in(place, is_of_git)
    }

    /// Whether it matches git's content at the start of the session, or a version of the user.
    pub(super) fn accepts(&self, path: &Path, was: Option<&Thing>, is: Option<&Thing>, until: Instant) -> bool {
        let Some(known) = self.known().filter(|_| self.is_place(path)) else { return false };
        let Some(version) = Thing::version(is) else { return false };
        if is.is_some_and(|is| !fits(is, known.mode | was.map_or(0, Thing::mode))) {
            return false;
        }
        let is_accepted = lock(&self.earlier).has(path, version) || known.past.had(path, version, until);
        if is_accepted && is.is_some() {
            let mut since = lock(&self.since);
            if since.len() < MOST_SINCE && !known.past.tracks(path) {
                since.insert(path.to_owned());
            }
        }
        is_accepted
    }

    /// Records a version that was there while nothing ran, or that the user has allowed.
    pub(super) fn remember(&self, path: &Path, thing: &Thing) {
        if let Some(bytes) = thing.bytes().filter(|_| self.is_place(path)) {
            lock(&self.earlier).add(path, thing.is_executable(), bytes);
        }
    }

    /// The paths that match git's content, even though an attacker may be active.
    pub(super) fn trusted(&self, things: &Things) -> Vec<PathBuf> {
        let until = Instant::now() + SHORT_PATIENCE;
        let is_of_git = |path: &Path, thing: &Thing| self.accepts(path, None, Some(thing), until);
        let mut places = self.places();
        places.retain(|place| things.all_in(place, is_of_git));
        places
    }

    /// The untracked entries of a folder. `None` if there are too many.
    pub(super) fn beside(&self, place: &Path) -> Option<Vec<PathBuf>> {
        let mut beside = Vec::new();
        let mut waiting = vec![place.to_owned()];
        let mut left = 4 * MOST_BESIDE;
        while let Some(folder) = waiting.pop() {
            for entry in entries(&folder) {
                left = left.checked_sub(1)?;
                if !self.tracks(&entry) {
                    beside.push(entry);
                } else if entry.symlink_metadata().is_ok_and(|data| data.is_dir()) {
                    waiting.push(entry);
                }
            }
        }
        (beside.len() <= MOST_BESIDE).then_some(beside)
    }
}

impl TrackedPast {
    fn of(map: &AccessMap, open: OpenPast) -> Option<Self> {
        let top = repository::top_of(&map.workspace)?;
        let git = repository::folder_of(top);
        // If commands cannot write to the git folder, git cannot check anything out.
        if !folders_of_git(map).any(|folder| folder == git && is_within(folder, map)) {
            return None;
        }
        let of_home = |guard: &&PathBuf| MARKS_OF_HOME.iter().any(|mark| guard.ends_with(mark));
        if map.guarded.iter().filter(of_home).any(|guard| guard.starts_with(&map.workspace)) {
            return None;
        }
        let in_tree = |guard: &&PathBuf| {
            let inner = guard.strip_prefix(&map.workspace).ok().filter(|inner| *inner != Path::new(""));
            inner.is_some_and(|inner| inner.iter().all(|name| name != ".git")) && is_put_back(guard, map)
        };
        let places: Vec<PathBuf> = map.guarded.iter().filter(in_tree).cloned().collect();
        let mode = map.workspace.symlink_metadata().ok()?.mode();
        let past = open(&map.workspace, &places).filter(|_| !places.is_empty())?;
        Some(Self { past, places, mode })
    }
}

/// Whether the mode is one that git creates, with no more permissions than the user's own files have.
fn fits(is: &Thing, allowed: u32) -> bool {
    let mode = is.mode();
    let (own, special) = if is.is_folder() { (0o700, 0o5000) } else { (0o600, 0o7000) };
    mode & own == own && mode & special == 0 && mode & WRITABLE_BY_OTHERS & !allowed == 0
}

impl Earlier {
    fn has(&self, path: &Path, version: PastVersion<'_>) -> bool {
        let PastVersion::File { bytes, is_executable } = version else { return false };
        self.all.iter().any(|(of, executable, held)| of == path && *executable == is_executable && **held == *bytes)
    }

    fn add(&mut self, path: &Path, is_executable: bool, bytes: &Arc<[u8]>) {
        let newest = self.all.iter().rev().find(|(of, ..)| of == path);
        if newest.is_some_and(|(_, executable, held)| *executable == is_executable && held == bytes) {
            return;
        }
        self.bytes += bytes.len();
        self.all.push_back((path.to_owned(), is_executable, bytes.clone()));
        while self.all.len() > MOST_EARLIER || self.bytes > MOST_BYTES {
            let Some((_, _, oldest)) = self.all.pop_front() else { return };
            self.bytes -= oldest.len();
        }
    }
}

/// Whether a command may make git replace files: `git checkout x`, `/usr/bin/git`, `sh -c 'git pull'`, `gh pr checkout 1`.
pub(crate) fn names_git(command: &str) -> bool {
    const BESIDES: &[&str] = &["gh", "glab", "hub", "jj", "lazygit", "tig"];
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_git = |word: &str| word == "git" || word.starts_with("git-") || BESIDES.contains(&word);
    command.split(|c: char| !is_of_name(c)).any(is_git)
}

/// Excludes tracked files from the mounts, but not untracked files beside them in guarded folders.
pub(crate) fn leave_tracked(map: &mut Arc<AccessMap>, loose: &[PathBuf], tracked: &Tracked) {
    if loose.is_empty() {
        return;
    }
    let beside = loose.iter().flat_map(|place| tracked.beside(place).unwrap_or_default());
    // Evaluated while the folders are still guarded, which determines what is lent.
    let beside: Vec<PathBuf> = beside.filter(|path| !open::is_lent(path, map)).collect();
    let map = Arc::make_mut(map);
    map.guarded.retain(|guard| !loose.contains(guard));
    map.guarded.extend(beside);
}

#[cfg(test)]
mod tests {
    use super::names_git;

    #[test]
    fn git_is_named_by_a_word_of_its_own() {
        for command in
            ["git pull", "cd x && /usr/bin/git switch y", "sh -c 'git stash'", "gh pr checkout 1", "git-lfs pull"]
        {
            assert!(names_git(command), "{command}");
        }
        for command in ["npm run dev", "cat .gitignore", "ls .git", "digit", "make", ""] {
            assert!(!names_git(command), "{command}");
        }
    }
}
