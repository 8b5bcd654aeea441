//! The two ends of the terminal, its settings as they were found, and stopping the job.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction};
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, read, tcgetpgrp, write};

use crate::screen::Size;

pub struct Tty {
    input: OwnedFd,
    output: OwnedFd,
    found: libc::termios,
    /// How SIGTSTP is handled while the job may be stopped by us.
    stop_action: Mutex<Option<SigAction>>,
}

impl Tty {
    pub const HAS_JOBS: bool = true;

    pub fn of_the_process() -> io::Result<Self> {
        Self::new(io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?)
    }

    pub fn new(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        let found = tcgetattr(&input).map_err(|error| not_a_terminal("input", error))?;
        tcgetattr(&output).map_err(|error| not_a_terminal("output", error))?;
        Ok(Self { input, output, found: found.into(), stop_action: Mutex::new(None) })
    }

    pub fn make_raw(&self) -> io::Result<()> {
        let mut raw = Termios::from(self.found);
        cfmakeraw(&mut raw);
        self.set(&raw)
    }

    /// As it was found.
    pub fn restore(&self) -> io::Result<()> {
        self.set(&Termios::from(self.found))
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
            other => Ok(Some(other?)),
        }
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
        [&self.output, &self.input].into_iter().find_map(|end| {
            let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
            // SAFETY: the descriptor is open, and the request fills exactly this struct.
            let answer = unsafe { libc::ioctl(end.as_raw_fd(), libc::TIOCGWINSZ, &mut size) };
            let told = answer == 0 && size.ws_col > 0 && size.ws_row > 0;
            told.then(|| Size { width: usize::from(size.ws_col), height: usize::from(size.ws_row) })
        })
    }

    /// Whether changing the terminal is our business: not while another job is in front.
    pub fn is_ours(&self) -> bool {
        tcgetpgrp(&self.input).map_or(true, |in_front| in_front == getpgrp())
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
