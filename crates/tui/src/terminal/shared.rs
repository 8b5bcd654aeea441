//! State shared by the reader thread and the owner of the terminal: who has the terminal, and its modes.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::capabilities::{Capabilities, Multiplexer, TerminalId};
use super::env::TerminalEnv;
use super::modes::{AFTER_A_FRAME, ALL_OFF, Modes, TerminalMode};
use super::probe::{Capability, Probe, Prober};
use super::{TermEvent, TerminalOptions, system};
use crate::input::{Decoded, TerminalReply};
use crate::screen::Size;
use crate::theme::Rgb;

/// Limits the queued events: beyond it the reader leaves the bytes in the terminal until events are taken.
const MOST_QUEUED: usize = 4096;
/// Time during which replies are expected.
const ANSWERS_TAKE: Duration = Duration::from_secs(2);
/// How long the end waits for replies, so that they do not end up in the shell.
const END_WAITS: Duration = Duration::from_millis(100);
/// How long the end waits for a frame that is being written.
const FRAME_TAKES: Duration = Duration::from_millis(200);

/// The current owner of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TerminalPhase {
    Active,
    /// Another program has the terminal.
    Paused,
    /// The shell has the terminal until omp continues.
    Suspended,
    /// The shell has the terminal for good.
    Ended,
}

pub struct SharedTerminal {
    pub tty: system::Tty,
    pub waker: system::Waker,
    events: UnboundedSender<TermEvent>,
    queued: AtomicUsize,
    /// Changed only while `state` is locked.
    phase: AtomicU8,
    rows_below: AtomicUsize,
    state: Mutex<TerminalFacts>,
    /// Notified when the prober may have received its last reply.
    answered: Condvar,
    /// Held while bytes are written, so that sequences do not interleave.
    output: Mutex<()>,
    fallback: Size,
}

struct TerminalFacts {
    modes: Modes,
    prober: Prober,
    asked: Instant,
    capabilities: Capabilities,
    background: Option<Rgb>,
    size: Size,
    /// The sequence that sets the title.
    title: Option<String>,
    /// The shell already had the terminal when it was left, so its modes are still on.
    left_on: bool,
}

impl SharedTerminal {
    pub fn new(tty: system::Tty, waker: system::Waker, events: UnboundedSender<TermEvent>, env: &TerminalEnv) -> Self {
        let fallback = env.size();
        let state = TerminalFacts {
            modes: Modes::default(),
            prober: Prober::default(),
            asked: Instant::now(),
            capabilities: Capabilities::detect(env),
            background: None,
            size: tty.size().unwrap_or(fallback),
            title: None,
            left_on: false,
        };
        Self {
            tty,
            waker,
            events,
            queued: AtomicUsize::new(0),
            phase: AtomicU8::new(TerminalPhase::Ended as u8),
            rows_below: AtomicUsize::new(0),
            state: Mutex::new(state),
            answered: Condvar::new(),
            output: Mutex::new(()),
            fallback,
        }
    }

    pub fn begin(&self, options: &TerminalOptions) -> io::Result<()> {
        let mut state = self.lock();
        self.tty.make_raw()?;
        self.set_phase(TerminalPhase::Active);
        let mut out = Vec::new();
        state.modes.push(TerminalMode::BracketedPaste, &mut out);
        state.modes.push(TerminalMode::Focus, &mut out);
        if options.mouse {
            state.modes.push(TerminalMode::Mouse, &mut out);
        }
        for group in state.capabilities.probes() {
            state.prober.ask(&group, &mut out);
        }
        state.asked = Instant::now();
        let written = self.write_control(&out);
        drop(state);
        if written.is_err() {
            self.leave(TerminalPhase::Ended);
        }
        written
    }

    /// Handles decoded input of the terminal.
    pub fn take(&self, decoded: Vec<Decoded>) {
        for decoded in decoded {
            match decoded {
                Decoded::Input(input) => self.send(TermEvent::Input(input)),
                Decoded::Reply(TerminalReply::Size { width, height }) => self.resized(Size { width, height }, false),
                Decoded::Reply(reply) => self.learn(reply),
            }
        }
    }

    fn learn(&self, reply: TerminalReply) {
        let mut state = self.lock();
        for capability in state.prober.reply(reply) {
            let mut out = Vec::new();
            state.learn(&capability, &mut out);
            if self.phase() == TerminalPhase::Active {
                // If the write fails, the reader soon finds the terminal closed.
                let _ = self.write_control(&out);
            }
            self.send(TermEvent::Capability(capability));
        }
        drop(state);
        self.answered.notify_all();
    }

    /// Returns until when replies may arrive.
    pub fn expects_answers_until(&self) -> Option<Instant> {
        let state = self.lock();
        state.prober.is_waiting().then(|| state.asked + ANSWERS_TAKE)
    }

    /// Waits for outstanding replies, which would otherwise be typed into the shell.
    pub fn wait_for_answers(&self) {
        let state = self.lock();
        if self.phase() == TerminalPhase::Active && state.asked.elapsed() < ANSWERS_TAKE {
            let waits = |state: &mut TerminalFacts| state.prober.is_waiting();
            drop(self.answered.wait_timeout_while(state, END_WAITS, waits));
        }
    }

    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let _writing = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if self.phase() == TerminalPhase::Active { self.tty.write_all(bytes) } else { Ok(()) }
    }

    /// Hands the terminal back, unless that has already happened.
    pub fn leave(&self, next: TerminalPhase) {
        let mut state = self.lock();
        self.leave_as(&mut state, next);
    }

    fn leave_as(&self, state: &mut TerminalFacts, next: TerminalPhase) {
        let was = self.phase();
        if was == TerminalPhase::Ended {
            return;
        }
        self.set_phase(next);
        state.left_on |= was == TerminalPhase::Active && !self.tty.is_ours();
        if was == TerminalPhase::Active && !state.left_on {
            let mut out = AFTER_A_FRAME.as_bytes().to_vec();
            state.modes.leave(&mut out);
            // A closed terminal needs no restoring.
            let _ = self.write_control(&out);
            let _ = self.tty.restore();
        }
        self.waker.wake();
    }

    /// Restores the terminal in a panic, or when the application ignores a signal to end; does not wait for locks that may
    /// never be released.
    pub fn leave_in_a_hurry(&self) {
        if self.phase() == TerminalPhase::Active && self.tty.takes_bytes() {
            let below = self.rows_below.load(Ordering::Relaxed);
            let down = if below > 0 { format!("\x1b[{below}B") } else { String::new() };
            match try_for(FRAME_TAKES, || unpoisoned(self.state.try_lock())) {
                Some(mut state) => self.leave_as(&mut state, TerminalPhase::Ended),
                None => {
                    self.set_phase(TerminalPhase::Ended);
                    let _ = self.write_control(format!("{AFTER_A_FRAME}{ALL_OFF}").as_bytes());
                    let _ = self.tty.restore();
                }
            }
            let _ = self.write_control(format!("{down}\r\n").as_bytes());
        }
        self.set_phase(TerminalPhase::Ended);
        self.send(TermEvent::Closed);
    }

    /// Takes the terminal again if it was left in this phase.
    pub fn enter(&self, left: TerminalPhase) -> io::Result<()> {
        let mut state = self.lock();
        if self.phase() != left {
            return Ok(());
        }
        if left == TerminalPhase::Suspended {
            self.tty.look_again();
        }
        self.tty.make_raw()?;
        self.set_phase(TerminalPhase::Active);
        let mut out = Vec::new();
        if std::mem::take(&mut state.left_on) || left == TerminalPhase::Active {
            // The process was stopped without a chance to leave.
            out.extend_from_slice(AFTER_A_FRAME.as_bytes());
            state.modes.leave(&mut out);
        }
        state.modes.enter_again(&mut out);
        out.extend_from_slice(state.title.as_deref().unwrap_or_default().as_bytes());
        let written = self.write_control(&out);
        drop(state);
        self.waker.wake();
        self.check_size();
        written
    }

    pub fn suspend(&self) {
        if !system::Tty::HAS_JOBS {
            return;
        }
        self.leave(TerminalPhase::Suspended);
        if self.phase() == TerminalPhase::Suspended {
            self.tty.stop_the_job();
            self.waker.wake();
        }
    }

    pub fn set_title(&self, sequence: String) -> io::Result<()> {
        let mut state = self.lock();
        if state.title.as_ref() == Some(&sequence) {
            return Ok(());
        }
        let mut out = Vec::new();
        state.modes.push(TerminalMode::Title, &mut out);
        out.extend_from_slice(sequence.as_bytes());
        state.title = Some(sequence);
        if self.phase() == TerminalPhase::Active { self.write_control(&out) } else { Ok(()) }
    }

    /// Queries the size from the system after a signal, and sends an event if it may have changed.
    pub fn size_signalled(&self) {
        self.resized(self.tty.size().unwrap_or(self.fallback), true);
    }

    fn check_size(&self) {
        self.resized(self.tty.size().unwrap_or(self.fallback), false);
    }

    fn resized(&self, size: Size, signalled: bool) {
        let mut state = self.lock();
        let was = std::mem::replace(&mut state.size, size);
        // Tmux reports a size that changed and changed back with two signals, which may both arrive before the size is read.
        let and_back = signalled && state.capabilities.multiplexer == Some(Multiplexer::Tmux);
        drop(state);
        if was != size || and_back {
            self.send(TermEvent::Resize(size));
        }
    }

    pub fn send(&self, event: TermEvent) {
        self.queued.fetch_add(1, Ordering::Relaxed);
        // The receiver is gone when the terminal is being dropped.
        let _ = self.events.send(event);
    }

    /// Records that an event was taken from the queue.
    pub fn taken(&self) {
        if self.queued.fetch_sub(1, Ordering::Relaxed) == MOST_QUEUED {
            self.waker.wake();
        }
    }

    pub fn has_room(&self) -> bool {
        self.queued.load(Ordering::Relaxed) < MOST_QUEUED
    }

    #[cfg(test)]
    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    pub fn phase(&self) -> TerminalPhase {
        let phases = [TerminalPhase::Active, TerminalPhase::Paused, TerminalPhase::Suspended];
        let now = self.phase.load(Ordering::SeqCst);
        phases.into_iter().find(|phase| *phase as u8 == now).unwrap_or(TerminalPhase::Ended)
    }

    fn set_phase(&self, phase: TerminalPhase) {
        self.phase.store(phase as u8, Ordering::SeqCst);
    }

    pub fn stop_reader(&self) {
        self.waker.stop();
    }

    pub fn size(&self) -> Size {
        self.lock().size
    }

    pub fn capabilities(&self) -> Capabilities {
        self.lock().capabilities.clone()
    }

    pub fn background(&self) -> Option<Rgb> {
        self.lock().background
    }

    pub fn set_rows_below(&self, rows: usize) {
        self.rows_below.store(rows, Ordering::Relaxed);
    }

    /// Runs `read` while the terminal cannot be handed over.
    pub fn while_active<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let _state = self.lock();
        (self.phase() == TerminalPhase::Active).then(read)
    }

    /// Writes without waiting forever: if a frame blocks because the terminal accepts no bytes, the lock is ignored.
    fn write_control(&self, bytes: &[u8]) -> io::Result<()> {
        let _writing = try_for(FRAME_TAKES, || unpoisoned(self.output.try_lock()));
        self.tty.write_all(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, TerminalFacts> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TerminalFacts {
    /// Applies a reported capability and writes the modes that follow from it.
    fn learn(&mut self, capability: &Capability, out: &mut Vec<u8>) {
        self.capabilities.learn(capability);
        if let Some(probe) = self.capabilities.follow_up(capability) {
            self.ask(probe, out);
        }
        match capability {
            Capability::KittyKeyboard(true) => {
                self.modes.remove(TerminalMode::ModifyOtherKeys, out);
                self.modes.push(TerminalMode::KittyKeyboard(self.kitty_flags()), out);
            }
            Capability::KittyKeyboard(false) if !self.modes.has_kitty() && self.understands_other_keys() => {
                self.modes.push(TerminalMode::ModifyOtherKeys, out);
            }
            Capability::AppearanceNews(true) => self.modes.push(TerminalMode::Appearance, out),
            // On other systems a signal reports the size for every terminal.
            Capability::InBandSize(true) if cfg!(windows) => self.modes.push(TerminalMode::InBandSize, out),
            Capability::Background(rgb) => self.background = Some(*rgb),
            Capability::Appearance { .. } => self.ask(Probe::Background, out),
            _ => {}
        }
    }

    /// Does not repeat a query while its reply is outstanding.
    fn ask(&mut self, probe: Probe, out: &mut Vec<u8>) {
        if !self.prober.waits_for(probe) {
            self.prober.ask(&[probe], out);
            self.asked = Instant::now();
        }
    }

    /// Requests ambiguous keys as sequences, and the key position on a Latin keyboard. The Windows console drops capitals if
    /// asked for the latter.
    fn kitty_flags(&self) -> u8 {
        let windows = cfg!(windows) || self.capabilities.id == TerminalId::WindowsTerminal;
        if windows { 1 } else { 5 }
    }

    fn understands_other_keys(&self) -> bool {
        self.capabilities.id != TerminalId::Apple && self.capabilities.multiplexer != Some(Multiplexer::Screen)
    }
}

fn unpoisoned<T>(locked: Result<T, TryLockError<T>>) -> Option<T> {
    match locked {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Used only where an unlimited wait could block forever.
fn try_for<T>(long: Duration, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + long;
    loop {
        if let Some(done) = attempt() {
            return Some(done);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
