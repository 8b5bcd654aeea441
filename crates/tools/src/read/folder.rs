//! Folders: shows a bounded tree.

use std::path::Path;
use std::time::SystemTime;

use omp_agent::{Output, ToolError};
use omp_workspace::{FileError, ListingLimits, OpenedPath, ResolvedPath, list_folder};

use super::{Details, DisplayContent};
use crate::details::Meta;
use crate::files::Files;

/// Limits the tree, because a longer one would only fill the context.
const MAX_BYTES: usize = 50 * 1024;

pub fn read(files: &Files, path: &ResolvedPath, held: &OpenedPath) -> Result<Output<Details>, ToolError> {
    let kept = files.reach().kept_below(held.real());
    let is_kept = |below: &Path| kept.iter().any(|kept| kept == below);
    let mut lines = list_folder(held.way(), ListingLimits::default(), SystemTime::now(), &is_kept)
        .map_err(|error| ToolError::reply(FileError::io(&path.absolute, error).shown_as(&path.display)))?;
    let total = lines.len();
    let mut room = MAX_BYTES;
    let shown =
        lines.iter().take_while(|line| room.checked_sub(line.len() + 1).map(|left| room = left).is_some()).count();
    lines.truncate(shown);
    let tree = lines.join("\n");
    let mut text = format!("{}/", path.display.trim_end_matches('/'));
    if total == 0 {
        text.push_str("\n(the folder is empty)");
    } else {
        text.push('\n');
        text.push_str(&tree);
    }
    if lines.iter().any(|line| line.trim_start().starts_with("… ")) {
        text.push_str("\n(… marks entries left out; read the folder itself, or list it with find)");
    }
    if shown < total {
        text.push_str(&format!("\n({} lines of this listing are not shown; read a subfolder)", total - shown));
    }
    let display = DisplayContent { text: tree, start_line: 1, line_numbers: Vec::new() };
    let details = Details {
        display_content: Some(display),
        is_directory: true,
        meta: Meta::path(&path.absolute),
        ..Details::default()
    };
    Ok(Output::text(text, details))
}
