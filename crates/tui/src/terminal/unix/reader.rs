//! The thread that reads input: it sleeps until there is a byte, a signal or a deadline.

use std::io::Read as _;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal as UnixSignal, kill, sigaction};
use nix::unistd::getpid;

use super::{Wake, wake};
use crate::input::InputDecoder;
use crate::terminal::shared::{SharedTerminal, TerminalPhase};
use crate::terminal::{Signal, TermEvent};

/// Time for the application to end after a signal; then the terminal is ended for it.
const GRACE: Duration = Duration::from_millis(500);
/// Time to wait for a stop. A job that still runs afterwards has no shell that could continue it.
const STOPS_WITHIN: Duration = Duration::from_millis(300);
/// Interval at which a background job checks whether it is in the foreground again, because not every shell notifies a
/// running job.
const LOOKS_EVERY: Duration = Duration::from_millis(100);
/// A SIGCONT this soon after the job noticed that it continues is not reported again.
const TOLD_WITHIN: Duration = Duration::from_millis(200);

/// Runs until the terminal is dropped.
pub fn read(shared: &SharedTerminal, wake: &Wake) {
    let mut reader = TerminalReader {
        shared,
        decoder: InputDecoder::default(),
        closed: false,
        end_at: None,
        stop_at: None,
        check_at: None,
        found_out: None,
    };
    while reader.turn(wake).is_some() {}
}

struct TerminalReader<'a> {
    shared: &'a SharedTerminal,
    decoder: InputDecoder,
    closed: bool,
    /// When to end the terminal if the application has not.
    end_at: Option<Instant>,
    /// When to stop the job.
    stop_at: Option<Instant>,
    /// When to check whether a job that should have stopped still runs.
    check_at: Option<Instant>,
    /// When the job noticed, without a signal, that it continues.
    found_out: Option<Instant>,
}

impl TerminalReader<'_> {
    /// Returns `None` to stop the thread.
    fn turn(&mut self, wake: &Wake) -> Option<()> {
        self.decoder.expect_replies(self.shared.expects_answers_until());
        let full = !self.shared.has_room();
        let reads = !self.closed && self.shared.phase() == TerminalPhase::Active && !full;
        let mut ready = vec![PollFd::new(wake.0.as_fd(), PollFlags::POLLIN)];
        if reads {
            ready.push(PollFd::new(self.shared.tty.input(), PollFlags::POLLIN));
        }
        let found = poll(&mut ready, self.timeout(full));
        let is_ready = |at: usize| ready.get(at).is_some_and(|one| one.any().unwrap_or(false));
        let (woken, input) = (is_ready(0), is_ready(1));
        match found {
            Err(Errno::EINTR) => return Some(()),
            // Without `poll` no input can be read.
            Err(_) => {
                self.close();
                return None;
            }
            Ok(_) => {}
        }
        if woken {
            self.woken(wake)?;
        }
        if input {
            self.input();
        } else if !full {
            // Expires a pending sequence only if the input was checked, because its rest may be waiting.
            let mut decoded = Vec::new();
            self.decoder.expire(Instant::now(), &mut decoded);
            self.shared.take(decoded);
        }
        self.deadlines();
        Some(())
    }

    fn timeout(&self, full: bool) -> PollTimeout {
        let pending = self.decoder.pending_deadline().filter(|_| !full);
        let deadlines = [pending, self.end_at, self.stop_at, self.check_at];
        let Some(next) = deadlines.into_iter().flatten().min() else { return PollTimeout::NONE };
        // Rounded up, so that the deadline has passed after the wait.
        let wait = next.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
        PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
    }

    fn woken(&mut self, wake: &Wake) -> Option<()> {
        let mut reasons = [0; 64];
        let count = (&wake.0).read(&mut reasons).unwrap_or(0);
        for reason in &reasons[..count] {
            match *reason {
                wake::STOP => return None,
                wake::SIZE => self.shared.size_signalled(),
                wake::TERM => self.end(Signal::Term, UnixSignal::SIGTERM),
                wake::HUP => self.end(Signal::Hup, UnixSignal::SIGHUP),
                // These signals are meant for the program that has the terminal now.
                wake::INT | wake::QUIT if self.shared.phase() == TerminalPhase::Paused => {}
                wake::INT => self.end(Signal::Int, UnixSignal::SIGINT),
                wake::QUIT => self.end(Signal::Term, UnixSignal::SIGQUIT),
                wake::TSTP => self.stop(),
                wake::CONT => self.told_to_go_on(),
                _ => {}
            }
        }
        if self.shared.phase() != TerminalPhase::Active {
            // Another program has read since, so later bytes do not complete an earlier sequence.
            self.decoder = InputDecoder::default();
        }
        if self.shared.phase() == TerminalPhase::Suspended {
            self.check_at.get_or_insert(Instant::now() + STOPS_WITHIN);
        }
        Some(())
    }

    fn input(&mut self) {
        let mut buffer = [0; 16 * 1024];
        let read = self.shared.while_active(|| self.shared.tty.read(&mut buffer));
        match read {
            None | Some(Ok(None)) => {}
            Some(Ok(Some(0)) | Err(_)) => self.close(),
            Some(Ok(Some(count))) => {
                let mut decoded = Vec::new();
                self.decoder.feed(&buffer[..count], Instant::now(), &mut decoded);
                self.shared.take(decoded);
            }
        }
    }

    fn close(&mut self) {
        self.closed = true;
        self.shared.send(TermEvent::Closed);
    }

    fn end(&mut self, signal: Signal, told_by: UnixSignal) {
        if self.shared.phase() == TerminalPhase::Ended {
            // A repeated signal, and the terminal is already restored.
            die_of(told_by);
        }
        self.end_at.get_or_insert(Instant::now() + GRACE);
        self.shared.send(TermEvent::Signal(signal));
    }

    fn stop(&mut self) {
        match self.shared.phase() {
            TerminalPhase::Active => {
                self.stop_at.get_or_insert(Instant::now() + STOPS_WITHIN);
                self.shared.send(TermEvent::Signal(Signal::Stop));
            }
            // The program that has the terminal wants the whole job to stop.
            TerminalPhase::Paused => self.shared.tty.stop_the_job(),
            TerminalPhase::Suspended | TerminalPhase::Ended => {}
        }
    }

    fn told_to_go_on(&mut self) {
        let known = self.found_out.take().is_some_and(|then| then.elapsed() < TOLD_WITHIN);
        if !known || self.shared.phase() != TerminalPhase::Active {
            self.go_on();
        }
    }

    /// Continues after a stop, whatever caused it.
    fn go_on(&mut self) {
        self.check_at = None;
        self.stop_at = None;
        let phase = self.shared.phase();
        self.shared.tty.job_goes_on();
        if !matches!(phase, TerminalPhase::Active | TerminalPhase::Suspended) {
            return;
        }
        if self.shared.tty.is_ours() {
            // If the terminal cannot be taken again, the next read finds it closed.
            let _ = self.shared.enter(phase);
            self.shared.send(TermEvent::Signal(Signal::Cont));
        } else {
            // In the background the terminal belongs to the shell.
            self.shared.leave(TerminalPhase::Suspended);
            self.check_at = Some(Instant::now() + LOOKS_EVERY);
        }
    }

    fn deadlines(&mut self) {
        let now = Instant::now();
        let passed = |deadline: &mut Option<Instant>| deadline.take_if(|deadline| *deadline <= now).is_some();
        if passed(&mut self.end_at) {
            self.shared.leave_in_a_hurry();
        }
        if passed(&mut self.stop_at) && self.shared.phase() == TerminalPhase::Active {
            self.shared.suspend();
            self.check_at = Some(now + STOPS_WITHIN);
        }
        if passed(&mut self.check_at) && self.shared.phase() == TerminalPhase::Suspended {
            self.found_out = Some(now);
            self.go_on();
        }
    }
}

/// Dies of the signal, as if no handler were installed.
fn die_of(signal: UnixSignal) {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default action runs none of our code.
    if unsafe { sigaction(signal, &default) }.is_ok() {
        let _ = kill(getpid(), signal);
    }
}
