//! The slash commands that exist in every mode.

mod dump;
mod export;
mod jobs;
mod todo;

use std::path::PathBuf;
use std::sync::Arc;

use omp_session::{SlashCommand, SlashCommands};
use omp_tools::TodoBoard;

use crate::sessions_export::Exporter;

pub use jobs::JobNews;
pub use todo::{Board, TodoReminder, edited_todos};

/// What commands need besides the session.
pub struct Parts {
    pub cwd: PathBuf,
    /// The list that the todo tool shows, where it is on.
    pub todos: Option<TodoBoard>,
    pub exporter: Exporter,
}

pub fn all(parts: Parts) -> SlashCommands {
    let Parts { cwd, todos, exporter } = parts;
    let todo = todos.map(|board| Arc::new(todo::TodoCommand { board, cwd }) as Arc<dyn SlashCommand>);
    let mut commands: Vec<Arc<dyn SlashCommand>> = todo.into_iter().collect();
    commands.push(Arc::new(dump::DumpCommand { secrets: exporter.secrets().clone() }));
    commands.push(Arc::new(export::ExportCommand { exporter }));
    SlashCommands::new(commands)
}
