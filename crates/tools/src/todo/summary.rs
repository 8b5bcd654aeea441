//! Formats the list for the model.

use super::list::{Phase, Status, Task};

pub fn summary(phases: &[Phase], errors: &[String], only_viewed: bool) -> String {
    let tasks: Vec<&Task> = phases.iter().flat_map(|phase| &phase.tasks).collect();
    let mut lines = Vec::new();
    if !errors.is_empty() {
        lines.push(format!("Errors: {}", errors.join("; ")));
    }
    if tasks.is_empty() {
        if errors.is_empty() {
            lines.push(if only_viewed { "Todo list is empty." } else { "Todo list cleared." }.to_owned());
        }
        return lines.join("\n");
    }
    remaining(phases, &mut lines);
    let closed = tasks.iter().filter(|task| !task.status.is_open()).count();
    lines.push(format!("Overall: {closed}/{} done, {} open.", tasks.len(), tasks.len() - closed));
    lines.push(active_phase(phases));
    tree(phases, &mut lines);
    lines.join("\n")
}

fn remaining(phases: &[Phase], lines: &mut Vec<String>) {
    let open = phases.iter().flat_map(|phase| phase.tasks.iter().map(move |task| (phase, task)));
    let open: Vec<_> = open.filter(|(_, task)| task.status.is_open()).collect();
    if open.is_empty() {
        return lines.push("Remaining items: none.".to_owned());
    }
    lines.push(format!("Remaining items ({}):", open.len()));
    lines.extend(
        open.iter().map(|(phase, task)| format!("  - {} [{}] ({})", task.content, task.status.as_str(), phase.name)),
    );
}

/// Returns the first phase with an open task, or the last phase if all tasks are done.
fn active_phase(phases: &[Phase]) -> String {
    let has_open = |phase: &Phase| phase.tasks.iter().any(|task| task.status.is_open());
    let at = phases.iter().position(has_open).unwrap_or(phases.len().saturating_sub(1));
    let phase = &phases[at];
    let done = phase.tasks.iter().filter(|task| !task.status.is_open()).count();
    format!("Active phase {}/{} \"{}\" ({done}/{}).", at + 1, phases.len(), phase.name, phase.tasks.len())
}

fn tree(phases: &[Phase], lines: &mut Vec<String>) {
    for phase in phases {
        lines.push(format!("  {}:", phase.name));
        lines.extend(phase.tasks.iter().map(|task| format!("    - {}", task_line(task))));
    }
}

/// Formats a task: `[X] done`, `[ ] doing (in progress)`.
pub fn task_line(task: &Task) -> String {
    let (mark, tag) = match task.status {
        Status::Pending => ("[ ]", ""),
        Status::InProgress => ("[ ]", " (in progress)"),
        Status::Completed => ("[X]", ""),
        Status::Abandoned => ("[ ]", " (dropped)"),
    };
    format!("{mark} {}{tag}", task.content)
}
