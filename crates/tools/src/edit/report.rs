//! Reports edits: a short numbered diff for the model, a unified diff for the screen.

use omp_agent::Output;
use omp_workspace::{EditKind, FileDiff, FileEdit, PreviewLimits, TextFile, binary_reason};

use super::broken::newly_broken;
use super::{Details, EditOp, FileResult};
use crate::details::Meta;
use crate::files::{Files, header};

/// Limits the stored diff of one file, because a session file keeps it forever.
const MAX_DIFF_BYTES: usize = 256 * 1024;
/// Size limit of texts that are compared only for display.
const MAX_COMPARED_BYTES: usize = 4 * 1024 * 1024;

pub fn output(files: &Files, edits: &[FileEdit]) -> Output<Details> {
    let (texts, mut results): (Vec<String>, Vec<FileResult>) = edits.iter().map(|edit| one_file(files, edit)).unzip();
    let mut text = texts.join("\n\n");
    let broken = edits.iter().filter_map(newly_broken);
    let warnings: Vec<String> = edits.iter().flat_map(|edit| edit.warnings.clone()).chain(broken).collect();
    if !warnings.is_empty() {
        text.push_str("\n\nWarnings:\n");
        text.push_str(&warnings.join("\n"));
    }
    let details = Details {
        diff: results.iter().map(|result| result.diff.as_str()).collect(),
        first_changed_line: results.first().and_then(|result| result.first_changed_line),
        op: results.first().map_or(EditOp::Update, |result| result.op),
        moved_to: results.first().and_then(|result| result.moved_to.clone()),
        meta: edits.first().map_or_else(Meta::default, |edit| Meta::path(&edit.path.absolute)),
        per_file_results: if results.len() > 1 { std::mem::take(&mut results) } else { Vec::new() },
    };
    Output::text(text, details)
}

fn one_file(files: &Files, edit: &FileEdit) -> (String, FileResult) {
    let path = &edit.path.display;
    let (diff, before, after) = edit.diff();
    let from = edit.moved_from.as_ref().map(|from| &from.display);
    let did = match (edit.kind(), from) {
        (EditKind::Move, Some(from)) => Some(format!("Moved {from} to {path}")),
        (EditKind::Create, _) => Some(format!("Created {path}")),
        (EditKind::Delete, _) => Some(format!("Deleted {path} ({} lines)", before.line_count())),
        _ => None,
    };
    let text = match &edit.after {
        None => did.unwrap_or_default(),
        Some(content) => {
            let tag = files.record(&edit.path.absolute, content);
            let preview = diff.preview(&before, &after, PreviewLimits::default());
            let said = did.or_else(|| preview.is_empty().then(|| format!("Updated {path}")));
            let parts = [Some(header(path, tag)), said, Some(preview).filter(|preview| !preview.is_empty())];
            parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
        }
    };
    let op = match edit.kind() {
        EditKind::Create => EditOp::Create,
        EditKind::Delete => EditOp::Delete,
        EditKind::Update | EditKind::Move => EditOp::Update,
    };
    let result = FileResult {
        path: from.unwrap_or(path).clone(),
        diff: shown_diff(path, &diff, &before, &after),
        first_changed_line: diff.first_changed_line(),
        op,
        moved_to: from.map(|_| path.clone()),
    };
    (text, result)
}

/// Returns the diff of a file that was written as a whole; empty if nothing in it can be shown.
pub fn diff_of(edit: &FileEdit) -> String {
    let size = |file: &Option<TextFile>| file.as_ref().map_or(0, |file| file.bytes().len());
    if size(&edit.before).saturating_add(size(&edit.after)) > MAX_COMPARED_BYTES {
        return String::new();
    }
    let (diff, before, after) = edit.diff();
    shown_diff(&edit.path.display, &diff, &before, &after)
}

fn shown_diff(path: &str, diff: &FileDiff, before: &TextFile, after: &TextFile) -> String {
    match binary_reason(before.bytes()) {
        Some(_) => String::new(),
        None => bounded(diff.unified(path, before, after)),
    }
}

/// Truncates at a line break and adds a note; a line that starts with a backslash is a remark in a unified diff.
fn bounded(mut diff: String) -> String {
    if diff.len() > MAX_DIFF_BYTES {
        let end = diff.as_bytes()[..MAX_DIFF_BYTES].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        diff.truncate(end);
        diff.push_str("\\ The rest of this diff is too long to store.\n");
    }
    diff
}
