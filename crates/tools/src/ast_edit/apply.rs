//! Applies a preview: writes all of its files or none, and only if no file changed since the preview.

use std::sync::Arc;

use omp_agent::{ToolError, ToolOutput};
use omp_types::Content;

use super::plan::{PlannedEdit, RewritePlan};
use super::text;
use crate::blocking::blocking;
use crate::files::Files;

pub async fn apply(files: Arc<Files>, plan: RewritePlan) -> Result<ToolOutput, ToolError> {
    blocking(move || {
        refuse_changed(&files, &plan)?;
        files.commit_changes(plan.edits.iter().flat_map(|planned| planned.edit.changes()).collect())?;
        let (text, details) = text::applied(&plan, &files);
        let details = serde_json::to_value(details).map_err(|error| ToolError::Fatal(error.to_string()))?;
        Ok(ToolOutput { content: vec![Content::text(text)], details: Some(details), ..ToolOutput::default() })
    })
    .await
}

/// Reports every file that changed since the preview; the write itself would report only the first.
fn refuse_changed(files: &Files, plan: &RewritePlan) -> Result<(), ToolError> {
    let is_changed = |planned: &&PlannedEdit| {
        let now = files.read_if_exists(&planned.edit.path.absolute).ok().flatten();
        let then = planned.edit.before.as_ref().map(|file| &file.bytes()[..]);
        now.as_deref() != then
    };
    let changed: Vec<&str> =
        plan.edits.iter().filter(is_changed).map(|planned| planned.edit.path.display.as_str()).collect();
    if changed.is_empty() {
        return Ok(());
    }
    Err(ToolError::Reply(format!(
        "Changed since the preview: {}\nNothing was written, and the preview was discarded.\nhint: call `ast_edit` again",
        changed.join(", ")
    )))
}
