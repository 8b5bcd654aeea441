//! The list of the todo tool, for commands, front ends and the session.

use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use omp_agent::ToolRole;
use omp_commands::{TaskList, TaskListNote};
use omp_session::{FeatureMessage, Reminded, Resumed, SessionCx, SessionFeature, ToolOutcome};
use omp_tools::{TodoEdit, TodoList, todo_reminders};
use omp_types::{TaskPhase, text_of};
use serde_json::{Value, json};

/// Resumes the list as the user last edited it.
pub struct EditedTodos(pub TodoList);

impl SessionFeature for EditedTodos {
    fn resume(&self, _cx: &SessionCx, resumed: &Resumed) {
        if let Some(phases) = todo_reminders::edited_phases(&resumed.messages) {
            self.0.resume(phases);
        }
    }
}

/// The list for commands, which change it, and for front ends, which show and replace it as a whole.
pub struct SharedTodos(pub TodoList);

impl TaskList for SharedTodos {
    fn export(&self) -> String {
        self.0.export()
    }

    fn import(&self, markdown: &str) -> Result<(), Vec<String>> {
        self.0.import(markdown)
    }

    fn edit(&self, line: &str) -> Result<String, String> {
        self.0.edit(&TodoEdit::parse(line, &self.0.phases())?)
    }

    fn note_of_edit(&self, done: &str) -> TaskListNote {
        let phases = self.0.phases();
        let text = todo_reminders::after_user_edit(done, &phases);
        TaskListNote { custom_type: todo_reminders::USER_EDIT_ENTRY, text, phases: json!(phases) }
    }
}

impl omp_session::TodoBoard for SharedTodos {
    fn phases(&self) -> Vec<TaskPhase> {
        self.0.phases()
    }

    fn set_phases(&self, phases: Value) -> Result<(), String> {
        let phases: Vec<TaskPhase> =
            serde_json::from_value(phases).map_err(|error| format!("not a list of phases: {error}"))?;
        self.0.set(phases).map_err(|problems| problems.join("; "))
    }
}

/// Reminds the model of a failed change to the list, and of open tasks when it is about to stop.
pub struct TodoReminder {
    pub board: TodoList,
    /// `todo.remindersMax`; 0 where `todo.reminders` is off.
    pub max: u32,
    pub given: AtomicU32,
}

impl SessionFeature for TodoReminder {
    fn begin_run(&self) {
        self.given.store(0, Ordering::Relaxed);
    }

    fn after_call<'a>(
        &'a self,
        cx: &'a SessionCx,
        outcome: &'a mut ToolOutcome,
    ) -> BoxFuture<'a, Option<FeatureMessage>> {
        let is_ours = cx.tool_role(&outcome.name) == Some(ToolRole::TaskList);
        ready(after_error(outcome).filter(|_| is_ours)).boxed()
    }

    fn before_finish<'a>(&'a self, _cx: &'a SessionCx) -> BoxFuture<'a, Option<FeatureMessage>> {
        ready(self.of_open_tasks()).boxed()
    }
}

impl TodoReminder {
    fn of_open_tasks(&self) -> Option<FeatureMessage> {
        let attempt = self.given.load(Ordering::Relaxed) + 1;
        if attempt > self.max {
            return None;
        }
        let phases = self.board.phases();
        let text = todo_reminders::of_open_tasks(&phases, attempt, self.max)?;
        self.given.store(attempt, Ordering::Relaxed);
        let open: Vec<_> = phases.iter().flat_map(|phase| &phase.tasks).filter(|task| task.status.is_open()).collect();
        let event = Reminded { kind: todo_reminders::KIND, items: json!(open), attempt, max_attempts: self.max };
        Some(FeatureMessage::new("todo-reminder", text).with_event(event))
    }
}

fn after_error(outcome: &ToolOutcome) -> Option<FeatureMessage> {
    if !outcome.output.is_error {
        return None;
    }
    let text = todo_reminders::after_error(&text_of(&outcome.output.content));
    Some(FeatureMessage::new(todo_reminders::ERROR_REMINDER_TYPE, text))
}
