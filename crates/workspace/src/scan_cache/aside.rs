//! Walks very large folders one name at a time.
//!
//! The parallel walker reads a whole folder before it returns anything. With millions of names in one folder that would take
//! memory for all of them, and could not be stopped for seconds.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use ignore::IncrementalIgnore;

use super::ScanKey;
use super::parallel::rules;
use super::progress::ScanProgress;
use super::scan::{Met, ScanEntry, Visit};
use crate::walk::StopCheck;

/// Size of a folder's directory file in bytes: 29,000 names of 14 letters on ext4, 52,000 on tmpfs. Reading that many took
/// about 30 ms. Where the system does not report a size (Windows), no folder counts as enormous.
pub(super) const ENORMOUS: u64 = 1024 * 1024;

/// Walks the folders that were set aside, recursively.
pub(super) fn walk(root: &Path, key: &ScanKey, all: &ScanProgress, stop: StopCheck<'_>, visit: &Visit<'_>) {
    let folders = all.take_aside();
    if folders.is_empty() {
        return;
    }
    let Some(rules) = rules(root, key).build_matchers().pop() else { return };
    let mut walker = Walker { all, rules, visit, visitor: (visit.make)(), folders: Vec::new() };
    for folder in folders {
        if folder != root {
            walker.meet(&folder, true);
        }
        walker.folders.push(folder);
    }
    while let Some(folder) = walker.folders.pop() {
        let Ok(names) = folder.read_dir() else {
            all.could_not_read();
            continue;
        };
        for name in names {
            if stop() {
                all.stop();
            }
            if all.is_over() {
                return;
            }
            walker.see(name).unwrap_or_else(|_| all.could_not_read());
        }
    }
}

struct Walker<'a, 'v> {
    all: &'a ScanProgress,
    rules: IncrementalIgnore,
    visit: &'a Visit<'v>,
    visitor: Box<dyn FnMut(&Met<'_>) + Send + 'v>,
    /// Folders that are still to be read.
    folders: Vec<PathBuf>,
}

impl Walker<'_, '_> {
    fn see(&mut self, name: io::Result<DirEntry>) -> io::Result<()> {
        let name = name?;
        let kind = name.file_type()?;
        let path = name.path();
        let is_entry = (kind.is_file() || kind.is_dir()) && name.file_name() != ".git";
        let relative = self.all.below_root(&path).filter(|_| is_entry);
        let admitted = relative.is_some_and(|relative| !self.rules.matched(relative, kind.is_dir()).is_ignore());
        if admitted && self.all.sees_one_more() {
            self.meet(&path, kind.is_dir());
            if kind.is_dir() {
                self.folders.push(path);
            }
        }
        Ok(())
    }

    fn meet(&mut self, path: &Path, is_folder: bool) {
        let Some(relative) = self.all.below_root(path) else { return };
        let entry = ScanEntry::new(relative, is_folder);
        if self.all.lists && self.all.has_room() {
            self.all.keep(entry);
        } else {
            self.all.meet(path, entry, self.visit, &mut *self.visitor);
        }
    }
}
