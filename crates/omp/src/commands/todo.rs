//! `/todo`: the user's hand on the task list, and what the model is told of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use omp_agent::{Tool, ToolRole};
use omp_session::{Command, Reminded, Said, Session, SessionCx, SessionFeature, SlashCommand, SlashReply, ToolOutcome};
use omp_store::Custom;
use omp_tools::{Todo, TodoBoard, TodoEdit, TodoPhase, todo_reminders};
use omp_types::{Content, CustomMessage, Message, now_ms, text_of};
use serde_json::{Value, json};

const HINT: &str = "hint: /todo [export [file] | import <file> | append [<phase>] <task> | start <task> | done|drop|rm \
    [<task or phase>]]";
const DEFAULT_FILE: &str = "TODO.md";

pub struct TodoCommand {
    pub board: TodoBoard,
    pub cwd: PathBuf,
}

impl SlashCommand for TodoCommand {
    fn name(&self) -> &str {
        "todo"
    }

    fn description(&self) -> &str {
        "Show or change the task list"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[export|import|append|start|done|drop|rm]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (verb, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            let file = |default: Option<&str>| file_named(&self.cwd, rest.trim(), default);
            let done = match verb {
                "" => return Ok(SlashReply::Text(shown(&self.board))),
                "export" => return export(&self.board, &file(Some(DEFAULT_FILE))?),
                "import" => import(&self.board, &file(None)?)?,
                _ => self.board.edit(&TodoEdit::parse(arguments, &self.board.phases())?)?,
            };
            tell(&self.board, session, &done).await?;
            Ok(SlashReply::Text(format!("{done}\n\n{}", shown(&self.board))))
        }
        .boxed()
    }
}

fn shown(board: &TodoBoard) -> String {
    let text = board.export();
    if text.trim().is_empty() { format!("the list is empty\n{HINT}") } else { text }
}

fn file_named(cwd: &Path, name: &str, default: Option<&str>) -> Result<PathBuf, String> {
    match (name, default) {
        ("", None) => Err(format!("which file?\n{HINT}")),
        ("", Some(default)) => Ok(cwd.join(default)),
        (name, _) => Ok(cwd.join(name)),
    }
}

/// Never over a file that is there: it may hold more than this list.
fn export(board: &TodoBoard, file: &Path) -> Result<SlashReply, String> {
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    let written = created.and_then(|mut to| std::io::Write::write_all(&mut to, board.export().as_bytes()));
    let hint = "hint: name another file: /todo export <file>";
    written.map_err(|error| format!("cannot write {}: {error}\n{hint}", file.display()))?;
    Ok(SlashReply::Text(format!("wrote {}", file.display())))
}

/// Longer files are no task lists.
const MAX_IMPORT: u64 = 1024 * 1024;

fn import(board: &TodoBoard, file: &Path) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display| format!("cannot import {}: {why}", file.display());
    let found = std::fs::metadata(file).map_err(|error| failed(&error))?;
    if !found.is_file() || found.len() > MAX_IMPORT {
        return Err(failed(&"it is no text file of at most 1 MiB"));
    }
    let text = omp_stdx::plain_file::read_text(file, MAX_IMPORT).map_err(|error| failed(&error))?;
    board.import(&text).map_err(|problems| failed(&problems.join("; ")))?;
    Ok(format!("imported {}", file.display()))
}

/// Keeps the list in the session's file and lets the model know, which reads it with the next prompt.
async fn tell(board: &TodoBoard, session: &Session, done: &str) -> Result<(), String> {
    let phases = board.phases();
    let data = Some(json!({"phases": phases}));
    let note = Custom { custom_type: todo_reminders::USER_EDIT_ENTRY.to_owned(), data };
    session.note(note).map_err(|error| error.to_string())?;
    let reminder = Message::Custom(CustomMessage {
        custom_type: todo_reminders::USER_EDIT_ENTRY.to_owned(),
        content: vec![Content::text(todo_reminders::after_user_edit(done, &phases))],
        display: false,
        details: Some(json!({"phases": phases})),
        timestamp: now_ms(),
    });
    session.send(Command::Append(Arc::new(reminder))).await.map_err(|closed| closed.to_string())
}

/// The list as the user left it, if nobody has changed it since.
pub fn edited_todos(history: &[Message]) -> Option<Vec<TodoPhase>> {
    let newest = history.iter().rev().find_map(|message| match message {
        Message::ToolResult(result) if result.tool_name == Todo::NAME && !result.is_error => Some(None),
        Message::Custom(custom) if custom.custom_type == todo_reminders::USER_EDIT_ENTRY => {
            Some(custom.details.as_ref())
        }
        _ => None,
    });
    serde_json::from_value(newest??.get("phases")?.clone()).ok()
}

/// The list for front ends that show and set it as a whole.
pub struct Board(pub TodoBoard);

impl omp_session::TodoBoard for Board {
    fn phases(&self) -> Value {
        json!(self.0.phases())
    }

    fn set_phases(&self, phases: Value) -> Result<(), String> {
        let phases: Vec<TodoPhase> =
            serde_json::from_value(phases).map_err(|error| format!("this is no list of phases: {error}"))?;
        self.0.set(phases).map_err(|problems| problems.join("; "))
    }
}

/// Tells the model of a failed change to the list, and of open tasks when it wants to stop.
pub struct TodoReminder {
    pub board: TodoBoard,
    /// `todo.remindersMax`; 0 where `todo.reminders` is off.
    pub max: u32,
    pub given: AtomicU32,
}

impl SessionFeature for TodoReminder {
    fn begin_run(&self) {
        self.given.store(0, Ordering::Relaxed);
    }

    fn after_call<'a>(&'a self, cx: &'a SessionCx, outcome: &'a mut ToolOutcome) -> BoxFuture<'a, Option<Said>> {
        let is_ours = cx.tool_role(&outcome.name) == Some(ToolRole::TaskList);
        ready(after_error(outcome).filter(|_| is_ours)).boxed()
    }

    fn before_finish<'a>(&'a self, _cx: &'a SessionCx) -> BoxFuture<'a, Option<Said>> {
        ready(self.of_open_tasks()).boxed()
    }
}

impl TodoReminder {
    fn of_open_tasks(&self) -> Option<Said> {
        let attempt = self.given.load(Ordering::Relaxed) + 1;
        if attempt > self.max {
            return None;
        }
        let phases = self.board.phases();
        let text = todo_reminders::of_open_tasks(&phases, attempt, self.max)?;
        self.given.store(attempt, Ordering::Relaxed);
        let open: Vec<_> = phases.iter().flat_map(|phase| &phase.tasks).filter(|task| task.status.is_open()).collect();
        let event = Reminded { kind: "todo", items: json!(open), attempt, max_attempts: self.max };
        Some(Said::new("todo-reminder", text).with_event(event))
    }
}

fn after_error(outcome: &ToolOutcome) -> Option<Said> {
    if !outcome.output.is_error {
        return None;
    }
    let text = todo_reminders::after_error(&text_of(&outcome.output.content));
    Some(Said::new(todo_reminders::ERROR_REMINDER_TYPE, text))
}
