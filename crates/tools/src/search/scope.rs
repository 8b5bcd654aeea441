//! The scope of `search` and `find`: resolves typed paths to targets, collects missing ones and runs work off the async
//! threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use omp_agent::ToolError;
use omp_stdx::format;
use omp_workspace::{FileKind, PathResolver, PathTarget, StopCheck, Walk, WalkReport, kind_of};

use crate::files::Files;

/// The targets of one call.
#[derive(Clone, Debug)]
pub(crate) struct SearchScope {
    pub targets: Vec<PathTarget>,
    /// Missing paths as typed.
    pub missing: Vec<String>,
}

/// Limits the paths in one call, because each is matched against every file.
const MAX_TARGETS: usize = 200;

impl SearchScope {
    /// Missing paths are an error only if no other path is left; `empty` is the message for empty paths.
    pub(crate) fn parse(typed: &[String], empty: &str, paths: &PathResolver) -> Result<Self, ToolError> {
        if typed.is_empty() || typed.iter().any(|path| path.trim().is_empty()) {
            return Err(ToolError::reply(empty));
        }
        if typed.len() > MAX_TARGETS {
            let problem =
                format!("{} paths are too many (limit {MAX_TARGETS})\nhint: use a glob or a folder", typed.len());
            return Err(ToolError::Reply(problem));
        }
        let mut scope = Self { targets: Vec::new(), missing: Vec::new() };
        for path in typed {
            let target = PathTarget::parse(path, paths).map_err(ToolError::reply)?;
            match std::fs::metadata(&target.base.absolute).as_ref().map(kind_of) {
                Ok(FileKind::Special(kind)) => {
                    return Err(ToolError::Reply(format!("{} is {kind}, not a file or a folder", target.base.display)));
                }
                Ok(FileKind::File) if target.glob.is_some() => {
                    return Err(ToolError::Reply(format!("Path is not a directory: {}", target.base.display)));
                }
                Ok(_) => scope.targets.push(target),
                Err(_) => scope.missing.push(path.trim().to_owned()),
            }
        }
        if scope.targets.is_empty() {
            let hint = "hint: `find` with a glob such as \"**/name*\" shows what is there";
            return Err(ToolError::Reply(format!("Path not found: {}\n{hint}", scope.missing.join(", "))));
        }
        Ok(scope)
    }

    pub(crate) fn walk(&self, hidden: bool, gitignore: bool) -> Walk {
        Walk { targets: self.targets.clone(), hidden, gitignore }
    }

    /// Describes the scope in a few words.
    pub(crate) fn display(&self) -> String {
        let show = |target: &PathTarget| match &target.glob {
            None => target.base.display.clone(),
            Some(glob) if target.base.display == "." => glob.as_str().to_owned(),
            Some(glob) => format!("{}/{}", target.base.display, glob.as_str()),
        };
        self.targets.iter().map(show).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn missing_note(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| format!("Skipped missing paths: {}", self.missing.join(", ")))
    }
}

/// Returns notes for the model about what a walk omitted.
pub(crate) fn walk_notes(report: &WalkReport, files: &Files) -> Vec<String> {
    let mut notes = Vec::new();
    if report.capped {
        let looked_at = format::grouped(files.scans().policy().max_entries as u64);
        notes.push(format!(
            "[Only {looked_at} files and folders were searched, there are more; give more specific `paths`]"
        ));
    }
    if report.unreadable > 0 {
        let unreadable = format::plural(report.unreadable, "file or folder", "files or folders");
        notes.push(format!("{unreadable} could not be read"));
    }
    if report.kept > 0 {
        let kept = format::plural(report.kept, "file or folder is", "files or folders are");
        notes.push(format!("{kept} hidden from the model and left out"));
    }
    notes
}

/// Runs blocking work that stops early once `limit` has passed or the returned future is dropped.
pub(crate) async fn run_with_stop<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce(StopCheck<'_>) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stopped = StopOnDrop(Arc::new(AtomicBool::new(false)));
    let flag = stopped.0.clone();
    let deadline = Instant::now() + limit;
    let stop = move || flag.load(Ordering::Relaxed) || Instant::now() >= deadline;
    let result = tokio::task::spawn_blocking(move || work(&stop)).await;
    drop(stopped);
    result.map_err(|error| ToolError::Reply(format!("the search failed: {error}")))?
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
