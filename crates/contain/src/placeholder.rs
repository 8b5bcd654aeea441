//! Guarded paths that do not exist yet: an empty folder stands there while commands run, so that a mount can cover it.
//!
//! A folder, also where a file would be expected: git does not see empty folders, so nothing of it can be committed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use omp_types::AccessMap;
use tokio_util::task::AbortOnDropHandle;

use crate::map;

/// What stands for one running tree. Placeholders go with the last tree that needs them, if they are still empty.
#[derive(Debug, Default)]
pub struct Kept {
    placeholders: Vec<PathBuf>,
    /// Serves the way out of the tree.
    way_out: Option<AbortOnDropHandle<()>>,
}

/// How many trees need each.
static STANDING: LazyLock<Mutex<HashMap<PathBuf, usize>>> = LazyLock::new(Mutex::default);

impl Kept {
    pub(crate) fn make(map: &AccessMap) -> Self {
        let mut standing = lock();
        let mut kept = Vec::new();
        for guard in map.guarded.iter().filter(|guard| map::may_come_into_being(guard, map)) {
            let Some(missing) = first_missing(guard, &standing) else { continue };
            if let Some(trees) = standing.get_mut(&missing) {
                *trees += 1;
                kept.push(missing);
            } else if std::fs::create_dir(&missing).is_ok() {
                standing.insert(missing.clone(), 1);
                kept.push(missing);
            }
        }
        Self { placeholders: kept, way_out: None }
    }

    /// Goes with the tree as well.
    pub(crate) fn with_way_out(mut self, way_out: Option<AbortOnDropHandle<()>>) -> Self {
        self.way_out = way_out;
        self
    }
}

/// The part of `path` that would have to be made first. What stands there as a placeholder counts as missing.
fn first_missing(path: &Path, standing: &HashMap<PathBuf, usize>) -> Option<PathBuf> {
    let is_missing = |path: &Path| {
        standing.contains_key(path)
            || std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    let ancestors: Vec<&Path> = path.ancestors().collect();
    ancestors.into_iter().rev().find(|ancestor| is_missing(ancestor)).map(Path::to_owned)
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut standing = lock();
        for path in self.placeholders.drain(..) {
            let Some(trees) = standing.get_mut(&path) else { continue };
            *trees -= 1;
            if *trees == 0 {
                standing.remove(&path);
                // Fails where somebody has put something there meanwhile: then it is theirs.
                let _ = std::fs::remove_dir(&path);
            }
        }
    }
}

fn lock() -> MutexGuard<'static, HashMap<PathBuf, usize>> {
    STANDING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_stand_as_long_as_anything_runs_and_go_if_empty() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().canonicalize().unwrap();
        let guarded =
            vec![workspace.join(".omp"), workspace.join(".claude/settings.json"), workspace.join(".git/hooks")];
        let map = AccessMap { workspace: workspace.clone(), guarded, ..AccessMap::default() };
        let (one, two) = (Kept::make(&map), Kept::make(&map));
        drop(one);
        assert!(workspace.join(".omp").is_dir() && workspace.join(".claude").is_dir());
        // A folder that is no repository may become one.
        assert!(!workspace.join(".git").exists());
        std::fs::write(workspace.join(".claude/theirs"), "x").unwrap();
        drop(two);
        assert!(!workspace.join(".omp").exists() && workspace.join(".claude/theirs").exists());
    }
}
