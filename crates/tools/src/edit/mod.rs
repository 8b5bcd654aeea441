//! `edit`: the hashline language over the one edit engine.

use std::sync::Arc;

use omp_agent::{Approval, Concurrency, Outcome, Output, Tool, ToolCx, ToolError};
use omp_view::View;
use omp_workspace::hashline::{self, HashlineOptions, HashlinePlanner};
use omp_workspace::{FileEdit, commit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::details::Meta;
use crate::files::{Files, write_approval};

mod render;
mod report;

pub struct Edit {
    pub files: Arc<Files>,
    pub options: HashlineOptions,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// Sections of `[path#TAG]` and operations.
    pub input: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Unified; of all files together.
    pub diff: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_changed_line: Option<usize>,
    /// Of the first file.
    pub op: EditOp,
    /// When there is more than one.
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
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileResult {
    pub path: String,
    pub diff: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_changed_line: Option<usize>,
    pub op: EditOp,
}

impl Tool for Edit {
    type Params = Params;
    type Details = Details;
    const NAME: &'static str = "edit";
    const PROMPT: &'static str = include_str!("prompt.md");

    fn approval(&self, params: &Params) -> Approval {
        let patch = hashline::parse(&params.input).unwrap_or_default();
        write_approval(&self.files, patch.sections.iter().map(|section| section.path.as_str()))
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let (files, options) = (self.files.clone(), self.options);
        blocking(move || carry_out(&files, plan(&files, &params.input, options)?)).await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view(params, outcome)
    }
}

fn plan(files: &Files, input: &str, options: HashlineOptions) -> Result<Vec<FileEdit>, ToolError> {
    let patch = hashline::parse(input).map_err(ToolError::reply)?;
    let seen = |path: &std::path::Path, tag| files.snapshot(path, tag);
    HashlinePlanner { paths: files.paths(), seen: &seen, options }.plan(patch).map_err(ToolError::reply)
}

/// Writes planned edits, all or none, and tells about them. Every edit language ends here.
fn carry_out(files: &Files, edits: Vec<FileEdit>) -> Result<Output<Details>, ToolError> {
    let plans: Vec<_> = edits.iter().map(FileEdit::plan).collect();
    commit(&plans).map_err(|error| ToolError::reply(error.shown_with(files.paths())))?;
    Ok(report::output(files, &edits))
}

#[cfg(test)]
mod tests;
