//! Reads the end of a file that is too large to load.

use std::fs::File;

use omp_agent::{Output, ToolError};
use omp_stdx::format::{bytes, plural};
use omp_workspace::{FileError, ResolvedPath, tail_window};

use super::Details;
use super::text::{self, Extract};

pub fn read(
    file: &File,
    path: &ResolvedPath,
    count: usize,
    size: u64,
    raw: bool,
) -> Result<Output<Details>, ToolError> {
    let tail = tail_window(file, count, text::LIMITS)
        .map_err(|error| ToolError::reply(FileError::io(&path.absolute, error).shown_as(&path.display)))?;
    let lines = plural(tail.lines.len(), "line", "lines");
    let mut notes = vec![format!(
        "the last {lines} of {}; line numbers are unknown because the file is read from its end",
        bytes(size)
    )];
    if tail.first_is_cut {
        notes.push("only the end of this line is shown: it is too long".into());
    } else if tail.stopped_by_limit || tail.lines.len() < count && !tail.from_start {
        notes.push(format!(
            "{count} lines were requested, but no more fit; {}:LINE-LINE shows earlier ones, counted from the start",
            path.display
        ));
    }
    let extract = Extract {
        path: path.clone(),
        text: tail.lines.join("\n"),
        title: (!raw).then(|| format!("[{}]", path.display)),
        notes,
        size,
    };
    text::show_whole(extract)
}
