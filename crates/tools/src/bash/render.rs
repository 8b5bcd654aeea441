//! Renders a shell command.

use std::time::Duration;

use omp_agent::Outcome;
use omp_stdx::format;
use omp_view::{Block, Keep, Status, View};

use super::{BashDetails, BashParams};

/// Marks the end of a command's output in the result; the title shows the duration.
pub(crate) const TIME_TOLD: &str = "\n\nWall time: ";

pub(super) fn view(params: &BashParams, outcome: Outcome<&BashDetails>) -> View {
    let (status, details) = match outcome {
        Outcome::Running => (Status::Running, None),
        Outcome::Done { details, is_error: false } => (Status::Done, Some(details)),
        Outcome::Done { details, is_error: true } => (Status::Failed, Some(details)),
        Outcome::Failed => (Status::Failed, None),
    };
    let first_line = params.command.trim().lines().next().unwrap_or_default();
    let mut view = View {
        keep: Keep::Tail,
        model_only_from: Some(TIME_TOLD),
        command: Some(params.command.clone()),
        ..View::new(format!("$ {first_line}"), status)
    };
    view = details.map_or_else(Vec::new, how_it_failed).into_iter().fold(view, View::note);
    if let Some(cwd) = &params.cwd {
        view = view.note(format!("in {cwd}"));
    }
    if let Some(seconds) = params.timeout {
        view = view.note(format!("timeout {seconds}s"));
    }
    if let Some(details) = details {
        view = notes(details).into_iter().fold(view, View::note);
    }
    if let Some((_, rest)) = params.command.trim().split_once('\n') {
        let text = rest.to_owned();
        view = view.block(Block::Code { language: Some("sh".into()), text, first_line: None }).with_output();
    }
    view
}

fn how_it_failed(details: &BashDetails) -> Vec<String> {
    let mut notes: Vec<String> = details.exit_code.map(|code| format!("exit {code}")).into_iter().collect();
    if details.timed_out {
        notes.push(format!("timed out after {}s", details.timeout_seconds));
    }
    if details.aborted {
        notes.push("interrupted".to_owned());
    }
    notes
}

fn notes(details: &BashDetails) -> Vec<String> {
    let mut notes = vec![format::duration(Duration::from_secs_f64(details.wall_time_ms.clamp(0.0, 1e12) / 1000.0))];
    if let Some(truncation) = details.meta.as_ref().and_then(|meta| meta.truncation.as_ref()) {
        let of = format::grouped(truncation.total_lines);
        notes.push(format!("{} of {of} lines", format::grouped(truncation.output_lines)));
        notes.extend(truncation.artifact_id.as_ref().map(|id| format!("artifact://{id}")));
    }
    notes
}
