//! Creates files and folders that a contained command may create outside the workspace: the kernel can only open existing
//! paths.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use omp_exec::Containment;
use omp_types::{AccessMap, ContainMode, Touch};

use super::effects::WrittenPath;

/// Paths that were created for a command. Dropping this removes those that are still empty.
#[derive(Debug, Default)]
pub(super) struct MadePaths {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl MadePaths {
    /// Keeps the paths if the command succeeded, because it may want its files empty.
    pub(super) fn keep_unless(mut self, failed: bool) {
        if !failed {
            self.files.clear();
            self.folders.clear();
        }
    }
}

impl Drop for MadePaths {
    fn drop(&mut self) {
        for file in self.files.drain(..) {
            if fs::symlink_metadata(&file).is_ok_and(|data| data.is_file() && data.len() == 0) {
                // If removal fails, only an empty file is left behind.
                let _ = fs::remove_file(file);
            }
        }
        for folder in self.folders.drain(..).rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Creates the paths that the map allows to write but that the command cannot create itself.
///
/// With namespaces, the parent folder is opened instead, unless it contains too much.
pub(super) fn made(targets: &[WrittenPath], map: &AccessMap, containment: &Containment) -> MadePaths {
    let mut made = MadePaths::default();
    // Does not recreate a workspace that was moved away.
    if map.mode == ContainMode::Off || !map.workspace.is_dir() {
        return made;
    }
    for WrittenPath { path, is_folder, .. } in targets.iter().filter(|target| !target.by_program) {
        let allowed = map.allows(Touch::Write, path).is_ok();
        let opened = map.writable.iter().chain([&map.workspace]).any(|root| path.starts_with(root) && root.is_dir());
        let makes_it_itself = containment.opens_around(path);
        if !allowed || opened || makes_it_itself || fs::symlink_metadata(path).is_ok() {
            continue;
        }
        if *is_folder {
            make_folders(path, &mut made);
        } else {
            path.parent().into_iter().for_each(|parent| make_folders(parent, &mut made));
            // If omp cannot create it, the command cannot either and reports the error itself.
            if OpenOptions::new().write(true).create_new(true).open(path).is_ok() {
                made.files.push(path.clone());
            }
        }
    }
    made
}

fn make_folders(path: &Path, made: &mut MadePaths) {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        if fs::create_dir(folder).is_ok() {
            made.folders.push(folder.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_allowed_is_made_and_goes_if_it_was_of_no_use() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (file, place) = (root.join("a/b.txt"), root.join("c/d"));
        fs::create_dir(root.join("work")).unwrap();
        let map = AccessMap {
            workspace: root.join("work"),
            writable: vec![file.clone(), place.clone()],
            ..AccessMap::default()
        };
        let target = |path: &PathBuf, is_folder| WrittenPath { path: path.clone(), is_folder, by_program: false };
        let by_program = WrittenPath { by_program: true, ..target(&place.join("e"), false) };
        let targets = [target(&file, false), target(&place, true), target(&root.join("denied"), false), by_program];
        let both = made(&targets, &map, &Containment::switched_off());
        assert!(file.is_file() && place.is_dir() && !root.join("denied").exists() && !place.join("e").exists());
        both.keep_unless(true);
        assert!(!root.join("a").exists() && !root.join("c").exists());
        made(&targets, &map, &Containment::switched_off()).keep_unless(false);
        assert!(file.is_file() && place.is_dir());
        fs::write(&file, "x").unwrap();
        made(&targets, &map, &Containment::switched_off()).keep_unless(true);
        assert!(file.is_file() && place.is_dir());
    }
}
