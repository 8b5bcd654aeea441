//! Restricts a rule to certain files.

use std::sync::OnceLock;

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Cheap to create: most rules never see a file, so the globs are compiled on first use.
#[derive(Clone, Debug)]
pub(crate) struct FileGate {
    globs: Vec<Glob>,
    set: OnceLock<GlobSet>,
}

impl FileGate {
    /// If no valid glob is left, no file matches.
    pub fn new(globs: Vec<Glob>) -> Self {
        Self { globs, set: OnceLock::new() }
    }

    pub fn opens_for(&self, path: &str) -> bool {
        self.set.get_or_init(|| together(&self.globs)).is_match(path)
    }
}

fn together(globs: &[Glob]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob.clone());
    }
    set.build().unwrap_or_default()
}
