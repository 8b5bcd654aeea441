//! `ast_grep`: searches code by structure and shows pages of lines that can be edited directly.

mod find;
mod render;
pub(crate) mod sources;
mod text;

use std::sync::Arc;
use std::time::Duration;

use omp_agent::{Outcome, Output, Planned, Tool, ToolCx, ToolError};
use omp_syntax::Strictness;
use omp_view::{CallKind, View};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::details::typed_file;
use crate::files::{Files, read_approval, scan_approval};
use crate::search::scope::{SearchScope, run_with_stop};

/// Searches code by structure.
pub struct AstGrep {
    pub files: Arc<Files>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct AstGrepParams {
    /// Patterns; one is enough.
    #[serde(deserialize_with = "one_or_more", alias = "pattern", alias = "patterns")]
    pub pat: Vec<String>,
    /// Files, folders or globs (default: the working folder).
    pub paths: Option<Vec<String>>,
    /// Only this language.
    pub lang: Option<String>,
    /// Node kind to look for within the pattern.
    pub sel: Option<String>,
    /// What has to be the same (default smart).
    pub strictness: Option<Exactness>,
    /// Lines around matches (default 0).
    pub context: Option<f64>,
    /// Matches to skip, to see the next page.
    pub skip: Option<f64>,
    /// Matches on a page (default 50).
    pub limit: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Exactness {
    Cst,
    Smart,
    Ast,
    Relaxed,
    Signature,
    Template,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AstGrepDetails {
    pub scope_path: String,
    /// Matches on this page.
    pub match_count: usize,
    pub total_matches: usize,
    pub total_files: usize,
    pub files_searched: usize,
    /// Matches per file on this page.
    pub file_matches: Vec<FileCount>,
    pub limit_reached: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parse_errors: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileCount {
    pub path: String,
    pub count: usize,
}

/// The validated paging arguments of a call.
pub(crate) struct PageWanted {
    pub skip: usize,
    pub limit: usize,
    pub context: usize,
}

pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(30);
const DEFAULT_PAGE: f64 = 50.0;
const MAX_PAGE: f64 = 500.0;
const MAX_CONTEXT: f64 = 20.0;

impl Tool for AstGrep {
    type Params = AstGrepParams;
    type Plan = AstGrepParams;
    type Details = AstGrepDetails;
    const NAME: &'static str = "ast_grep";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Search;

    fn plan(&self, params: AstGrepParams) -> Planned<AstGrepParams> {
        let approval = match &params.paths {
            Some(paths) => scan_approval(&self.files, paths),
            None => read_approval(&self.files, ["."]),
        };
        Planned::new(approval, params)
    }

    async fn run(&self, params: AstGrepParams, cx: &ToolCx) -> Result<Output<AstGrepDetails>, ToolError> {
        let page = PageWanted::of(&params)?;
        if params.pat.is_empty() || params.pat.iter().any(|pattern| pattern.trim().is_empty()) {
            return Err(ToolError::reply("`pat` must be a non-empty pattern"));
        }
        let files = self.files.for_call(&cx.call_id);
        run_with_stop(TIME_LIMIT, move |stop| {
            let typed = params.paths.clone().unwrap_or_else(|| vec![".".into()]);
            let scope = SearchScope::parse(&typed, "`paths` must contain non-empty paths or globs", files.paths())?;
            let found = find::find(&params, &scope, &files, stop)?;
            Ok(text::report(&found, &scope, &page, &files))
        })
        .await
    }

    fn render(params: &AstGrepParams, outcome: Outcome<&AstGrepDetails>) -> View {
        let files = params.paths.iter().flatten().filter_map(|typed| typed_file(typed));
        render::view(params, outcome).files(files)
    }
}

impl PageWanted {
    fn of(params: &AstGrepParams) -> Result<Self, ToolError> {
        let number = |name: &str, value: Option<f64>, default: f64, least: f64, most: f64| {
            let value = value.unwrap_or(default);
            if value.is_finite() && value >= least {
                return Ok(value.min(most) as usize);
            }
            Err(ToolError::Reply(format!("`{name}` must be a number of at least {least}")))
        };
        Ok(Self {
            skip: number("skip", params.skip, 0.0, 0.0, f64::from(u32::MAX))?,
            limit: number("limit", params.limit, DEFAULT_PAGE, 1.0, MAX_PAGE)?,
            context: number("context", params.context, 0.0, 0.0, MAX_CONTEXT)?,
        })
    }
}

impl From<Exactness> for Strictness {
    fn from(exactness: Exactness) -> Self {
        match exactness {
            Exactness::Cst => Strictness::Cst,
            Exactness::Smart => Strictness::Smart,
            Exactness::Ast => Strictness::Ast,
            Exactness::Relaxed => Strictness::Relaxed,
            Exactness::Signature => Strictness::Signature,
            Exactness::Template => Strictness::Template,
        }
    }
}

/// Accepts a single string as well as a list, because models often omit the list.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(one) => vec![one],
        OneOrMore::More(more) => more,
    })
}

#[cfg(test)]
mod tests;
