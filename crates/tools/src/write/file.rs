//! Writes a plain file and creates its parent folders.

use omp_agent::{Output, ToolError};
use omp_view::View;
use omp_workspace::{EditPlan, FileEdit, FileSource, ResolvedPath, TextFile, refuse_generated};

use super::Details;
use crate::details::Meta;
use crate::edit::{diff_of, outlook_of};
use crate::files::{Files, LastKnown, header};
use crate::read::split_selector;

pub fn write(files: &Files, typed: &str, content: &str, block_generated: bool) -> Result<Output<Details>, ToolError> {
    let path = files.resolve(typed)?;
    if typed.trim_end().ends_with(['/', '\\']) {
        return Err(ToolError::Reply(format!("{typed} names a folder, not a file\nhint: add a file name")));
    }
    let before =
        files.read_if_exists(&path.absolute).map_err(|error| ToolError::reply(error.shown_as(&path.display)))?;
    match &before {
        Some(before) => refuse_generated(&path, before, block_generated).map_err(ToolError::reply)?,
        None => refuse_mistaken_read(typed, content)?,
    }
    let executable = content.starts_with("#!");
    let made_executable = executable && !is_executable(&path);
    let created = before.is_none();
    let plan =
        EditPlan { path: path.absolute.clone(), expected: before, content: content.as_bytes().to_vec(), executable };
    let old = plan.expected.clone();
    files.commit(plan)?;
    let after = TextFile::parse(content.as_bytes());
    let tag = files.record(&path.absolute, &after);
    let text =
        format!("{}\nSuccessfully wrote {} bytes to {}", header(&path.display, tag), content.len(), path.display);
    let meta = Meta::path(&path.absolute);
    let diff = old.map(|old| diff_of(&FileEdit::new(path, Some(TextFile::parse(old)), Some(after))));
    let diff = diff.unwrap_or_default();
    Ok(Output::text(text, Details { made_executable, created, diff, resolved_path: None, meta }))
}

/// Previews the change of an existing text file.
pub fn outlook(files: &Files, typed: &str, content: &str) -> Option<View> {
    let path = files.resolve(typed).ok()?;
    let before = LastKnown(files).read(&path.absolute).ok()??;
    std::str::from_utf8(&before).ok()?;
    let [before, after] = [before.as_slice(), content.as_bytes()].map(|bytes| Some(TextFile::parse(bytes)));
    outlook_of(super::title(typed), &FileEdit::new(path, before, after))
}

/// Refuses `a.rs:10-20` without content, which is a read sent to the wrong tool.
fn refuse_mistaken_read(typed: &str, content: &str) -> Result<(), ToolError> {
    if !content.is_empty() || split_selector(typed).is_none() {
        return Ok(());
    }
    Err(ToolError::Reply(format!(
        "{typed} ends in a selector of `read`, there is no such file, and the content is empty; nothing was written\n\
         hint: use `read`, or give the content if the file should really have this name"
    )))
}

#[cfg(unix)]
fn is_executable(path: &ResolvedPath) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(&path.absolute).is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

/// Without an executable bit on this system no file is executable.
#[cfg(not(unix))]
fn is_executable(_path: &ResolvedPath) -> bool {
    true
}
