//! Finds files that git may store differently than in the work tree: those with a filter (such as LFS) or an encoding.
//!
//! Line endings and `$Id$` are detected by size: if they change the content, they change its size too.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use omp_stdx::plain_file;

use super::repository::Repository;
use crate::rel_path::{RelPath, os_str};

const LARGEST: u64 = 1 << 20;
/// Limit on attribute files; a repository with more is copied.
const MOST_FILES: usize = 2_000;
const CONVERTS: [&str; 2] = ["filter", "working-tree-encoding"];

pub(super) struct Filtered {
    /// Every file may be affected, because some rule is not supported here.
    all: bool,
    rules: Vec<Gitignore>,
    workspace: PathBuf,
}

impl Filtered {
    /// Reads the attribute files of the work tree and the repository, and the global ones.
    pub fn of(repository: &Repository, files: &[Vec<u8>], everywhere: &[PathBuf]) -> Self {
        let workspace = repository.root.join(os_str(&repository.prefix));
        let mut filtered = Self { all: files.len() > MOST_FILES, rules: Vec::new(), workspace };
        if filtered.all {
            return filtered;
        }
        for file in files {
            let path = repository.root.join(os_str(file));
            filtered.add(&path, path.parent().unwrap_or(&repository.root));
        }
        filtered.add(&repository.common.join("info/attributes"), &repository.root);
        everywhere.iter().for_each(|file| filtered.add(file, &repository.root));
        filtered
    }

    /// Adds a file whose patterns apply in a folder.
    fn add(&mut self, file: &Path, folder: &Path) {
        let text = match plain_file::read(file, LARGEST) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(_) => {
                self.all = true;
                return;
            }
        };
        let mut builder = GitignoreBuilder::new(folder);
        // Any error here also occurs in `build`.
        drop(builder.case_insensitive(true));
        let mut any = false;
        for line in text.lines().map(str::trim_start) {
            let converts = CONVERTS.iter().any(|word| line.contains(word));
            if !converts || line.starts_with('#') {
                continue;
            }
            let pattern = line.split_whitespace().next().unwrap_or_default();
            let is_odd = pattern.starts_with(['"', '[', '!', '\\']) || builder.add_line(None, pattern).is_err();
            self.all |= is_odd;
            any = true;
        }
        match builder.build() {
            Ok(rules) if any => self.rules.push(rules),
            Ok(_) => {}
            Err(_) => self.all = true,
        }
    }

    /// Returns whether a workspace path is affected.
    pub fn names(&self, path: impl Fn() -> RelPath) -> bool {
        if self.all || self.rules.is_empty() {
            return self.all;
        }
        let path = self.workspace.join(path().to_path());
        let mut inside = self.rules.iter().filter(|rules| path.starts_with(rules.path()));
        inside.any(|rules| rules.matched_path_or_any_parents(&path, false).is_ignore())
    }
}
