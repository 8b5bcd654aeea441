//! A path that does not exist: what the model may have meant.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use omp_agent::{Output, ToolError};
use omp_stdx::nearest::nearest;
use omp_types::Content;
use omp_workspace::{FileError, ResolvedPath};

use super::Details;
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

/// The one file of the working folder whose path ends with all of the missing one. `None` also when there may be more
/// of them than were looked at.
pub fn only_one_meant(files: &Files, missing: &ResolvedPath) -> Option<ResolvedPath> {
    if std::fs::symlink_metadata(&missing.absolute).err()?.kind() != io::ErrorKind::NotFound {
        return None;
    }
    let end = missing.absolute.strip_prefix(files.cwd()).ok()?;
    let found = named(files, missing.absolute.file_name()?);
    let mut meant = found.paths.into_iter().filter(|path| path.ends_with(end) && path.is_file());
    match (meant.next(), meant.next()) {
        (Some(absolute), None) if found.looked_at_all => {
            Some(ResolvedPath { display: files.paths().display(&absolute), absolute })
        }
        _ => None,
    }
}

/// What was read in place of a file that is not there, under a line that says so.
pub fn read_instead(missing: &ResolvedPath, shown: &ResolvedPath, mut output: Output<Details>) -> Output<Details> {
    let said = format!("[{} not found; showing {}]", missing.display, shown.display);
    match output.content.first_mut() {
        Some(Content::Text(block)) => block.text = format!("{said}\n{}", block.text),
        _ => output.content.insert(0, Content::text(said)),
    }
    output
}

/// Files elsewhere in the working folder with the name of the missing one, those whose folders are alike first.
fn same_name(files: &Files, missing: &Path) -> Vec<String> {
    let Some(name) = missing.file_name() else { return Vec::new() };
    let found = named(files, name).paths;
    let mut found: Vec<(usize, String)> =
        found.iter().map(|path| (common_tail(missing, path), files.paths().display(path))).collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.into_iter().take(MAX_HINTS).map(|(_, path)| path).collect()
}

struct Named {
    paths: Vec<PathBuf>,
    looked_at_all: bool,
}

fn named(files: &Files, name: &OsStr) -> Named {
    let mut found = Named { paths: Vec::new(), looked_at_all: true };
    let mut folders = VecDeque::from([files.cwd().to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                found.looked_at_all = false;
                return found;
            }
            if entry.file_name() == name {
                found.paths.push(entry.path());
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !NOT_OPENED.iter().any(|skipped| entry.file_name() == *skipped) {
                folders.push_back(entry.path());
            }
        }
    }
    found
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
