//! `todo`: the task list of the session, changed by small operations and shown to the user.

use std::sync::{Mutex, MutexGuard, PoisonError};

use omp_agent::{Approval, Concurrency, Outcome, Output, Tier, Tool, ToolCx, ToolError};
use omp_view::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod list;
mod markdown;
mod render;
mod summary;

pub use list::{Phase, Status, Task};
pub use markdown::{from_markdown, to_markdown};

/// Tasks a list may hold: more is no plan, and every call repeats the whole of it.
const MAX_TASKS: usize = 500;

pub struct Todo {
    phases: Mutex<Vec<Phase>>,
    storage: Storage,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// Applied in order.
    #[schemars(length(min = 1))]
    pub ops: Vec<Op>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Op {
    pub op: OpKind,
    /// For `init`.
    #[serde(default)]
    pub list: Option<Vec<PhaseItems>>,
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    pub phase: Option<String>,
    /// For `append`.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub items: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    Init,
    Start,
    Done,
    Rm,
    Drop,
    Append,
    View,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PhaseItems {
    pub phase: String,
    #[schemars(length(min = 1))]
    pub items: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    pub phases: Vec<Phase>,
    pub storage: Storage,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed_tasks: Vec<Completed>,
}

/// Whether the list outlives the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    Session,
    Memory,
}

/// A task that this call has finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    pub phase: String,
    pub content: String,
}

impl Todo {
    pub fn new(storage: Storage) -> Self {
        Self { phases: Mutex::default(), storage }
    }

    fn phases(&self) -> MutexGuard<'_, Vec<Phase>> {
        // The list is replaced as a whole, so it is never half changed.
        self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tool for Todo {
    type Params = Params;
    type Details = Details;
    const NAME: &'static str = "todo";
    const PROMPT: &'static str = include_str!("prompt.md");

    fn approval(&self, _params: &Params) -> Approval {
        Tier::Read.into()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        if params.ops.is_empty() {
            return Err(ToolError::Reply("`ops` is empty\nhint: use {\"op\": \"view\"} to see the list".to_owned()));
        }
        let mut phases = self.phases();
        let only_viewed = params.ops.iter().all(|op| op.op == OpKind::View);
        let mut completed_tasks = Vec::new();
        let mut errors = Vec::new();
        if !only_viewed {
            let (changed, problems) = list::apply(phases.clone(), &params.ops);
            errors = problems;
            let count: usize = changed.iter().map(|phase| phase.tasks.len()).sum();
            if count > MAX_TASKS {
                errors.push(format!("{count} tasks are too many for one list; at most {MAX_TASKS} fit"));
            }
            if errors.is_empty() {
                completed_tasks = newly_completed(&phases, &changed);
                *phases = changed;
            }
        }
        let text = summary::summary(&phases, &errors, only_viewed);
        let output = Output::text(text, Details { phases: phases.clone(), storage: self.storage, completed_tasks });
        Ok(if errors.is_empty() { output } else { output.failed() })
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view(params, outcome)
    }

    /// What was finished or given up belongs to the past of a resumed session.
    fn restore(&self, last: Details) {
        let mut phases = last.phases;
        phases.iter_mut().for_each(|phase| phase.tasks.retain(|task| task.status.is_open()));
        phases.retain(|phase| !phase.tasks.is_empty());
        *self.phases() = phases;
    }
}

fn newly_completed(before: &[Phase], after: &[Phase]) -> Vec<Completed> {
    let was_completed = |phase: &str, content: &str| {
        let tasks = before.iter().filter(|it| it.name == phase).flat_map(|phase| &phase.tasks);
        tasks.into_iter().any(|task| task.content == content && task.status == Status::Completed)
    };
    let tasks = after.iter().flat_map(|phase| phase.tasks.iter().map(move |task| (&phase.name, task)));
    let done = tasks.filter(|(phase, task)| task.status == Status::Completed && !was_completed(phase, &task.content));
    done.map(|(phase, task)| Completed { phase: phase.clone(), content: task.content.clone() }).collect()
}

#[cfg(test)]
mod tests;
