//! What the driver needs of a mode: how its events, replies and end are shown.

use std::io;

use omp_session::{OpenSession, SessionEvent};

/// Shows a session's events in one mode's way.
pub trait Presenter: Send {
    fn event(&mut self, event: &SessionEvent) -> io::Result<()>;

    /// When [`Presenter::tick`] wants to be called, if something on the screen changes by itself.
    fn next_tick(&self) -> Option<tokio::time::Instant> {
        None
    }

    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// What a slash command has answered.
    fn reply(&mut self, text: &str) -> io::Result<()>;

    /// What comes next is of another session.
    fn switched(&mut self, to: &OpenSession) -> io::Result<()>;

    /// All prompts are worked off; `problem` says why it did not go well.
    fn finish(&mut self, problem: Option<&str>) -> io::Result<()>;
}
