//! Caches of package managers that are missing: made for the commands that need them, since those cannot make anything in a
//! home, and gone again with them if nothing was put there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_types::{AccessMap, Cache};

/// Of one session.
#[derive(Debug, Default)]
pub(crate) struct Caches(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Made for commands that run.
    made: BTreeMap<PathBuf, Made>,
    /// A program has looked for it in vain, whoever had started that.
    wanted: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct Made {
    /// The cache and the folders around it, the outermost first.
    folders: Vec<PathBuf>,
    commands: usize,
}

impl Caches {
    /// Makes what a command needs, which `runs` names. It stays at least as long as what is returned.
    pub(crate) fn make(self: &Arc<Self>, map: &AccessMap, runs: &str) -> InUse {
        let mut state = self.lock();
        let mut used = Vec::new();
        for cache in &map.caches {
            let is_needed = cache.is_expected || names_any(runs, cache.programs) || state.wanted.contains(&cache.path);
            if !is_needed {
                continue;
            }
            if let Some(made) = state.made.get_mut(&cache.path) {
                made.commands += 1;
                used.push(cache.path.clone());
            } else if let Some(folders) = make(cache) {
                state.made.insert(cache.path.clone(), Made { folders, commands: 1 });
                used.push(cache.path.clone());
            }
        }
        InUse { caches: self.clone(), used }
    }

    /// The next commands find it there. The map has as many as are known to omp.
    pub(crate) fn want(&self, cache: &Path) {
        self.lock().wanted.insert(cache.to_owned());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was made for one command.
#[derive(Debug)]
pub(crate) struct InUse {
    caches: Arc<Caches>,
    used: Vec<PathBuf>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = self.caches.lock();
        for cache in &self.used {
            let Some(made) = state.made.get_mut(cache) else { continue };
            made.commands -= 1;
            if made.commands == 0
                && let Some(made) = state.made.remove(cache)
            {
                for folder in made.folders.iter().rev() {
                    // Fails where there is anything in it, and then it is used.
                    let _ = fs::remove_dir(folder);
                }
            }
        }
    }
}

/// `None` where it is there, or cannot be made: then the command could not make it either, and says so itself.
fn make(cache: &Cache) -> Option<Vec<PathBuf>> {
    if !cache.home.is_dir() || fs::symlink_metadata(&cache.path).is_ok() {
        return None;
    }
    let missing: Vec<&Path> = cache.path.ancestors().take_while(|folder| !folder.exists()).collect();
    let mut made = Vec::new();
    for folder in missing.into_iter().rev() {
        if fs::create_dir(folder).is_ok() {
            made.push(folder.to_owned());
        }
    }
    (!made.is_empty()).then_some(made)
}

/// As words of their own: `npm ci`, `/usr/bin/npm`, `bash -c 'npm ci'`, `python3 -m pip`.
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
            let cache = |path: &str, programs, is_expected| Cache {
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
        let (map, caches) = (home.map(false), Arc::new(Caches::default()));
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
        // It exists by now, so it is not omp's to take away.
        fs::remove_file(home.path(".cache/uv/x")).unwrap();
        drop(caches.make(&map, "uv sync"));
        assert!(home.path(".cache/uv").is_dir());
    }

    #[test]
    fn what_is_expected_or_was_looked_for_is_there_for_every_command() {
        let home = Home(tempfile::tempdir().unwrap());
        let caches = Arc::new(Caches::default());
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
    fn no_home_is_made() {
        let home = Home(tempfile::tempdir().unwrap());
        let mut map = home.map(true);
        map.caches[0].home = home.path("gone");
        map.caches[0].path = home.path("gone/.npm");
        drop(Arc::new(Caches::default()).make(&map, "npm ci"));
        assert!(!home.path("gone").exists());
    }
}
