//! Signals wake the reader, which is not restricted to async-signal-safe functions.

use std::io;

use nix::libc;
use signal_hook_registry::{SigId, register, unregister};

use super::wake;
use crate::terminal::shared::SharedTerminal;

const SIGNALS: [(libc::c_int, u8); 7] = [
    (libc::SIGWINCH, wake::SIZE),
    (libc::SIGTERM, wake::TERM),
    (libc::SIGHUP, wake::HUP),
    (libc::SIGINT, wake::INT),
    (libc::SIGQUIT, wake::QUIT),
    (libc::SIGTSTP, wake::TSTP),
    (libc::SIGCONT, wake::CONT),
];

pub struct Signals(Vec<SigId>);

impl Signals {
    pub fn listen(shared: &SharedTerminal) -> io::Result<Self> {
        let mut listening = Self(Vec::new());
        for (signal, why) in SIGNALS {
            let waker = shared.waker.clone();
            let handler = move || waker.wake_for(why);
            // SAFETY: the handler does a single write to a descriptor that it keeps open, which is async-signal-safe.
            match unsafe { register(signal, handler) } {
                Ok(id) => listening.0.push(id),
                Err(error) => {
                    listening.forget();
                    return Err(error);
                }
            }
        }
        Ok(listening)
    }

    /// Unregisters our handlers; other handlers stay.
    pub fn forget(&mut self) {
        for id in self.0.drain(..) {
            unregister(id);
        }
    }
}
