//! The task list in short form: the current phase and the next tasks.

use omp_stdx::sanitize;
use omp_stdx::truncate::rows_shown;
use omp_tui::text::clip;
use omp_tui::{Line, Space, Token};
use serde_json::Value;

/// Caps the open tasks shown below the phase.
const SHOWN: usize = 3;

/// Draws the phases of the task list; nothing once everything is done.
pub fn todo_rows(phases: &Value, all: bool, space: &Space<'_>) -> Vec<Line> {
    let phases: Vec<&Value> = phases.as_array().into_iter().flatten().collect();
    let tasks = |phase: &Value| -> Vec<(String, String)> {
        let tasks = phase["tasks"].as_array().into_iter().flatten();
        let field = |task: &Value, name: &str| task[name].as_str().unwrap_or_default().to_owned();
        tasks.map(|task| (field(task, "content"), field(task, "status"))).collect()
    };
    let every: Vec<_> =
        phases.iter().flat_map(|phase| tasks(phase)).filter(|(_, status)| status != "abandoned").collect();
    let done = every.iter().filter(|(_, status)| status == "completed").count();
    if done == every.len() {
        return Vec::new();
    }
    let is_open = |status: &str| !matches!(status, "completed" | "abandoned");
    let current = phases.iter().find(|phase| tasks(phase).iter().any(|(_, status)| is_open(status)));
    let name = current.and_then(|phase| phase["name"].as_str()).unwrap_or_default();
    let head = Line::styled(format!("Todo {done}/{}", every.len()), space.theme.fg(Token::Accent));
    let mut rows = vec![clip(
        head.with(format!("  {}", sanitize::strip_control(name)), space.theme.fg(Token::Muted)),
        space.width,
    )];
    let open: Vec<_> = every.iter().filter(|(_, status)| all || is_open(status)).collect();
    let most = rows_shown(open.len(), if all { 30 } else { SHOWN });
    for (text, status) in open.iter().take(most) {
        let (sign, token) = match status.as_str() {
            "completed" => ("  ✓ ", Token::Dim),
            "in_progress" => ("  ▸ ", Token::Text),
            _ => ("  ☐ ", Token::Muted),
        };
        let text = sanitize::strip_control(text).replace('\n', " ");
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
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(phases: &Value, all: bool, expect: &[&str]) {
        let theme = Theme::colorless();
        let space = Space { width: 60, height: 10, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let rows: Vec<_> = todo_rows(phases, all, &space).iter().map(Line::text).collect();
        assert_eq!(rows, expect);
    }

    #[test]
    fn the_open_tasks_of_the_phase_that_is_worked_on() {
        let task = |content: &str, status: &str| json!({"content": content, "status": status});
        let phases = json!([
            {"name": "First", "tasks": [task("a", "completed"), task("b", "abandoned")]},
            {"name": "Second", "tasks": [task("c", "in_progress"), task("d", "pending"), task("e", "pending"), task("f", "pending")]},
        ]);
        check(&phases, false, &["Todo 1/5  Second", "  ▸ c", "  ☐ d", "  ☐ e", "  ☐ f"]);
        check(&phases, true, &["Todo 1/5  Second", "  ✓ a", "  ▸ c", "  ☐ d", "  ☐ e", "  ☐ f"]);
        check(&json!([{"name": "First", "tasks": [task("a", "completed")]}]), false, &[]);
        check(&json!([]), false, &[]);
        check(&json!("?"), false, &[]);
    }
}
