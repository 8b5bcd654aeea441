//! Renders a list of found files.

use omp_agent::Outcome;
use omp_stdx::format;
use omp_view::{Block, Status, View};

use super::{FindDetails, FindParams};

/// Limits the files listed on the card.
const MAX_FILES: usize = 20;

pub(super) fn view(params: &FindParams, outcome: Outcome<&FindDetails>) -> View {
    let title = format!("find {}", params.paths.join(", "));
    match outcome {
        Outcome::Running => View::new(title, Status::Running),
        Outcome::Failed => View::new(title, Status::Failed),
        Outcome::Done { details, is_error } => {
            let status = if is_error { Status::Failed } else { Status::Done };
            let more = if details.truncated { " shown, more left out" } else { "" };
            let view = View::new(title, status).note(format::plural(details.file_count, "file", "files") + more);
            if details.files.is_empty() {
                return view;
            }
            let lines: Vec<String> = details.files.iter().take(MAX_FILES).cloned().collect();
            let hidden = details.file_count.saturating_sub(lines.len());
            view.block(Block::Lines { lines, hidden })
        }
    }
}
