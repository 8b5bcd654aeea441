//! The files a rule is for.

use std::sync::OnceLock;

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Cheap to make: most rules never see a file, so the globs are taken apart with the first one.
#[derive(Clone, Debug)]
pub(crate) struct FileGate {
    globs: Vec<Glob>,
    set: OnceLock<GlobSet>,
}

impl FileGate {
    /// A gate of which no glob is left stays shut.
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
