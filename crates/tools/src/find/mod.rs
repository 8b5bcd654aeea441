//! `find`: finds paths by glob, most recently changed first.

mod render;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use omp_agent::{Outcome, Output, Planned, Progress, Tool, ToolCx, ToolError};
use omp_stdx::format;
use omp_stdx::truncate::{Keep, to_fit};
use omp_view::{CallKind, View};
use omp_workspace::{Met, Newest, PathResolver};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::details::typed_file;
use crate::files::{Files, scan_approval};
use crate::output_sink::MAX_BYTES;
use crate::search::scope::{SearchScope, run_with_stop, walk_notes};

/// Finds files by name.
pub struct Find {
    files: Arc<Files>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindParams {
    /// Globs, files or folders.
    pub paths: Vec<String>,
    /// Hidden files too (default true).
    pub hidden: Option<bool>,
    /// At most so many paths (default 1000).
    pub limit: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FindDetails {
    pub scope_path: String,
    pub file_count: usize,
    pub files: Vec<String>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_limit_reached: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_paths: Vec<String>,
}

const DEFAULT_LIMIT: f64 = 1000.0;
/// No list of paths in 50 KB is longer, so a larger limit has no effect.
const MAX_LIMIT: f64 = 50_000.0;
const TIME_LIMIT: Duration = Duration::from_secs(5);
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// Limits the paths in a partial result.
const PROGRESS_PATHS: usize = 50;

impl Find {
    pub fn new(files: Arc<Files>) -> Self {
        Self { files }
    }
}

impl Tool for Find {
    type Params = FindParams;
    type Plan = FindParams;
    type Details = FindDetails;
    const NAME: &'static str = "find";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Search;

    fn plan(&self, params: FindParams) -> Planned<FindParams> {
        Planned::new(scan_approval(&self.files, &params.paths), params)
    }

    async fn run(&self, params: FindParams, cx: &ToolCx) -> Result<Output<FindDetails>, ToolError> {
        let limit = params.limit.unwrap_or(DEFAULT_LIMIT).floor();
        if !(limit.is_finite() && limit >= 1.0) {
            return Err(ToolError::reply("Limit must be a positive number"));
        }
        let limit = limit.min(MAX_LIMIT) as usize;
        let hidden = params.hidden.unwrap_or(true);
        let (files, progress) = (self.files.for_call(&cx.call_id), cx.progress.clone());
        run_with_stop(TIME_LIMIT, move |stop| {
            let scope =
                SearchScope::parse(&params.paths, "`paths` must contain non-empty globs or paths", files.paths())?;
            if scope.targets.iter().any(|target| target.base.absolute == Path::new("/")) {
                return Err(ToolError::reply("Searching from root directory '/' is not allowed"));
            }
            let watcher = Watcher::new(progress, files.paths());
            let newest = scope.walk(hidden, true).newest(limit, files.scans(), stop, &|met| watcher.see(met));
            if newest.report.stopped {
                return Err(ToolError::reply("find timed out after 5s\nhint: give fewer or more specific `paths`"));
            }
            Ok(report(&newest, &scope, limit, &files))
        })
        .await
    }

    fn render(params: &FindParams, outcome: Outcome<&FindDetails>) -> View {
        render::view(params, outcome).files(params.paths.iter().filter_map(|typed| typed_file(typed)))
    }
}

fn report(newest: &Newest, scope: &SearchScope, limit: usize, all: &Files) -> Output<FindDetails> {
    let mut files: Vec<String> = newest.files.iter().map(|path| all.paths().display(path)).collect();
    let list = files.join("\n");
    let fitting = to_fit(&list, usize::MAX, MAX_BYTES, Keep::Head);
    let mut text = fitting.head.trim_end().to_owned();
    files.truncate(fitting.head.lines().count());
    if files.is_empty() {
        text.push_str("No files found matching pattern");
    }
    let left_out = newest.total - files.len();
    if left_out > 0 {
        let more = format::plural(left_out, "older file", "older files");
        let why = if fitting.cut.is_none() { format!("limit {limit}") } else { "50KB of output".to_owned() };
        text.push_str(&format!("\n[{more} left out ({why}); narrow the glob to see them]"));
    }
    let notes: Vec<String> = walk_notes(&newest.report, all).into_iter().chain(scope.missing_note()).collect();
    for note in &notes {
        text.push('\n');
        text.push_str(note);
    }
    let useless = newest.total == 0 && notes.is_empty();
    let details = FindDetails {
        scope_path: scope.display(),
        file_count: files.len(),
        truncated: left_out > 0 || newest.report.capped,
        result_limit_reached: (newest.total > limit).then_some(limit),
        missing_paths: scope.missing.clone(),
        files,
    };
    Output::text(text, details).useless_if(useless)
}

/// Shows the first paths while the walk continues.
struct Watcher<'a> {
    progress: Progress,
    paths: &'a PathResolver,
    count: AtomicUsize,
    shown: Mutex<ShownPaths>,
}

struct ShownPaths {
    paths: Vec<String>,
    next: Instant,
}

/// Files between two checks of the clock: rare enough to cost nothing, frequent enough to stop in time.
const LOOK_EVERY: usize = 256;

impl<'a> Watcher<'a> {
    fn new(progress: Progress, paths: &'a PathResolver) -> Self {
        let shown = ShownPaths { paths: Vec::new(), next: Instant::now() + PROGRESS_EVERY };
        Self { progress, paths, count: AtomicUsize::new(0), shown: Mutex::new(shown) }
    }

    fn see(&self, met: &Met<'_>) {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        if count >= PROGRESS_PATHS && !count.is_multiple_of(LOOK_EVERY) {
            return;
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if count < PROGRESS_PATHS {
            shown.paths.push(self.paths.display(&met.path()));
        }
        if Instant::now() >= shown.next {
            shown.next = Instant::now() + PROGRESS_EVERY;
            self.progress.text(shown.paths.join("\n"));
        }
    }
}

#[cfg(test)]
mod tests;
