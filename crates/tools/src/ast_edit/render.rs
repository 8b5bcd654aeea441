//! Renders a structural rewrite.

use omp_agent::Outcome;
use omp_stdx::format;
use omp_view::{Block, Status, View};

use super::{AstEditDetails, AstEditParams};

pub(super) fn view(params: &AstEditParams, outcome: Outcome<&AstEditDetails>) -> View {
    let title = match &params.ops[..] {
        [] => "ast_edit".to_owned(),
        [op] => format!("ast_edit {} → {}", op.pat, op.out),
        ops => format!("ast_edit {} rewrites", ops.len()),
    };
    let Outcome::Done { details, is_error } = outcome else {
        let status = if matches!(outcome, Outcome::Running) { Status::Running } else { Status::Failed };
        return View::new(title, status);
    };
    let mut view = View::new(title, if is_error { Status::Failed } else { Status::Done })
        .note(format::plural(details.total_replacements, "replacement", "replacements"))
        .note(format::plural(details.files_touched, "file", "files"));
    if details.total_replacements > 0 && !details.applied {
        view = view.note("preview");
    }
    if !details.parse_errors.is_empty() {
        view = view.note(format::plural(details.parse_errors.len(), "problem", "problems"));
    }
    if details.diff.is_empty() {
        return view;
    }
    view.block(Block::Code { language: Some("diff".into()), text: details.diff.clone(), first_line: None })
}
