//! The terminal of the person: its keys, its size, what it can do, and handing it back as it was.
//!
//! A thread reads the keys; it polls, so that it can let go of them while an editor runs. Whatever happens, every mode
//! that was switched on is switched off again: at the end, in a panic, on SIGTERM and SIGHUP, and around a suspension.

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
    /// Ask for clicks, drags and the wheel. The terminal's own selection then needs shift.
    pub mouse: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermEvent {
    Input(Input),
    Resize(Size),
    /// The terminal said something about itself; what follows from it is in [`Terminal::profile`] already.
    Capability(Capability),
    /// No keys will come any more.
    Closed,
    Signal(Signal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM or SIGQUIT. Who does not end the terminal soon finds it ended, and a second signal kills.
    Term,
    /// SIGINT, which no key causes here. The same.
    Int,
    /// SIGHUP. The same.
    Hup,
    /// Somebody else wants omp to stop (SIGTSTP): leave the screen tidy, then [`Terminal::suspend`]. Happens by itself
    /// soon.
    Stop,
    /// It goes on after a suspension; everything has to be painted where the cursor is now.
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
    /// Takes the terminal of the process: raw mode, bracketed paste, reports of the focus, and questions whose answers
    /// come as events. Nothing is waited for.
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

    /// What happens next. May be dropped and called again without losing anything.
    pub async fn next(&mut self) -> TermEvent {
        let event = self.events.recv().await;
        self.taken(event)
    }

    /// What has happened already: keys that come in a burst are handled before the next frame.
    pub fn try_next(&mut self) -> Option<TermEvent> {
        let event = self.events.try_recv().ok()?;
        Some(self.taken(Some(event)))
    }

    fn taken(&mut self, event: Option<TermEvent>) -> TermEvent {
        self.shared.taken();
        event.unwrap_or(TermEvent::Closed)
    }

    /// Shows bytes, all of them; none while paused or after the end.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.shared.write(bytes)
    }

    pub fn size(&self) -> Size {
        self.shared.size()
    }

    /// As known by now: answers of the terminal change it.
    pub fn profile(&self) -> Profile {
        self.shared.capabilities().profile()
    }

    pub fn capabilities(&self) -> Capabilities {
        self.shared.capabilities()
    }

    /// How it shows pictures, as known by now, and how large its cells are.
    pub fn images(&self) -> (ImageWay, CellSize) {
        let known = self.capabilities();
        (ImageWay::choose(&known, &self.env), CellSize::of(&known))
    }

    /// The colour behind the text, once the terminal has told.
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

    /// Hands the terminal back to the shell and stops the job, as ctrl+z does elsewhere. Returns at once; when it goes on
    /// [`Signal::Cont`] comes. Does nothing where there are no jobs.
    pub fn suspend(&mut self) {
        self.shared.wait_for_answers();
        self.shared.suspend();
    }

    /// Rows of the frame below the cursor, which a crash leaves the cursor behind.
    pub fn set_rows_below(&self, rows: usize) {
        self.shared.set_rows_below(rows);
    }

    /// The title of the window, until the end; then the one of before comes back where the terminal keeps it.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        self.shared.set_title(announce::title(title))
    }

    /// Tells somebody who looks elsewhere, as far as the terminal can and the person wants it.
    pub fn notify(&mut self, note: Notification<'_>) -> io::Result<()> {
        self.notifications = self.notifications.wrapping_add(1);
        let bytes = announce::notification(note, &self.shared.capabilities(), self.notifications);
        self.write(bytes.as_bytes())
    }

    /// Puts text into the clipboard. `false`: it is more than terminals take.
    pub fn copy(&self, text: &str) -> io::Result<bool> {
        match announce::clipboard(text, self.shared.capabilities().multiplexer) {
            Some(bytes) => self.write(bytes.as_bytes()).map(|()| true),
            None => Ok(false),
        }
    }
}

/// The thread that reads what is typed.
const READER: &str = "terminal";

impl Drop for Terminal {
    fn drop(&mut self) {
        self.shared.wait_for_answers();
        self.shared.leave(TerminalPhase::Ended);
        self.signals.forget();
        self.shared.stop_reader();
        if let Some(reader) = self.reader.take() {
            // A reader that panicked has been reported by the hook.
            let _ = reader.join();
        }
    }
}

/// The message of a panic has to be readable, so the terminal is handed back before it is printed. Only a panic of the
/// thread that opened the terminal, or of its reader, is the end: others are somebody's business who goes on, and their
/// messages must not get into the picture.
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
