//! Renders a search.

use omp_agent::Outcome;
use omp_stdx::format;
use omp_view::{Block, Status, View};

use super::{SearchDetails, SearchParams};

/// Limits the files listed on the card.
const MAX_FILES: usize = 20;

pub(super) fn view(params: &SearchParams, outcome: Outcome<&SearchDetails>) -> View {
    let title = format!("search {}", params.pattern);
    match outcome {
        Outcome::Running => View::new(title, Status::Running),
        Outcome::Failed => View::new(title, Status::Failed),
        Outcome::Done { details, is_error } => {
            let status = if is_error { Status::Failed } else { Status::Done };
            let matches = usize::try_from(details.total_matches).unwrap_or(usize::MAX);
            let view = View::new(title, status)
                .note(format!("in {}", details.scope_path))
                .note(format::plural(matches, "match", "matches"))
                .note(format::plural(details.total_files, "file", "files"));
            let line = |file: &super::FileMatches| format!("{} ({})", file.path, file.count);
            let lines: Vec<String> = details.file_matches.iter().take(MAX_FILES).map(line).collect();
            if lines.is_empty() {
                return view;
            }
            let hidden = details.total_files.saturating_sub(lines.len());
            view.block(Block::Lines { lines, hidden })
        }
    }
}
