//! The user's terminal: its keys, its size, its capabilities, and restoring its state.
//!
//! A thread reads the keys; it polls, so that it can stop reading while an editor runs. Every enabled mode is disabled again
//! in all cases: at the end, in a panic, on SIGTERM and SIGHUP, and around a suspension.

mod announce;
mod capabilities;
mod env;
mod modes;
mod probe;
mod shared;
#[cfg(unix)]
#[path = "unix/mod.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub use announce::Notification;
pub use capabilities::{Capabilities, ImageProtocol, Multiplexer, NotifyBy, TerminalId};
pub use env::TerminalEnv;
pub use probe::Capability;
use shared::{SharedTerminal, TerminalPhase};
pub use system::window_size;

use crate::image::{CellSize, ImageWay};
use crate::input::Input;
use crate::screen::{Profile, Size};
use crate::theme::Rgb;

#[derive(Clone, Debug, Default)]
pub struct TerminalOptions {
    pub env: TerminalEnv,
    /// Requests clicks, drags and the wheel. The terminal's own selection then needs shift.
    pub mouse: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermEvent {
    Input(Input),
    Resize(Size),
    /// The terminal reported a capability; [`Terminal::profile`] already includes it.
    Capability(Capability),
    /// No more input will arrive.
    Closed,
    Signal(Signal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM or SIGQUIT. If the application does not end the terminal soon, it is ended automatically; a second signal
    /// kills.
    Term,
    /// SIGINT, which no key causes here. Handled like `Term`.
    Int,
    /// SIGHUP. Handled like `Term`.
    Hup,
    /// Another process wants omp to stop (SIGTSTP): clean up the screen, then call [`Terminal::suspend`]. Otherwise omp is
    /// stopped automatically soon.
    Stop,
    /// omp continues after a suspension; everything must be painted at the current cursor position.
    Cont,
}

pub struct Terminal {
    shared: Arc<SharedTerminal>,
    events: UnboundedReceiver<TermEvent>,
    reader: Option<JoinHandle<()>>,
    signals: system::Signals,
    notifications: u32,
    env: TerminalEnv,
}

impl Terminal {
    /// Opens the terminal of the process: enables raw mode, bracketed paste and focus reports, and sends queries whose
    /// replies arrive as events. Does not wait.
    pub fn open(options: TerminalOptions) -> io::Result<Terminal> {
        Self::open_on(system::Tty::of_the_process()?, options)
    }

    fn open_on(tty: system::Tty, options: TerminalOptions) -> io::Result<Terminal> {
        let (sender, events) = unbounded_channel();
        let (waker, wake) = system::waker()?;
        let shared = Arc::new(SharedTerminal::new(tty, waker, sender, &options.env));
        restore_in_a_panic(&shared);
        let signals = system::Signals::listen(&shared)?;
        shared.begin(&options)?;
        let reading = Arc::clone(&shared);
        let reader = std::thread::Builder::new().name(READER.to_owned());
        let reader = match reader.spawn(move || system::read(&reading, &wake)) {
            Ok(reader) => reader,
            Err(error) => {
                shared.leave(TerminalPhase::Ended);
                return Err(error);
            }
        };
        Ok(Terminal { shared, events, reader: Some(reader), signals, notifications: 0, env: options.env })
    }

    /// Returns the next event. Cancel-safe.
    pub async fn next(&mut self) -> TermEvent {
        let event = self.events.recv().await;
        self.taken(event)
    }

    /// Returns an event that has already happened, so that a burst of keys is handled before the next frame.
    pub fn try_next(&mut self) -> Option<TermEvent> {
        let event = self.events.try_recv().ok()?;
        Some(self.taken(Some(event)))
    }

    fn taken(&mut self, event: Option<TermEvent>) -> TermEvent {
        self.shared.taken();
        event.unwrap_or(TermEvent::Closed)
    }

    /// Writes all bytes; writes nothing while paused or after the end.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.shared.write(bytes)
    }

    pub fn size(&self) -> Size {
        self.shared.size()
    }

    /// Returns the current profile, which replies of the terminal may change.
    pub fn profile(&self) -> Profile {
        self.shared.capabilities().profile()
    }

    pub fn capabilities(&self) -> Capabilities {
        self.shared.capabilities()
    }

    /// Returns the current image protocol and cell size.
    pub fn images(&self) -> (ImageWay, CellSize) {
        let known = self.capabilities();
        (ImageWay::choose(&known, &self.env), CellSize::of(&known))
    }

    /// Returns the background colour, once the terminal has reported it.
    pub fn background(&self) -> Option<Rgb> {
        self.shared.background()
    }

    /// Hands the terminal to another program, such as an editor. No key is read until [`Self::resume`].
    pub fn pause(&mut self) {
        self.shared.wait_for_answers();
        self.shared.leave(TerminalPhase::Paused);
    }

    pub fn resume(&mut self) -> io::Result<()> {
        self.shared.enter(TerminalPhase::Paused)
    }

    /// Hands the terminal back to the shell and stops the job, like ctrl+z in other programs. Returns at once;
    /// [`Signal::Cont`] follows when the job continues. Does nothing without job control.
    pub fn suspend(&mut self) {
        self.shared.wait_for_answers();
        self.shared.suspend();
    }

    /// Sets the number of frame rows below the cursor, so that a crash leaves the cursor below them.
    pub fn set_rows_below(&self, rows: usize) {
        self.shared.set_rows_below(rows);
    }

    /// Sets the window title. At the end the previous title is restored if the terminal stores it.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        self.shared.set_title(announce::title(title))
    }

    /// Notifies a user who is not looking at the terminal, if the terminal supports it and the user wants it.
    pub fn notify(&mut self, note: Notification<'_>) -> io::Result<()> {
        self.notifications = self.notifications.wrapping_add(1);
        let bytes = announce::notification(note, &self.shared.capabilities(), self.notifications);
        self.write(bytes.as_bytes())
    }

    /// Copies text to the clipboard. Returns `false` if the text is too long for terminals.
    pub fn copy(&self, text: &str) -> io::Result<bool> {
        match announce::clipboard(text, self.shared.capabilities().multiplexer) {
            Some(bytes) => self.write(bytes.as_bytes()).map(|()| true),
            None => Ok(false),
        }
    }
}

/// Name of the thread that reads input.
const READER: &str = "terminal";

impl Drop for Terminal {
    fn drop(&mut self) {
        self.shared.wait_for_answers();
        self.shared.leave(TerminalPhase::Ended);
        self.signals.forget();
        self.shared.stop_reader();
        if let Some(reader) = self.reader.take() {
            // The panic hook has already reported a panic of the reader.
            let _ = reader.join();
        }
    }
}

/// Restores the terminal before a panic message is printed, so that the message is readable. Only a panic of the thread that
/// opened the terminal, or of its reader, ends the terminal: other panics are handled elsewhere, and their messages must not
/// disturb the screen.
fn restore_in_a_panic(shared: &Arc<SharedTerminal>) {
    let shared = Arc::downgrade(shared);
    let owner = std::thread::current().id();
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Some(shared) = shared.upgrade() {
            let thread = std::thread::current();
            if thread.id() != owner && thread.name() != Some(READER) && shared.phase() == TerminalPhase::Active {
                return;
            }
            shared.leave_in_a_hurry();
        }
        print(panic);
    }));
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
