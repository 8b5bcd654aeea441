//! Renders the list.

use omp_agent::Outcome;
use omp_view::{Block, Status as Shown, View};

use super::list::Status;
use super::summary::task_line;
use super::{Details, Params};

pub fn view(_params: &Params, outcome: Outcome<&Details>) -> View {
    let Outcome::Done { details, is_error } = outcome else {
        return View::new("todo", if matches!(outcome, Outcome::Running) { Shown::Running } else { Shown::Failed });
    };
    let tasks: Vec<_> = details.phases.iter().flat_map(|phase| &phase.tasks).collect();
    let done = tasks.iter().filter(|task| task.status == Status::Completed).count();
    let view = View::new("todo", if is_error { Shown::Failed } else { Shown::Done });
    if tasks.is_empty() {
        return view.note("empty");
    }
    let mut lines = Vec::new();
    for phase in &details.phases {
        lines.push(phase.name.clone());
        lines.extend(phase.tasks.iter().map(|task| format!("  {}", task_line(task))));
    }
    let view = view.note(format!("{done}/{} done", tasks.len()));
    let current = tasks.iter().find(|task| task.status == Status::InProgress);
    let view = current.iter().fold(view, |view, task| view.note(format!("now {}", task.content)));
    View { shown_beside: true, ..view }.block(Block::Lines { lines, hidden: 0 })
}
