//! Missing caches of package managers: created for the commands that need them, since those cannot create anything in the
//! home folder, and removed afterwards if they are empty.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_types::{AccessMap, UnusedCache};

/// The caches of one session.
#[derive(Debug, Default)]
pub(crate) struct SessionCaches(Mutex<CacheUse>);

#[derive(Debug, Default)]
struct CacheUse {
    /// The number of running commands that use each created cache.
    used: BTreeMap<PathBuf, usize>,
    /// The created folders, including parents.
    made: BTreeSet<PathBuf>,
    /// Caches that a program looked for but that did not exist, whichever command started it.
    wanted: BTreeSet<PathBuf>,
}

impl SessionCaches {
    /// Creates the caches that a command needs, going by its text `runs`. They exist at least as long as the returned
    /// value.
    pub(crate) fn make(self: &Arc<Self>, map: &AccessMap, runs: &str) -> InUse {
        let mut state = self.lock();
        let mut used = Vec::new();
        for cache in &map.caches {
            let is_needed = cache.is_expected || names_any(runs, cache.programs) || state.wanted.contains(&cache.path);
            if is_needed && (state.used.contains_key(&cache.path) || state.make(cache)) {
                *state.used.entry(cache.path.clone()).or_default() += 1;
                used.push(cache.path.clone());
            }
        }
        InUse { caches: self.clone(), used }
    }

    /// Makes the cache available for later commands. The set is bounded by the caches known to the map.
    pub(crate) fn want(&self, cache: &Path) {
        self.lock().wanted.insert(cache.to_owned());
    }

    fn lock(&self) -> MutexGuard<'_, CacheUse> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheUse {
    /// Returns whether it was created and has to be removed again. If it cannot be created, the command could not do it
    /// either and reports that itself.
    fn make(&mut self, cache: &UnusedCache) -> bool {
        if !cache.home.is_dir() || fs::symlink_metadata(&cache.path).is_ok() {
            return false;
        }
        let missing: Vec<&Path> = cache.path.ancestors().take_while(|folder| !folder.exists()).collect();
        let made = missing.iter().rev().filter(|folder| fs::create_dir(folder).is_ok());
        let made: Vec<PathBuf> = made.map(|folder| (*folder).to_owned()).collect();
        // In a folder that the program already has (`~/.cargo`) one more folder does not bother anyone.
        let around = cache.path.parent().filter(|_| missing.len() == 1);
        let is_shared = |folder: &Path| folder == cache.home || folder.file_name() == Some(OsStr::new(".cache"));
        let stays = around.is_some_and(|folder| !is_shared(folder) && !self.made.contains(folder));
        let goes = !made.is_empty() && !stays;
        self.made.extend(made.into_iter().filter(|_| goes));
        goes
    }

    /// Removes caches that are no longer used, if they are empty.
    fn clean(&mut self) {
        let in_use = |folder: &PathBuf| self.used.keys().any(|cache| cache.starts_with(folder));
        let mut idle: Vec<PathBuf> = self.made.iter().filter(|folder| !in_use(folder)).cloned().collect();
        // Inner folders first.
        idle.sort_by_key(|folder| Reverse(folder.components().count()));
        for folder in idle {
            // Fails if it is not empty; then it no longer belongs to omp.
            let _ = fs::remove_dir(&folder);
            self.made.remove(&folder);
        }
    }
}

/// The caches created for one command.
#[derive(Debug)]
pub(crate) struct InUse {
    caches: Arc<SessionCaches>,
    used: Vec<PathBuf>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = self.caches.lock();
        for cache in &self.used {
            match state.used.get_mut(cache) {
                Some(commands) if *commands > 1 => *commands -= 1,
                _ => drop(state.used.remove(cache)),
            }
        }
        if !self.used.is_empty() {
            state.clean();
        }
    }
}

/// Whether the text contains a program as a word: `npm ci`, `/usr/bin/npm`, `bash -c 'npm ci'`, `python3 -m pip`.
fn names_any(text: &str, programs: &[&str]) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.split(|c: char| !is_of_name(c)).any(|word| programs.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: bool) {
        assert_eq!(names_any(text, &["npm", "npx"]), expect, "{text}");
    }

    #[test]
    fn programs_are_named_by_words_of_their_own() {
        check("npm ci", true);
        check("cd x && /usr/bin/npm test", true);
        check("bash -c 'npx tsc'", true);
        check("make", false);
        check("cat .npmrc ~/.npm", false);
        check("pnpm install", false);
        check("npm-check", false);
        check("", false);
    }

    struct Home(tempfile::TempDir);

    impl Home {
        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn map(&self, is_expected: bool) -> AccessMap {
            let cache = |path: &str, programs, is_expected| UnusedCache {
                path: self.path(path),
                home: self.path(""),
                programs,
                is_expected,
            };
            let caches = vec![cache(".npm", &["npm"], is_expected), cache(".cache/uv", &["uv"], false)];
            AccessMap { caches, ..AccessMap::default() }
        }
    }

    #[test]
    fn a_cache_is_there_for_those_who_need_it_and_stays_if_it_is_used() {
        let home = Home(tempfile::tempdir().unwrap());
        let (map, caches) = (home.map(false), Arc::new(SessionCaches::default()));
        drop(caches.make(&map, "ls"));
        assert!(fs::read_dir(home.path("")).unwrap().next().is_none());
        let both = [caches.make(&map, "npm ci"), caches.make(&map, "npm test; uv sync")];
        assert!(home.path(".npm").is_dir() && home.path(".cache/uv").is_dir());
        let [first, second] = both;
        drop(first);
        assert!(home.path(".npm").is_dir(), "the other command has it as well");
        fs::write(home.path(".cache/uv/x"), "").unwrap();
        drop(second);
        assert!(!home.path(".npm").exists() && home.path(".cache/uv/x").exists());
        // It already existed, so omp does not remove it.
        fs::remove_file(home.path(".cache/uv/x")).unwrap();
        drop(caches.make(&map, "uv sync"));
        assert!(home.path(".cache/uv").is_dir());
    }

    #[test]
    fn what_is_expected_or_was_looked_for_is_there_for_every_command() {
        let home = Home(tempfile::tempdir().unwrap());
        let caches = Arc::new(SessionCaches::default());
        let made = caches.make(&home.map(true), "make");
        assert!(home.path(".npm").is_dir() && !home.path(".cache").exists());
        drop(made);
        caches.want(&home.path(".cache/uv"));
        let made = caches.make(&home.map(false), "make");
        assert!(home.path(".cache/uv").is_dir() && !home.path(".npm").exists());
        drop(made);
        assert!(fs::read_dir(home.path("")).unwrap().next().is_none());
    }

    #[test]
    fn folders_around_several_go_with_the_last() {
        let home = Home(tempfile::tempdir().unwrap());
        let mut map = home.map(false);
        map.caches[0].path = home.path(".cargo/registry");
        map.caches[1].path = home.path(".cargo/git");
        let caches = Arc::new(SessionCaches::default());
        drop(caches.make(&map, "npm; uv"));
        assert!(!home.path(".cargo").exists());
        let [one, other] = [caches.make(&map, "npm"), caches.make(&map, "uv")];
        drop(one);
        assert!(!home.path(".cargo/registry").exists() && home.path(".cargo/git").is_dir());
        drop(other);
        assert!(!home.path(".cargo").exists());
        // A folder that the program already has may get one more.
        fs::create_dir(home.path(".cargo")).unwrap();
        drop(caches.make(&map, "npm"));
        assert!(home.path(".cargo/registry").is_dir() && !home.path(".cargo/git").exists());
    }

    #[test]
    fn no_home_is_made() {
        let home = Home(tempfile::tempdir().unwrap());
        let mut map = home.map(true);
        map.caches[0].home = home.path("gone");
        map.caches[0].path = home.path("gone/.npm");
        drop(Arc::new(SessionCaches::default()).make(&map, "npm ci"));
        assert!(!home.path("gone").exists());
    }
}
