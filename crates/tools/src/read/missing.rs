//! A path that does not exist: what the model may have meant.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use omp_agent::ToolError;
use omp_stdx::nearest::nearest;
use omp_workspace::{FileError, ResolvedPath};

use crate::files::Files;

/// Entries looked at for a file of the same name elsewhere.
const MAX_ENTRIES: usize = 20_000;
const MAX_HINTS: usize = 5;
const NOT_OPENED: [&str; 3] = [".git", "node_modules", "target"];

pub fn explain(files: &Files, path: &ResolvedPath, error: io::Error) -> ToolError {
    let error = FileError::io(&path.absolute, error).shown_as(&path.display);
    if !error.is_not_found() {
        return ToolError::reply(error);
    }
    let mut hints = same_name(files, &path.absolute);
    if hints.is_empty() {
        hints.extend(sibling(files, &path.absolute));
    }
    let hint = match hints.len() {
        0 => "hint: list the folder, or search for the file with find".to_owned(),
        _ => format!("hint: did you mean {}?", hints.join(", ")),
    };
    ToolError::Reply(format!("{error}\n{hint}"))
}

/// Files elsewhere in the working folder whose path ends as the missing one does.
fn same_name(files: &Files, missing: &Path) -> Vec<String> {
    let Some(name) = missing.file_name() else { return Vec::new() };
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut folders = VecDeque::from([files.cwd().to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                folders.clear();
                break;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if entry.file_name() == name {
                found.push((common_tail(missing, &entry.path()), files.paths().display(&entry.path())));
            }
            if is_folder && !NOT_OPENED.iter().any(|skipped| entry.file_name() == *skipped) {
                folders.push_back(entry.path());
            }
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.into_iter().take(MAX_HINTS).map(|(_, path)| path).collect()
}

fn common_tail(a: &Path, b: &Path) -> usize {
    a.components().rev().zip(b.components().rev()).take_while(|(a, b)| a == b).count()
}

/// The closest name next to where the path stops existing.
fn sibling(files: &Files, missing: &Path) -> Option<String> {
    let (parent, child) = missing.ancestors().zip(missing.ancestors().skip(1)).find_map(|(child, parent)| {
        parent.is_dir().then(|| (parent.to_owned(), PathBuf::from(child.file_name().unwrap_or_default())))
    })?;
    let names: Vec<String> = std::fs::read_dir(&parent)
        .ok()?
        .take(MAX_ENTRIES)
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let closest = nearest(&child.to_string_lossy(), &names)?;
    Some(files.paths().display(&parent.join(closest)))
}
