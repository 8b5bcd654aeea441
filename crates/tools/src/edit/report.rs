//! What is told about edits that were made: a short numbered diff for the model, a unified one for the screen.

use omp_agent::Output;
use omp_workspace::{FileEdit, PreviewLimits};

use super::{Details, EditOp, FileResult};
use crate::details::Meta;
use crate::files::{Files, header};

/// What is saved of one file's diff; a session file keeps it for ever.
const MAX_DIFF_BYTES: usize = 256 * 1024;

pub fn output(files: &Files, edits: &[FileEdit]) -> Output<Details> {
    let (texts, mut results): (Vec<String>, Vec<FileResult>) = edits.iter().map(|edit| one_file(files, edit)).unzip();
    let mut text = texts.join("\n\n");
    let warnings: Vec<&str> = edits.iter().flat_map(|edit| &edit.warnings).map(String::as_str).collect();
    if !warnings.is_empty() {
        text.push_str("\n\nWarnings:\n");
        text.push_str(&warnings.join("\n"));
    }
    let details = Details {
        diff: results.iter().map(|result| result.diff.as_str()).collect(),
        first_changed_line: results.first().and_then(|result| result.first_changed_line),
        op: results.first().map_or(EditOp::Update, |result| result.op),
        meta: edits.first().map_or_else(Meta::default, |edit| Meta::path(&edit.path.absolute)),
        per_file_results: if results.len() > 1 { std::mem::take(&mut results) } else { Vec::new() },
    };
    Output::text(text, details)
}

fn one_file(files: &Files, edit: &FileEdit) -> (String, FileResult) {
    let path = &edit.path.display;
    let tag = files.record(&edit.path.absolute, &edit.after);
    let (diff, before) = edit.diff();
    let preview = diff.preview(&before, &edit.after, PreviewLimits::default());
    let (op, verb) = if edit.is_new() { (EditOp::Create, "Created") } else { (EditOp::Update, "Updated") };
    let mut text = header(path, tag);
    if edit.is_new() || preview.is_empty() {
        text.push_str(&format!("\n{verb} {path}"));
    }
    if !preview.is_empty() {
        text.push('\n');
        text.push_str(&preview);
    }
    let result = FileResult {
        path: path.clone(),
        diff: bounded(diff.unified(path, &before, &edit.after)),
        first_changed_line: diff.first_changed_line(),
        op,
    };
    (text, result)
}

/// Cut at a line; what follows a backslash is a remark in a unified diff.
fn bounded(mut diff: String) -> String {
    if diff.len() > MAX_DIFF_BYTES {
        let end = diff.as_bytes()[..MAX_DIFF_BYTES].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        diff.truncate(end);
        diff.push_str("\\ The rest of this diff is too long to be kept.\n");
    }
    diff
}
