//! The rows below the transcript that change often: queued messages, running work, tasks, status.

#[cfg(test)]
mod every;
mod queue;
mod status;
mod todos;
mod welcome;
mod working;

pub use queue::queue_rows;
pub use status::{GitFacts, STATUS_SETTINGS, Segment, StatusBar, StatusLook, status_line};
pub use todos::todo_rows;
pub use welcome::{Welcome, short_path};
pub use working::Working;
