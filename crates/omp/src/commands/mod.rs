//! The slash commands that exist in every mode.

mod jobs;
mod todo;

use std::path::PathBuf;
use std::sync::Arc;

use omp_session::{SlashCommand, SlashCommands};
use omp_tools::TodoBoard;

pub use jobs::JobNews;
pub use todo::{Board, TodoReminder, edited_todos};

/// What commands need besides the session.
pub struct Parts {
    pub cwd: PathBuf,
    /// The list that the todo tool shows, where it is on.
    pub todos: Option<TodoBoard>,
}

pub fn all(parts: Parts) -> SlashCommands {
    let Parts { cwd, todos } = parts;
    let todo = todos.map(|board| Arc::new(todo::TodoCommand { board, cwd }) as Arc<dyn SlashCommand>);
    SlashCommands::new(todo.into_iter().collect())
}
