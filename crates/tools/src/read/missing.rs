//! Suggestions for a path that does not exist.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use omp_agent::{Output, ToolError};
use omp_stdx::nearest::nearest;
use omp_types::Content;
use omp_workspace::{FileError, ResolvedPath, folded};

use super::Details;
use crate::files::Files;

/// Limits the entries scanned for a file of the same name elsewhere.
const MAX_ENTRIES: usize = 20_000;
const MAX_HINTS: usize = 5;
const NOT_OPENED: [&str; 3] = [".git", "node_modules", "target"];

pub fn explain(files: &Files, path: &ResolvedPath, error: FileError) -> ToolError {
    let error = error.shown_as(&path.display);
    if !error.is_not_found() {
        return ToolError::reply(error);
    }
    let (mut hints, looked_at_all) = same_name(files, &path.absolute);
    let more = match hints.len().saturating_sub(MAX_HINTS) {
        0 => String::new(),
        more => format!(" or one of {more} more, which find lists"),
    };
    hints.truncate(MAX_HINTS);
    if hints.is_empty() {
        hints.extend(sibling(files, &path.absolute));
    }
    let hint = match hints.len() {
        0 => "hint: list the folder, or search for the file with find".to_owned(),
        _ => format!("hint: did you mean {}{more}?", hints.join(", ")),
    };
    let unseen = match looked_at_all {
        true => String::new(),
        false => format!(" (only {MAX_ENTRIES} entries of the working folder were searched)"),
    };
    ToolError::Reply(format!("{error}\n{hint}{unseen}"))
}

/// Returns the only file in the working folder whose path ends with the whole missing path: exactly, or else ignoring case
/// and Unicode form. Returns `None` also if the scan was incomplete, because there may be more such files.
pub fn only_one_meant(files: &Files, missing: &ResolvedPath) -> Option<ResolvedPath> {
    if std::fs::symlink_metadata(&missing.absolute).err()?.kind() != io::ErrorKind::NotFound {
        return None;
    }
    let end = missing.absolute.strip_prefix(files.cwd()).ok()?;
    let found = named(files, missing.absolute.file_name()?);
    let (same, alike): (Vec<PathBuf>, Vec<PathBuf>) = found
        .paths
        .into_iter()
        .filter(|path| ends_alike(path, end) && path.is_file())
        .partition(|path| path.ends_with(end));
    let mut meant = if same.is_empty() { alike } else { same };
    match meant.pop() {
        Some(absolute) if meant.is_empty() && found.looked_at_all => {
            Some(ResolvedPath { display: files.paths().display(&absolute), absolute })
        }
        _ => None,
    }
}

/// Whether a path ends with another, ignoring case and Unicode form.
fn ends_alike(path: &Path, end: &Path) -> bool {
    let count = end.components().count();
    count <= path.components().count() && common_tail(path, end) == count
}

/// Adds a line that says which file was read instead of the missing one.
pub fn read_instead(missing: &ResolvedPath, shown: &ResolvedPath, mut output: Output<Details>) -> Output<Details> {
    let said = format!("[{} not found; showing {}]", missing.display, shown.display);
    match output.content.first_mut() {
        Some(Content::Text(block)) => block.text = format!("{said}\n{}", block.text),
        _ => output.content.insert(0, Content::text(said)),
    }
    output
}

/// Returns files elsewhere in the working folder with the name of the missing one, those with similar folders first, and
/// whether the whole folder was scanned.
fn same_name(files: &Files, missing: &Path) -> (Vec<String>, bool) {
    let Some(name) = missing.file_name() else { return (Vec::new(), true) };
    let NamesakeFiles { paths, looked_at_all } = named(files, name);
    let mut found: Vec<(usize, String)> =
        paths.iter().map(|path| (common_tail(missing, path), files.paths().display(path))).collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    (found.into_iter().map(|(_, path)| path).collect(), looked_at_all)
}

struct NamesakeFiles {
    paths: Vec<PathBuf>,
    looked_at_all: bool,
}

/// Finds files with this name, ignoring case and Unicode form.
fn named(files: &Files, name: &OsStr) -> NamesakeFiles {
    let mut found = NamesakeFiles { paths: Vec::new(), looked_at_all: true };
    let mut folders = VecDeque::from([files.cwd().to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                found.looked_at_all = false;
                return found;
            }
            if alike(&entry.file_name(), name) {
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
    let pairs = a.components().rev().zip(b.components().rev());
    pairs.take_while(|(a, b)| alike(a.as_os_str(), b.as_os_str())).count()
}

fn alike(a: &OsStr, b: &OsStr) -> bool {
    a == b || matches!((a.to_str(), b.to_str()), (Some(a), Some(b)) if folded(a) == folded(b))
}

/// Returns the most similar name in the deepest existing folder of the path.
fn sibling(files: &Files, missing: &Path) -> Option<String> {
    let (parent, child) = missing.ancestors().zip(missing.ancestors().skip(1)).find_map(|(child, parent)| {
        parent.is_dir().then(|| (parent.to_owned(), PathBuf::from(child.file_name().unwrap_or_default())))
    })?;
    // A folder that may not be listed gives no hints.
    let held = files.reach().hold(&parent).ok()?;
    let names: Vec<String> = std::fs::read_dir(held.way())
        .ok()?
        .take(MAX_ENTRIES)
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let closest = nearest(&child.to_string_lossy(), &names)?;
    Some(files.paths().display(&parent.join(closest)))
}
