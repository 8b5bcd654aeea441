//! The text that the model gets for a preview and for its application.

use omp_agent::Output;
use omp_stdx::format;
use omp_workspace::PreviewLimits;

use super::AstEditDetails;
use super::plan::{PlannedEdit, RewritePlan};
use crate::ast_grep::FileCount;
use crate::ast_grep::sources::listed;
use crate::files::{Files, header};
use crate::output_sink::MAX_BYTES;
use crate::search::scope::SearchScope;

/// Bytes reserved for the notes below the diffs.
const NOTES_BYTES: usize = 8 * 1024;
/// Limits the size of the diff stored in the session file.
const MAX_KEPT_DIFF: usize = 256 * 1024;
const MAX_KEPT_ERRORS: usize = 50;
const MAX_KEPT_FILES: usize = 500;
/// Limits the files listed with their new tags after applying.
const MAX_LISTED: usize = 100;

pub fn counted(plan: &RewritePlan) -> String {
    let replacements = format::plural(plan.replacements(), "replacement", "replacements");
    format!("{replacements} in {}", format::plural(plan.edits.len(), "file", "files"))
}

pub fn preview(plan: &RewritePlan, scope: &SearchScope) -> Output<AstEditDetails> {
    let details = AstEditDetails { scope_path: scope.display(), ..details(plan, false) };
    let mut text = match plan.edits.is_empty() {
        true => format!("No replacements: nothing matches in {}", format::plural(plan.searched, "file", "files")),
        false => {
            let order = "Nothing is written yet: call `resolve` with `apply` or `discard`.";
            format!("Preview of {}. {order}\n{}", counted(plan), diffs(plan))
        }
    };
    if plan.cut {
        text.push_str("\n[There are more matches than one call rewrites; run again after applying]");
    }
    for note in plan.notes.iter().cloned().chain(listed("Problems", &plan.problems)) {
        text.push('\n');
        text.push_str(&note);
    }
    Output::text(text, details)
}

/// Shows the diffs of as many files as fit and the names of the others.
fn diffs(plan: &RewritePlan) -> String {
    let mut text = String::new();
    let mut unseen: Vec<String> = Vec::new();
    for planned in &plan.edits {
        let title = format!("{} ({})", planned.edit.path.display, planned.replacements);
        let (diff, before, after) = planned.edit.diff();
        let part = format!("\n# {title}\n{}\n", diff.preview(&before, &after, PreviewLimits::default()));
        match unseen.is_empty() && text.len() + part.len() <= MAX_BYTES - NOTES_BYTES {
            true => text.push_str(&part),
            false => unseen.push(title),
        }
    }
    if !unseen.is_empty() {
        let more = format::plural(unseen.len(), "more file", "more files");
        let names: Vec<String> = unseen.into_iter().take(MAX_LISTED).collect();
        text.push_str(&format!("\n[{more} not shown; narrow `paths` to see them: {}]\n", names.join(", ")));
    }
    text
}

/// Reports the new tags after writing, so that `edit` can continue without another read.
pub fn applied(plan: &RewritePlan, files: &Files) -> (String, AstEditDetails) {
    let mut text = format!("Applied {}.", counted(plan));
    let tag = |planned: &PlannedEdit| {
        let after = planned.edit.after.as_ref()?;
        Some(files.record(&planned.edit.path.absolute, after))
    };
    for (at, planned) in plan.edits.iter().enumerate() {
        if let Some(tag) = tag(planned)
            && at < MAX_LISTED
        {
            text.push_str(&format!("\n{} {}", header(&planned.edit.path.display, tag), planned.replacements));
        }
    }
    if plan.edits.len() > MAX_LISTED {
        text.push_str(&format!("\n… and {} more files", plan.edits.len() - MAX_LISTED));
    }
    (text, details(plan, true))
}

fn details(plan: &RewritePlan, applied: bool) -> AstEditDetails {
    let count =
        |planned: &PlannedEdit| FileCount { path: planned.edit.path.display.clone(), count: planned.replacements };
    AstEditDetails {
        scope_path: String::new(),
        total_replacements: plan.replacements(),
        files_touched: plan.edits.len(),
        files_searched: plan.searched,
        applied,
        limit_reached: plan.cut,
        file_replacements: plan.edits.iter().take(MAX_KEPT_FILES).map(count).collect(),
        diff: kept_diff(plan),
        parse_errors: plan.problems.iter().take(MAX_KEPT_ERRORS).cloned().collect(),
    }
}

fn kept_diff(plan: &RewritePlan) -> String {
    let mut kept = String::new();
    for planned in &plan.edits {
        let (diff, before, after) = planned.edit.diff();
        let unified = diff.unified(&planned.edit.path.display, &before, &after);
        if kept.len() + unified.len() > MAX_KEPT_DIFF {
            kept.push_str("\\ The rest of this diff is too long to store.\n");
            break;
        }
        kept.push_str(&unified);
    }
    kept
}
