//! The task list in short form: the current phase and the next tasks.

use omp_stdx::sanitize;
use omp_stdx::truncate::rows_shown;
use omp_tui::text::clip;
use omp_tui::{Line, Space, Token};
use omp_types::{TaskItem, TaskPhase, TaskStatus};

/// Caps the open tasks shown below the phase.
const SHOWN: usize = 3;

/// Draws the phases of the task list; nothing once everything is done.
pub fn todo_rows(phases: &[TaskPhase], all: bool, space: &Space<'_>) -> Vec<Line> {
    let tasks = phases.iter().flat_map(|phase| &phase.tasks);
    let every: Vec<&TaskItem> = tasks.filter(|task| task.status != TaskStatus::Abandoned).collect();
    let done = every.iter().filter(|task| task.status == TaskStatus::Completed).count();
    if done == every.len() {
        return Vec::new();
    }
    let current = phases.iter().find(|phase| phase.tasks.iter().any(|task| task.status.is_open()));
    let name = current.map(|phase| phase.name.as_str()).unwrap_or_default();
    let head = Line::styled(format!("Todo {done}/{}", every.len()), space.theme.fg(Token::Accent));
    let mut rows = vec![clip(
        head.with(format!("  {}", sanitize::strip_control(name)), space.theme.fg(Token::Muted)),
        space.width,
    )];
    let open: Vec<_> = every.iter().filter(|task| all || task.status.is_open()).collect();
    let most = rows_shown(open.len(), if all { 30 } else { SHOWN });
    for task in open.iter().take(most) {
        let (sign, token) = match task.status {
            TaskStatus::Completed => ("  ✓ ", Token::Dim),
            TaskStatus::InProgress => ("  ▸ ", Token::Text),
            TaskStatus::Pending | TaskStatus::Abandoned => ("  ☐ ", Token::Muted),
        };
        let text = sanitize::strip_control(&task.content).replace('\n', " ");
        rows.push(clip(Line::styled(format!("{sign}{text}"), space.theme.fg(token)), space.width));
    }
    if open.len() > most {
        rows.push(Line::styled(format!("  … {} more", open.len() - most), space.theme.fg(Token::Dim)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use omp_tui::Theme;

    use super::*;

    #[track_caller]
    fn check(phases: &[TaskPhase], all: bool, expect: &[&str]) {
        let theme = Theme::colorless();
        let space = Space { width: 60, height: 10, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let rows: Vec<_> = todo_rows(phases, all, &space).iter().map(Line::text).collect();
        assert_eq!(rows, expect);
    }

    #[test]
    fn the_open_tasks_of_the_phase_that_is_worked_on() {
        use TaskStatus::{Abandoned, Completed, InProgress, Pending};
        let phase = |name: &str, tasks: &[(&str, TaskStatus)]| {
            let task =
                |(content, status): &(&str, TaskStatus)| TaskItem { content: (*content).into(), status: *status };
            TaskPhase { name: name.into(), tasks: tasks.iter().map(task).collect() }
        };
        let phases = [
            phase("First", &[("a", Completed), ("b", Abandoned)]),
            phase("Second", &[("c", InProgress), ("d", Pending), ("e", Pending), ("f", Pending)]),
        ];
        check(&phases, false, &["Todo 1/5  Second", "  ▸ c", "  ☐ d", "  ☐ e", "  ☐ f"]);
        check(&phases, true, &["Todo 1/5  Second", "  ✓ a", "  ▸ c", "  ☐ d", "  ☐ e", "  ☐ f"]);
        check(&[phase("First", &[("a", Completed)])], false, &[]);
        check(&[], false, &[]);
    }
}
