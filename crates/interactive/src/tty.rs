//! What the application needs of a terminal, so that tests can be one.

use futures_util::future::LocalBoxFuture;
use omp_tui::{Input, Profile, Rgb, Size};

pub trait Tty {
    /// What happens next. Dropping the future loses nothing.
    fn next(&mut self) -> LocalBoxFuture<'_, TtyEvent>;

    fn write(&mut self, bytes: &[u8]);

    fn size(&self) -> Size;

    fn profile(&self) -> Profile;

    /// Gives the terminal to another program.
    fn pause(&mut self);

    /// Takes it back.
    fn resume(&mut self);

    /// Stops the process until the shell lets it go on. `false` where that cannot be done.
    fn suspend(&mut self) -> bool;

    fn set_title(&mut self, title: &str);

    /// Tells a user who looks elsewhere.
    fn notify(&mut self, text: &str);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TtyEvent {
    Input(Input),
    Resize(Size),
    /// It can do more, or less, than was known.
    Profile(Profile),
    Background(Rgb),
    /// SIGTERM or SIGHUP.
    Terminated,
    /// The process goes on after it was stopped.
    Continued,
    Closed,
}
