//! What the application needs of a terminal, so that tests can be one.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use omp_tui::{Capability, CellSize, ImageWay, Input, Notification, Profile, Rgb, Signal, Size, TermEvent, Terminal};

use crate::app::Leave;

pub trait Tty {
    /// What happens next. Dropping the future loses nothing.
    fn next(&mut self) -> LocalBoxFuture<'_, TtyEvent>;

    /// What has happened already: keys that come in a burst are handled before the next frame.
    fn try_next(&mut self) -> Option<TtyEvent>;

    fn write(&mut self, bytes: &[u8]);

    fn size(&self) -> Size;

    fn profile(&self) -> Profile;

    /// How pictures are shown, and the size of a cell; [`TtyEvent::Profile`] tells that it may be another one.
    fn images(&self) -> (ImageWay, CellSize);

    /// Rows of the picture below the cursor, which a crash leaves the cursor behind.
    fn set_rows_below(&mut self, rows: usize);

    /// Gives the terminal to another program.
    fn pause(&mut self);

    /// Takes it back.
    fn resume(&mut self);

    /// Stops the process until the shell lets it go on, of which [`TtyEvent::Continued`] tells.
    fn suspend(&mut self);

    fn set_title(&mut self, title: &str);

    /// Tells a user who looks elsewhere.
    fn notify(&mut self, text: &str);

    /// Puts text into the clipboard of the person's own machine. `false`: it is more than terminals take.
    fn copy(&mut self, text: &str) -> bool;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TtyEvent {
    Input(Input),
    Resize(Size),
    /// It can do more, or less, than was known.
    Profile(Profile),
    Background(Rgb),
    /// A signal says so.
    Terminated(Leave),
    /// Somebody else wants the process to stop.
    Stop,
    /// The process goes on after it was stopped.
    Continued,
    Closed,
}

/// What cannot be written cannot be told either: a terminal that is gone says so by [`TtyEvent::Closed`].
impl Tty for Terminal {
    fn next(&mut self) -> LocalBoxFuture<'_, TtyEvent> {
        async {
            let event = Terminal::next(self).await;
            told(event, self)
        }
        .boxed_local()
    }

    fn try_next(&mut self) -> Option<TtyEvent> {
        let event = Terminal::try_next(self)?;
        Some(told(event, self))
    }

    fn write(&mut self, bytes: &[u8]) {
        let _ = Terminal::write(self, bytes);
    }

    fn size(&self) -> Size {
        Terminal::size(self)
    }

    fn profile(&self) -> Profile {
        Terminal::profile(self)
    }

    fn images(&self) -> (ImageWay, CellSize) {
        Terminal::images(self)
    }

    fn set_rows_below(&mut self, rows: usize) {
        Terminal::set_rows_below(self, rows);
    }

    fn pause(&mut self) {
        Terminal::pause(self);
    }

    fn resume(&mut self) {
        let _ = Terminal::resume(self);
    }

    fn suspend(&mut self) {
        Terminal::suspend(self);
    }

    fn set_title(&mut self, title: &str) {
        let _ = Terminal::set_title(self, title);
    }

    fn notify(&mut self, text: &str) {
        let _ = Terminal::notify(self, Notification { title: "omp", body: text });
    }

    fn copy(&mut self, text: &str) -> bool {
        Terminal::copy(self, text).unwrap_or(false)
    }
}

fn told(event: TermEvent, terminal: &Terminal) -> TtyEvent {
    match event {
        TermEvent::Input(input) => TtyEvent::Input(input),
        TermEvent::Resize(size) => TtyEvent::Resize(size),
        TermEvent::Capability(Capability::Background(color)) => TtyEvent::Background(color),
        TermEvent::Capability(_) => TtyEvent::Profile(terminal.profile()),
        TermEvent::Closed => TtyEvent::Closed,
        TermEvent::Signal(Signal::Term) => TtyEvent::Terminated(Leave::Terminated),
        TermEvent::Signal(Signal::Int) => TtyEvent::Terminated(Leave::Interrupted),
        TermEvent::Signal(Signal::Hup) => TtyEvent::Terminated(Leave::HungUp),
        TermEvent::Signal(Signal::Stop) => TtyEvent::Stop,
        TermEvent::Signal(Signal::Cont) => TtyEvent::Continued,
    }
}
