//! The terminal on Unix: `termios`, `poll`, signals.

mod reader;
mod signals;
mod tty;

pub use reader::read;
pub use signals::Signals;
pub use tty::{Tty, window_size};

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Reasons to wake the reader.
pub mod wake {
    pub const LOOK: u8 = 0;
    pub const STOP: u8 = 1;
    pub const SIZE: u8 = b'w';
    pub const TERM: u8 = b't';
    pub const HUP: u8 = b'h';
    pub const INT: u8 = b'i';
    pub const QUIT: u8 = b'q';
    pub const TSTP: u8 = b'z';
    pub const CONT: u8 = b'c';
}

/// Wakes the reader; can be used in a signal handler.
#[derive(Clone)]
pub struct Waker(Arc<UnixStream>);

/// The receiving end of a [`Waker`].
pub struct Wake(UnixStream);

pub fn waker() -> io::Result<(Waker, Wake)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    theirs.set_nonblocking(true)?;
    Ok((Waker(Arc::new(ours)), Wake(theirs)))
}

impl Waker {
    pub fn wake(&self) {
        self.wake_for(wake::LOOK);
    }

    pub fn stop(&self) {
        self.wake_for(wake::STOP);
    }

    /// A failed write means that the pipe is full, so the reader wakes anyway.
    pub fn wake_for(&self, why: u8) {
        let _ = (&*self.0).write(&[why]);
    }
}
