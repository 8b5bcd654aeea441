//! The terminal interface of the application, which tests can fake.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use omp_tui::{Capability, CellSize, ImageWay, Input, Notification, Profile, Rgb, Signal, Size, TermEvent, Terminal};

use crate::app::Leave;

pub trait Tty {
    /// Returns the next event. Cancel safe.
    fn next(&mut self) -> LocalBoxFuture<'_, TtyEvent>;

    /// Returns an event that is already available, so that a burst of keys is handled before the next frame.
    fn try_next(&mut self) -> Option<TtyEvent>;

    fn write(&mut self, bytes: &[u8]);

    fn size(&self) -> Size;

    fn profile(&self) -> Profile;

    /// Returns the image protocol and the cell size; [`TtyEvent::Profile`] reports changes.
    fn images(&self) -> (ImageWay, CellSize);

    /// Sets the number of rows below the cursor, so that a crash can leave the cursor below them.
    fn set_rows_below(&mut self, rows: usize);

    /// Releases the terminal for another program.
    fn pause(&mut self);

    /// Takes the terminal back.
    fn resume(&mut self);

    /// Stops the process until the shell continues it, which [`TtyEvent::Continued`] reports.
    fn suspend(&mut self);

    fn set_title(&mut self, title: &str);

    /// Notifies a user who is not looking at the terminal.
    fn notify(&mut self, text: &str);

    /// Copies text to the clipboard of the user's own machine. Returns `false` if it is too long for terminals.
    fn copy(&mut self, text: &str) -> bool;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TtyEvent {
    Input(Input),
    Resize(Size),
    /// The known capabilities of the terminal have changed.
    Profile(Profile),
    Background(Rgb),
    /// A signal ends the process.
    Terminated(Leave),
    /// Another process asks this one to stop.
    Stop,
    /// The process continues after it was stopped.
    Continued,
    Closed,
}

/// Write errors are ignored: a closed terminal reports [`TtyEvent::Closed`].
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
