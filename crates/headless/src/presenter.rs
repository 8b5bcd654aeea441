//! What the driver needs of a mode: how its events, replies and end are shown.

use std::io;

use omp_session::{OpenSession, SessionEvent};

/// Presents a session's events in the format of one mode.
pub trait Presenter: Send {
    fn event(&mut self, event: &SessionEvent) -> io::Result<()>;

    /// Returns when to call [`Presenter::tick`], if the output changes over time.
    fn next_tick(&self) -> Option<tokio::time::Instant> {
        None
    }

    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Shows the reply of a slash command.
    fn reply(&mut self, text: &str) -> io::Result<()>;

    /// Called when the following events belong to another session.
    fn switched(&mut self, to: &OpenSession) -> io::Result<()>;

    /// Called after all prompts; `problem` is the reason of a failure.
    fn finish(&mut self, problem: Option<&str>) -> io::Result<()>;
}

/// Returns when [`Presenter::tick`] is to be called.
pub(crate) fn until_tick(presenter: &dyn Presenter) -> impl Future<Output = ()> + use<> {
    let deadline = presenter.next_tick();
    async move {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }
}
