//! Walks folders of normal size on several threads.

use std::path::Path;
use std::sync::Arc;

use ignore::{WalkBuilder, WalkState};

use super::ScanKey;
use super::progress::ScanProgress;
use super::scan::Visit;
use crate::walk::{StopCheck, threads};

pub(super) fn walk(root: &Path, key: &ScanKey, all: &Arc<ScanProgress>, stop: StopCheck<'_>, visit: &Visit<'_>) {
    let admits = {
        let all = all.clone();
        move |entry: &_| all.admits(entry)
    };
    rules(root, key).threads(threads()).filter_entry(admits).build_parallel().run(|| {
        let mut visitor = (visit.make)();
        let all = &**all;
        Box::new(move |entry| {
            if stop() {
                all.stop();
            }
            if all.is_over() {
                return WalkState::Quit;
            }
            if all.lists {
                all.meet_listed(stop, visit, &mut *visitor);
            }
            match entry {
                Ok(entry) => {
                    // Folders are already listed; files that are listed do not get here.
                    let scanned = all.scanned(&entry).filter(|scanned| !(all.lists && scanned.is_folder));
                    if let Some(scanned) = scanned {
                        all.meet(entry.path(), scanned, visit, &mut *visitor);
                    }
                }
                Err(_) => all.could_not_read(),
            }
            WalkState::Continue
        })
    });
}

/// Returns the walk settings for `root`.
pub(super) fn rules(root: &Path, key: &ScanKey) -> WalkBuilder {
    // Outside a repository, a `.gitignore` still applies, but those above the root do not: a home folder kept in git often
    // ignores everything.
    let in_repository = root.ancestors().any(|folder| folder.join(".git").exists());
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(key.gitignore)
        .hidden(!key.hidden)
        .require_git(in_repository)
        .parents(key.gitignore && in_repository);
    builder
}
