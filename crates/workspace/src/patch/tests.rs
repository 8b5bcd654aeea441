//! Golden tests and property tests of both patch languages.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::diff::FileDiff;
use crate::path::PathResolver;
use crate::text_file::TextFile;
use crate::write::commit_changes;

mod envelope;
mod hunks;
mod paths;
mod properties;

/// A temporary folder in which patches are planned and applied.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs::write(folder.path().join(path), content).unwrap();
        }
        Self { folder }
    }

    fn plan(&self, ops: &[FileOp]) -> Result<Vec<FileEdit>, String> {
        self.plan_seen(ops, None)
    }

    fn plan_seen(&self, ops: &[FileOp], seen: Option<Tag>) -> Result<Vec<FileEdit>, String> {
        let paths = PathResolver::new(self.folder.path(), None);
        let planner = PatchPlanner { files: &paths, last_seen: &|_: &Path| seen, rules: EditRules::default() };
        planner.plan(ops).map_err(|error| error.to_string())
    }

    fn carry_out(&self, ops: &[FileOp]) -> Result<Vec<String>, String> {
        let edits = self.plan(ops)?;
        commit_changes(edits.iter().flat_map(FileEdit::changes).collect()).map_err(|error| error.to_string())?;
        Ok(edits.into_iter().flat_map(|edit| edit.warnings).collect())
    }

    /// Returns all files in the folder with their content, sorted.
    fn files(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else {
                    let name = entry.strip_prefix(self.folder.path()).unwrap().to_str().unwrap().to_owned();
                    found.push((name, String::from_utf8_lossy(&fs::read(entry).unwrap()).into_owned()));
                }
            }
        }
        found.sort();
        found
    }
}

fn update(diff: &str) -> Result<FileOp, String> {
    let hunks = parse_hunks(diff).map_err(|error| error.to_string())?;
    Ok(FileOp { path: "f".into(), op: PatchOp::Update { hunks, rename: None } })
}

fn run(content: &str, diff: &str) -> Result<(String, Vec<String>), String> {
    let bench = Bench::new(&[("f", content.as_bytes())]);
    let edits = bench.plan(&[update(diff)?])?;
    let after = String::from_utf8(edits[0].after.as_ref().unwrap().bytes().to_vec()).unwrap();
    Ok((after, edits[0].warnings.clone()))
}

#[track_caller]
fn check(content: &str, diff: &str, want: &str) {
    assert_eq!(run(content, diff), Ok((want.to_owned(), Vec::new())), "{diff}");
}

#[track_caller]
fn check_warned(content: &str, diff: &str, want: &str, warning: &str) {
    let (after, warnings) = run(content, diff).unwrap();
    assert_eq!(after, want, "{diff}");
    assert!(warnings.len() == 1 && warnings[0].contains(warning), "{diff}: {warnings:?}");
}

#[track_caller]
fn check_refused(content: &str, diff: &str, why: &[&str]) {
    let error = run(content, diff).unwrap_err();
    for part in why {
        assert!(error.contains(part), "{diff}: {error}");
    }
}
