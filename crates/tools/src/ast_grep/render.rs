//! Renders a structural search.

use omp_agent::Outcome;
use omp_stdx::format;
use omp_view::{Block, Status, View};

use super::{AstGrepDetails, AstGrepParams, FileCount};

/// Limits the files listed on the card.
const MAX_FILES: usize = 20;

pub(super) fn view(params: &AstGrepParams, outcome: Outcome<&AstGrepDetails>) -> View {
    let title = format!("ast_grep {}", params.pat.join(" | "));
    let Outcome::Done { details, is_error } = outcome else {
        let status = if matches!(outcome, Outcome::Running) { Status::Running } else { Status::Failed };
        return View::new(title, status);
    };
    let mut view = View::new(title, if is_error { Status::Failed } else { Status::Done })
        .note(format!("in {}", details.scope_path))
        .note(format::plural(details.total_matches, "match", "matches"))
        .note(format::plural(details.total_files, "file", "files"));
    if !details.parse_errors.is_empty() {
        view = view.note(format::plural(details.parse_errors.len(), "problem", "problems"));
    }
    let line = |file: &FileCount| format!("{} ({})", file.path, file.count);
    let lines: Vec<String> = details.file_matches.iter().take(MAX_FILES).map(line).collect();
    if lines.is_empty() {
        return view;
    }
    let hidden = details.total_files.saturating_sub(lines.len());
    view.block(Block::Lines { lines, hidden })
}
