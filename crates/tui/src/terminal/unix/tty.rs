//! The terminal's file descriptors, its original settings, and stopping the job.

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
    /// Bytes typed in line mode, before the terminal was ours.
    typed_ahead: AtomicUsize,
    /// The original SIGTSTP action while we stop the job.
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
        // Line mode has turned every typed return into a line feed.
        let turned = again(|| tcgetattr(&self.input)).is_ok_and(|now| now.input_flags.contains(InputFlags::ICRNL));
        self.set(&raw)?;
        self.typed_ahead.store(if turned { self.waiting() } else { 0 }, Ordering::SeqCst);
        Ok(())
    }

    /// Returns the number of readable bytes.
    fn waiting(&self) -> usize {
        let mut count: libc::c_int = 0;
        // SAFETY: the descriptor is open, and the request fills exactly this number.
        let answer = unsafe { libc::ioctl(self.input.as_raw_fd(), libc::FIONREAD, &mut count) };
        if answer == 0 { usize::try_from(count).unwrap_or(0) } else { 0 }
    }

    /// Reads the settings again, because the user may have changed them in the shell; these are then the ones to restore.
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

    /// Restores the original settings.
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

    /// Reads available bytes without waiting; `None` if there are none.
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

    /// Converts line feeds typed ahead back to returns, because the shell's line mode changed them.
    fn undo_line_mode(&self, bytes: &mut [u8]) {
        let ahead = self.typed_ahead.load(Ordering::SeqCst).min(bytes.len());
        bytes[..ahead].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r');
        self.typed_ahead.fetch_sub(ahead, Ordering::SeqCst);
    }

    pub fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match again(|| write(&self.output, bytes)) {
                Ok(written) => bytes = &bytes[written..],
                // Another process that shares the terminal made it non-blocking.
                Err(Errno::EAGAIN) => {
                    let mut ready = [PollFd::new(self.output.as_fd(), PollFlags::POLLOUT)];
                    again(|| poll(&mut ready, PollTimeout::NONE))?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether the terminal accepts bytes within a moment; a stopped terminal does not.
    pub fn takes_bytes(&self) -> bool {
        const MOMENT: u16 = 100;
        let mut ready = [PollFd::new(self.output.as_fd(), PollFlags::POLLOUT)];
        again(|| poll(&mut ready, PollTimeout::from(MOMENT))).is_ok_and(|count| count > 0)
    }

    pub fn size(&self) -> Option<Size> {
        [&self.output, &self.input].into_iter().find_map(|end| size_of(end.as_fd()))
    }

    /// Whether we may change the terminal: not while another job is in the foreground.
    pub fn is_ours(&self) -> bool {
        is_in_front(self.input())
    }

    /// Stops the whole job, as ctrl+z does by default.
    pub fn stop_the_job(&self) {
        let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        // SAFETY: the default action runs none of our code.
        let before = unsafe { sigaction(Signal::SIGTSTP, &default) };
        if let (Ok(before), Ok(mut kept)) = (before, self.stop_action.lock()) {
            kept.get_or_insert(before);
        }
        // Without a shell that could continue the job, the system does not stop it, and it continues.
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
    }

    /// Restores our SIGTSTP action.
    pub fn job_goes_on(&self) {
        let kept = self.stop_action.lock().ok().and_then(|mut kept| kept.take());
        if let Some(action) = kept {
            // SAFETY: this is the action that was installed before.
            let _ = unsafe { sigaction(Signal::SIGTSTP, &action) };
        }
    }
}

fn is_in_front(terminal: BorrowedFd<'_>) -> bool {
    tcgetpgrp(terminal).map_or(true, |in_front| in_front == getpgrp())
}

/// Stops a job that was started in the background until it is in the foreground, as reading from the terminal would. Before
/// that, the terminal has the settings of the shell's line editor.
fn wait_for_the_front(terminal: BorrowedFd<'_>) {
    /// Limited, because without a shell that could continue the job the system does not stop it.
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

/// Repeats a call that a signal interrupted.
fn again<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            other => return other,
        }
    }
}

/// Returns the window size of the standard streams, without opening the terminal.
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
