//! `edit`: four edit languages over one transactional engine. A session offers the one its model knows best.

use std::sync::Arc;

use omp_agent::{AnyTool, Output, ToolError};
use omp_workspace::hashline::HashlineOptions;
use omp_workspace::{EditRules, FileEdit};
use serde::{Deserialize, Serialize};

use crate::details::Meta;
use crate::files::Files;
use crate::options::EditOptions;

mod apply_patch;
mod broken;
mod hashline;
mod mode;
mod patch;
mod preview;
mod render;
mod replace;
mod report;
mod touched;

pub use apply_patch::ApplyPatchEdit;
pub use hashline::HashlineEdit;
pub use mode::EditMode;
pub use patch::PatchEdit;
pub(crate) use preview::outlook_of;
pub(crate) use render::diff_lines;
pub use replace::ReplaceEdit;
pub(crate) use report::diff_of;
use touched::touched;

/// Builds the tool for one edit language.
pub fn tool(mode: EditMode, files: Arc<Files>, options: &EditOptions) -> Arc<dyn AnyTool> {
    let rules = EditRules {
        block_generated: options.block_generated,
        fuzzy: options.fuzzy_match,
        threshold: options.fuzzy_threshold,
    };
    let hashline = HashlineOptions {
        block_generated: options.block_generated,
        drop_insert_duplicates: options.drop_insert_duplicates,
    };
    match mode {
        EditMode::Hashline => Arc::new(HashlineEdit::new(files, hashline)),
        EditMode::Replace => Arc::new(ReplaceEdit::new(files, rules)),
        EditMode::Patch => Arc::new(PatchEdit::new(files, rules)),
        EditMode::ApplyPatch => Arc::new(ApplyPatchEdit::new(files, rules)),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Unified diff of all files.
    pub diff: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_changed_line: Option<usize>,
    /// Operation on the first file.
    pub op: EditOp,
    /// The new name of the first file, if it was renamed.
    #[serde(default, rename = "move", skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// Set if there is more than one file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_file_results: Vec<FileResult>,
    pub meta: Meta,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditOp {
    Create,
    #[default]
    Update,
    Delete,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileResult {
    pub path: String,
    pub diff: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_changed_line: Option<usize>,
    pub op: EditOp,
    #[serde(default, rename = "move", skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
}

/// Turns off the search for similar text in previews of partial arguments, because it is too slow to run for every delta.
fn rules_for(rules: EditRules, whole: bool) -> EditRules {
    if whole { rules } else { EditRules { threshold: 1.0, ..rules } }
}

/// Writes planned edits, all or none, and reports them. Used by every edit language.
fn carry_out(files: &Files, edits: Vec<FileEdit>) -> Result<Output<Details>, ToolError> {
    files.commit_changes(edits.iter().flat_map(FileEdit::changes).collect())?;
    Ok(report::output(files, &edits))
}

#[cfg(test)]
mod tests;
