//! Messages to the model about the list, besides the results of its own calls. The session adds them to the conversation.

use omp_agent::Tool;
use omp_types::Message;

use super::list::Phase;
use super::{Todo, to_markdown};

/// The custom entry that stores a list changed by the user: its data is `{"phases": […]}`, as in the tool's details.
pub const USER_EDIT_ENTRY: &str = "user_todo_edit";
/// The hidden message that follows a failed call of the tool.
pub const ERROR_REMINDER_TYPE: &str = "todo-error-reminder";

/// What a reminder is about, for front ends.
pub const KIND: &str = Todo::NAME;

/// Returns the list as the user last edited it, unless the tool changed it since.
pub fn edited_phases(history: &[Message]) -> Option<Vec<Phase>> {
    let newest = history.iter().rev().find_map(|message| match message {
        Message::ToolResult(result) if result.tool_name == Todo::NAME && !result.is_error => Some(None),
        Message::Custom(custom) if custom.custom_type == USER_EDIT_ENTRY => Some(custom.details.as_ref()),
        _ => None,
    });
    serde_json::from_value(newest??.get("phases")?.clone()).ok()
}

/// The message after the user changed the list. `done` is the answer of [`super::TodoList::edit`].
pub fn after_user_edit(done: &str, phases: &[Phase]) -> String {
    let state = if phases.iter().all(|phase| phase.tasks.is_empty()) {
        "It is empty now. Do not create a new one unless the user asks for it.".to_owned()
    } else {
        format!("It is now:\n\n{}\nContinue from it and do not undo the change.", to_markdown(phases))
    };
    format!("<system-reminder>\nThe user has changed the todo list by hand ({done}). {state}\n</system-reminder>")
}

/// The message after a failed call of the tool.
pub fn after_error(error: &str) -> String {
    format!(
        "<system-reminder>\nThe last todo call failed and changed nothing, so the user does not see your progress: \
         {error}\nFix this and call todo again before you continue.\n</system-reminder>"
    )
}

/// The message when the model wants to end its turn with open tasks. Returns `None` if there are none.
pub fn of_open_tasks(phases: &[Phase], reminder: u32, of: u32) -> Option<String> {
    let open: Vec<String> = phases
        .iter()
        .flat_map(|phase| phase.tasks.iter().map(move |task| (phase, task)))
        .filter(|(_, task)| task.status.is_open())
        .map(|(phase, task)| format!("- {} ({})", task.content, phase.name))
        .collect();
    if open.is_empty() {
        return None;
    }
    Some(format!(
        "<system-reminder>\nYou stopped with {} of the todo list open:\n{}\nFinish them, or mark them done or dropped if \
         they are. If you need the user for them, say so and stop. (Reminder {reminder} of {of})\n\
         </system-reminder>",
        if open.len() == 1 { "1 task".to_owned() } else { format!("{} tasks", open.len()) },
        open.join("\n")
    ))
}
