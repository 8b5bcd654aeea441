//! The two ends of the terminal, its settings as they were found, and stopping the job.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction};
use nix::sys::termios::{InputFlags, LocalFlags, SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, read, tcgetpgrp, write};

use crate::screen::Size;

pub struct Tty {
    input: OwnedFd,
    output: OwnedFd,
    found: Mutex<libc::termios>,
    /// Bytes that were typed before the terminal was ours, in its line mode.
    typed_ahead: AtomicUsize,
    /// How SIGTSTP is handled while the job may be stopped by us.
    stop_action: Mutex<Option<SigAction>>,
}

impl Tty {
    pub const HAS_JOBS: bool = true;

    pub fn of_the_process() -> io::Result<Self> {
        wait_for_the_front(io::stdin().as_fd());
        Self::new(io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?)
    }

    pub fn new(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        let found = tcgetattr(&input).map_err(|error| not_a_terminal("input", error))?;
        tcgetattr(&output).map_err(|error| not_a_terminal("output", error))?;
        let found = Mutex::new(found.into());
        Ok(Self { input, output, found, typed_ahead: AtomicUsize::new(0), stop_action: Mutex::new(None) })
    }

    pub fn make_raw(&self) -> io::Result<()> {
        let mut raw = Termios::from(*self.found());
        cfmakeraw(&mut raw);
        // Line mode has made a line feed of every return that was typed in it.
        let turned = again(|| tcgetattr(&self.input)).is_ok_and(|now| now.input_flags.contains(InputFlags::ICRNL));
        self.set(&raw)?;
        self.typed_ahead.store(if turned { self.waiting() } else { 0 }, Ordering::SeqCst);
        Ok(())
    }

    /// How many bytes can be read.
    fn waiting(&self) -> usize {
        let mut count: libc::c_int = 0;
        // SAFETY: the descriptor is open, and the request fills exactly this number.
        let answer = unsafe { libc::ioctl(self.input.as_raw_fd(), libc::FIONREAD, &mut count) };
        if answer == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
    }

    /// The shell had the terminal, and whoever sat there may have changed its settings: these are to be restored then.
    pub fn look_again(&self) {
        if let Ok(now) = again(|| tcgetattr(&self.input))
            && now.local_flags.contains(LocalFlags::ICANON)
        {
            *self.found() = now.into();
        }
    }

    fn found(&self) -> MutexGuard<'_, libc::termios> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As it was found.
    pub fn restore(&self) -> io::Result<()> {
        let found = Termios::from(*self.found());
        self.set(&found)
    }

    fn set(&self, settings: &Termios) -> io::Result<()> {
        Ok(again(|| tcsetattr(&self.input, SetArg::TCSANOW, settings))?)
    }

    pub fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// Reads what there is without waiting; `None` when there is nothing after all.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut ready = [PollFd::new(self.input(), PollFlags::POLLIN)];
        if again(|| poll(&mut ready, PollTimeout::ZERO))? == 0 {
            return Ok(None);
        }
        match again(|| read(&self.input, buffer)) {
            Err(Errno::EAGAIN) => Ok(None),
            other => {
                let count = other?;
                self.undo_line_mode(&mut buffer[..count]);
                Ok(Some(count))
            }
        }
    }

    /// Who typed ahead has pressed Enter, whatever the line mode of the shell made of it.
    fn undo_line_mode(&self, bytes: &mut [u8]) {
        let ahead = self.typed_ahead.load(Ordering::SeqCst).min(bytes.len());
        bytes[..ahead].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r');
        self.typed_ahead.fetch_sub(ahead, Ordering::SeqCst);
    }

    pub fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match again(|| write(&self.output, bytes)) {
                Ok(written) => bytes = &bytes[written..],
                // Somebody who shares the terminal has made it so.
                Err(Errno::EAGAIN) => {
                    let mut ready = [PollFd::new(self.output.as_fd(), PollFlags::POLLOUT)];
                    again(|| poll(&mut ready, PollTimeout::NONE))?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether bytes would be taken within a moment: not by a terminal that somebody holds.
    pub fn takes_bytes(&self) -> bool {
        const MOMENT: u16 = 100;
        let mut ready = [PollFd::new(self.output.as_fd(), PollFlags::POLLOUT)];
        again(|| poll(&mut ready, PollTimeout::from(MOMENT))).is_ok_and(|count| count > 0)
    }

    pub fn size(&self) -> Option<Size> {
        [&self.output, &self.input].into_iter().find_map(|end| size_of(end.as_fd()))
    }

    /// Whether changing the terminal is our business: not while another job is in front.
    pub fn is_ours(&self) -> bool {
        is_in_front(self.input())
    }

    /// The system stops the whole job, as if ctrl+z had been its own key.
    pub fn stop_the_job(&self) {
        let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        // SAFETY: the default action runs no code of ours.
        let before = unsafe { sigaction(Signal::SIGTSTP, &default) };
        if let (Ok(before), Ok(mut kept)) = (before, self.stop_action.lock()) {
            kept.get_or_insert(before);
        }
        // Without a shell that could let it go on the system does not stop it; then it goes on by itself.
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
    }

    /// SIGTSTP is ours again.
    pub fn job_goes_on(&self) {
        let kept = self.stop_action.lock().ok().and_then(|mut kept| kept.take());
        if let Some(action) = kept {
            // SAFETY: it is the action that was there before.
            let _ = unsafe { sigaction(Signal::SIGTSTP, &action) };
        }
    }
}

fn is_in_front(terminal: BorrowedFd<'_>) -> bool {
    tcgetpgrp(terminal).map_or(true, |in_front| in_front == getpgrp())
}

/// A job that was started in the background stops until it is wanted, as whoever reads from the terminal does. Before
/// that, the settings that are found are those of the shell while it edits a line.
fn wait_for_the_front(terminal: BorrowedFd<'_>) {
    /// Where no shell could let it go on the system does not stop it.
    const ATTEMPTS: usize = 3;
    for _ in 0..ATTEMPTS {
        if is_in_front(terminal) || kill(Pid::from_raw(0), Signal::SIGTTIN).is_err() {
            return;
        }
    }
}

fn not_a_terminal(which: &str, error: Errno) -> io::Error {
    let error = io::Error::from(error);
    let text = format!("the {which} is not a terminal ({error})\nhint: use `omp -p` for pipes and scripts");
    io::Error::new(error.kind(), text)
}

/// A signal is no reason to give up.
fn again<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            other => return other,
        }
    }
}

/// The size of the window that the standard streams lead to, without taking the terminal over.
pub fn window_size() -> Option<Size> {
    let (output, input, errors) = (io::stdout(), io::stdin(), io::stderr());
    [output.as_fd(), input.as_fd(), errors.as_fd()].into_iter().find_map(size_of)
}

fn size_of(end: BorrowedFd<'_>) -> Option<Size> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the descriptor is open, and the request fills exactly this struct.
    let answer = unsafe { libc::ioctl(end.as_raw_fd(), libc::TIOCGWINSZ, &mut size) };
    let told = answer == 0 && size.ws_col > 0 && size.ws_row > 0;
    told.then(|| Size { width: usize::from(size.ws_col), height: usize::from(size.ws_row) })
}
