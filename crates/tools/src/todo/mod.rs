//! `todo`: the task list of the session, changed by small operations and shown to the user.

use omp_agent::{Concurrency, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError, ToolRole};
use omp_view::{CallKind, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod board;
mod edit;
mod list;
mod markdown;
pub mod remind;
mod render;
mod summary;

use board::Applied;
pub use board::TodoList;
pub use edit::TodoEdit;
pub use list::{Phase, Status, Task};
pub use markdown::{from_markdown, to_markdown};

pub struct Todo {
    board: TodoList,
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

/// Whether the list is stored beyond the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    Session,
    Memory,
}

/// A task that this call completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    pub phase: String,
    pub content: String,
}

impl Todo {
    pub fn new(storage: Storage) -> Self {
        Self::on(TodoList::default(), storage)
    }

    /// Uses a list that others read and change as well.
    pub fn on(board: TodoList, storage: Storage) -> Self {
        Self { board, storage }
    }
}

impl Op {
    fn new(op: OpKind) -> Self {
        Self { op, list: None, task: None, phase: None, items: None }
    }
}

impl Tool for Todo {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "todo";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Think;
    const ROLE: Option<ToolRole> = Some(ToolRole::TaskList);

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Read, params)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        if params.ops.is_empty() {
            return Err(ToolError::Reply("`ops` is empty\nhint: use {\"op\": \"view\"} to see the list".to_owned()));
        }
        if params.ops.iter().all(|op| op.op == OpKind::View) {
            let phases = self.board.phases();
            let text = summary::summary(&phases, &[], true);
            return Ok(Output::text(text, Details { phases, storage: self.storage, completed_tasks: Vec::new() }));
        }
        let Applied { before, after, errors } = self.board.apply(&params.ops);
        let text = summary::summary(&after, &errors, false);
        let completed_tasks = newly_completed(&before, &after);
        let output = Output::text(text, Details { phases: after, storage: self.storage, completed_tasks });
        Ok(if errors.is_empty() { output } else { output.failed() })
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view(params, outcome)
    }

    fn restore(&self, last: Details) {
        self.board.resume(last.phases);
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
