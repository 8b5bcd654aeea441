//! `search`: searches file contents by regex and shows pages of lines that can be edited directly.

mod policy;
mod render;
pub(crate) mod scope;
mod text;

use std::sync::Arc;
use std::time::Duration;

use omp_agent::{Outcome, Output, Planned, Tool, ToolCx, ToolError};
use omp_view::{CallKind, View};
use omp_workspace::{MatchedFiles, Pattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::details::typed_file;
use crate::files::{Files, read_approval, scan_approval};
use crate::options::SearchOptions;
pub(crate) use policy::scan_policy;
use scope::{SearchScope, run_with_stop};
use text::LinesAround;

/// Searches file contents.
pub struct Search {
    files: Arc<Files>,
    context: LinesAround,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchParams {
    /// Regex (Rust syntax).
    pub pattern: String,
    /// Files, folders or globs (default: the working folder).
    pub paths: Option<Vec<String>>,
    /// Ignore case.
    pub i: Option<bool>,
    /// Leave out ignored files (default true).
    pub gitignore: Option<bool>,
    /// Matches to skip, to see the next page.
    pub skip: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SearchDetails {
    pub scope_path: String,
    /// Matches on this page.
    pub match_count: u64,
    /// Files on this page.
    pub file_count: usize,
    pub total_matches: u64,
    pub total_files: usize,
    pub file_matches: Vec<FileMatches>,
    /// The page size, if there are more matches than fit on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_limit_reached: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lines_truncated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_paths: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileMatches {
    pub path: String,
    pub count: u64,
}

/// Limits a search; reached only on huge trees or slow disks.
const TIME_LIMIT: Duration = Duration::from_secs(30);

impl Search {
    pub fn new(files: Arc<Files>) -> Self {
        Self { files, context: LinesAround::of(&SearchOptions::default()) }
    }

    #[must_use]
    pub fn with_options(self, options: &SearchOptions) -> Self {
        Self { context: LinesAround::of(options), ..self }
    }
}

impl Tool for Search {
    type Params = SearchParams;
    type Plan = SearchParams;
    type Details = SearchDetails;
    const NAME: &'static str = "search";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Search;

    fn plan(&self, params: SearchParams) -> Planned<SearchParams> {
        let approval = match &params.paths {
            Some(paths) => scan_approval(&self.files, paths),
            None => read_approval(&self.files, ["."]),
        };
        Planned::new(approval, params)
    }

    async fn run(&self, params: SearchParams, cx: &ToolCx) -> Result<Output<SearchDetails>, ToolError> {
        let skip = params.skip.unwrap_or(0.0);
        if !(skip.is_finite() && skip >= 0.0) {
            return Err(ToolError::reply("Skip must be a non-negative number"));
        }
        if params.pattern.trim().is_empty() {
            return Err(ToolError::reply("Pattern must not be empty"));
        }
        let pattern = Pattern::new(&params.pattern, params.i.unwrap_or(false)).map_err(ToolError::reply)?;
        let typed = params.paths.unwrap_or_else(|| vec![".".into()]);
        let gitignore = params.gitignore.unwrap_or(true);
        let (files, context) = (self.files.for_call(&cx.call_id), self.context);
        run_with_stop(TIME_LIMIT, move |stop| {
            let scope = SearchScope::parse(&typed, "`paths` must contain non-empty paths or globs", files.paths())?;
            let found = MatchedFiles::count(&pattern, &scope.walk(true, gitignore), files.scans(), stop);
            if found.report.stopped {
                return Err(timed_out());
            }
            let output = text::report(&found, &pattern, &scope, (skip as u64, context), &files, stop);
            if stop() { Err(timed_out()) } else { Ok(output) }
        })
        .await
    }

    fn render(params: &SearchParams, outcome: Outcome<&SearchDetails>) -> View {
        let files = params.paths.iter().flatten().filter_map(|typed| typed_file(typed));
        render::view(params, outcome).files(files)
    }
}

fn timed_out() -> ToolError {
    ToolError::reply("search timed out after 30s\nhint: give fewer or more specific `paths`")
}

#[cfg(test)]
mod tests;
