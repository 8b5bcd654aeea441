//! `ast_edit`: rewrites code by its structure. The tool only shows a preview; `resolve` applies it.

mod apply;
mod plan;
mod render;
mod text;

use std::sync::Arc;

use omp_agent::{Concurrency, Outcome, Output, Planned, Tool, ToolCx, ToolError};
use omp_view::{CallKind, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ast_grep::{FileCount, TIME_LIMIT};
use crate::details::typed_file;
use crate::files::{Files, scan_approval, write_approval};
use crate::pending::{PendingAction, PendingActions};
use crate::search::scope::{SearchScope, run_with_stop};

/// Rewrites code by structure.
pub struct AstEdit {
    pub files: Arc<Files>,
    pub pending: Arc<PendingActions>,
    /// Skips files that are marked as generated.
    pub block_generated: bool,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct AstEditParams {
    /// Rewrites.
    pub ops: Vec<RewriteOp>,
    /// Files, folders or globs.
    pub paths: Vec<String>,
    /// Only this language.
    pub lang: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RewriteOp {
    pub pat: String,
    pub out: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AstEditDetails {
    pub scope_path: String,
    pub total_replacements: usize,
    pub files_touched: usize,
    pub files_searched: usize,
    /// `false` for a preview.
    pub applied: bool,
    pub limit_reached: bool,
    pub file_replacements: Vec<FileCount>,
    /// Unified diff of all files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parse_errors: Vec<String>,
}

impl Tool for AstEdit {
    type Params = AstEditParams;
    type Plan = AstEditParams;
    type Details = AstEditDetails;
    const NAME: &'static str = "ast_edit";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Edit;

    /// A preview writes nothing; `resolve` requests access to the files.
    fn plan(&self, params: AstEditParams) -> Planned<AstEditParams> {
        Planned::new(scan_approval(&self.files, &params.paths), params)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: AstEditParams, cx: &ToolCx) -> Result<Output<AstEditDetails>, ToolError> {
        if params.ops.is_empty() {
            return Err(ToolError::reply("`ops` must include at least one op entry"));
        }
        if let Some(at) = params.ops.iter().position(|op| op.pat.trim().is_empty()) {
            return Err(ToolError::Reply(format!("`ops[{at}].pat` must be a non-empty pattern")));
        }
        let (files, block_generated) = (self.files.for_call(&cx.call_id), self.block_generated);
        let (plan, output) = run_with_stop(TIME_LIMIT, move |stop| {
            let scope =
                SearchScope::parse(&params.paths, "`paths` must contain non-empty paths or globs", files.paths())?;
            let plan = plan::plan(&params, &scope, &files, block_generated, stop)?;
            let output = text::preview(&plan, &scope);
            Ok((plan, output))
        })
        .await?;
        if !plan.edits.is_empty() {
            self.pending.push(self.action(plan))?;
        }
        Ok(output)
    }

    fn render(params: &AstEditParams, outcome: Outcome<&AstEditDetails>) -> View {
        render::view(params, outcome).files(params.paths.iter().filter_map(|typed| typed_file(typed)))
    }
}

impl AstEdit {
    fn action(&self, plan: plan::RewritePlan) -> PendingAction {
        let files = self.files.clone();
        PendingAction {
            label: text::counted(&plan),
            source: Self::NAME.into(),
            approval: write_approval(&files, plan.edits.iter().map(|edit| edit.edit.path.display.as_str())),
            apply: Box::new(move |_reason, call| Box::pin(apply::apply(files.for_call(call), plan))),
            reject: None,
        }
    }
}

#[cfg(test)]
mod tests;
