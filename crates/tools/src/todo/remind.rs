//! What the model is told of the list besides the results of its own calls. Put into the conversation by the session.

use super::list::Phase;
use super::to_markdown;

/// The custom entry that keeps a list the user has changed: its data is `{"phases": […]}`, as in the tool's details.
pub const USER_EDIT_ENTRY: &str = "user_todo_edit";
/// The hidden message that follows a failed call of the tool.
pub const ERROR_REMINDER_TYPE: &str = "todo-error-reminder";

/// For the model, after the user has changed the list by hand. `done` is what [`super::TodoList::edit`] has answered.
pub fn after_user_edit(done: &str, phases: &[Phase]) -> String {
    let state = if phases.iter().all(|phase| phase.tasks.is_empty()) {
        "It is empty now. Do not make a new one unless the user asks for it.".to_owned()
    } else {
        format!("It is now:\n\n{}\nGo on from it and do not undo the change.", to_markdown(phases))
    };
    format!("<system-reminder>\nThe user has changed the todo list by hand ({done}). {state}\n</system-reminder>")
}

/// For the model, after a call of the tool has failed.
pub fn after_error(error: &str) -> String {
    format!(
        "<system-reminder>\nThe last todo call failed and changed nothing, so the user does not see your progress: \
         {error}\nCall todo again with this put right before you go on.\n</system-reminder>"
    )
}

/// For the model, when it wants to end its turn with tasks left. `None` when there are none.
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
         that is what they are. If you need the user for them, say so and stop. (Reminder {reminder} of {of})\n\
         </system-reminder>",
        if open.len() == 1 { "1 task".to_owned() } else { format!("{} tasks", open.len()) },
        open.join("\n")
    ))
}
