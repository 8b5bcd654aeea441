//! The Windows console as a VT terminal: converts records of its input queue to the bytes that Unix reads.

use std::ffi::c_void;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::TermEvent;
use super::shared::{SharedTerminal, TerminalPhase};
use crate::input::InputDecoder;
use crate::screen::Size;

type Handle = *mut c_void;

const STD_INPUT: u32 = -10i32 as u32;
const INVALID: Handle = usize::MAX as Handle;
const INFINITE: u32 = u32::MAX;
const FAILED: u32 = u32::MAX;
const PROCESSED: u32 = 0x1;
const LINES: u32 = 0x2;
const ECHO: u32 = 0x4;
const WINDOW_EVENTS: u32 = 0x8;
const VT_INPUT: u32 = 0x200;
const KEY_EVENT: u16 = 0x1;
const SIZE_EVENT: u16 = 0x4;
/// Alt; its release delivers a character typed by its number.
const VK_MENU: u16 = 0x12;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct InputRecord {
    kind: u16,
    key_down: i32,
    repeat: u16,
    virtual_key: u16,
    _scan_code: u16,
    unit: u16,
    _state: u32,
}

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetStdHandle(which: u32) -> Handle;
    fn GetConsoleMode(console: Handle, mode: *mut u32) -> i32;
    fn SetConsoleMode(console: Handle, mode: u32) -> i32;
    fn ReadConsoleInputW(console: Handle, records: *mut InputRecord, most: u32, count: *mut u32) -> i32;
    fn CreateEventW(security: *const c_void, manual: i32, set: i32, name: *const u16) -> Handle;
    fn SetEvent(event: Handle) -> i32;
    fn CloseHandle(handle: Handle) -> i32;
    fn WaitForMultipleObjects(count: u32, handles: *const Handle, all: i32, milliseconds: u32) -> u32;
}

pub struct Tty {
    input: Handle,
    found: u32,
}

// SAFETY: console handles may be used from any thread.
unsafe impl Send for Tty {}
// SAFETY: as above.
unsafe impl Sync for Tty {}

impl Tty {
    pub const HAS_JOBS: bool = false;

    pub fn of_the_process() -> io::Result<Self> {
        let mut found = 0;
        // SAFETY: the only pointer is to a local variable.
        let (input, known) = unsafe {
            let input = GetStdHandle(STD_INPUT);
            (input, GetConsoleMode(input, &mut found))
        };
        if input == INVALID || known == 0 || !crossterm::ansi_support::supports_ansi() {
            let text = "the console does not support escape sequences\nhint: use `omp -p` for pipes and scripts";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        Ok(Self { input, found })
    }

    pub fn make_raw(&self) -> io::Result<()> {
        self.set((self.found & !(PROCESSED | LINES | ECHO)) | WINDOW_EVENTS | VT_INPUT)
    }

    /// No shell uses the console in between.
    pub fn look_again(&self) {}

    pub fn restore(&self) -> io::Result<()> {
        self.set(self.found)
    }

    fn set(&self, mode: u32) -> io::Result<()> {
        // SAFETY: the handle belongs to the process for its whole life.
        if unsafe { SetConsoleMode(self.input, mode) } == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Reads the waiting records; there must be at least one.
    fn records(&self, records: &mut [InputRecord]) -> io::Result<usize> {
        let mut count = 0;
        // SAFETY: the system writes no more records than the buffer holds.
        let read = unsafe { ReadConsoleInputW(self.input, records.as_mut_ptr(), records.len() as u32, &mut count) };
        if read == 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
    }

    pub fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut output = io::stdout().lock();
        output.write_all(bytes)?;
        output.flush()
    }

    pub fn takes_bytes(&self) -> bool {
        true
    }

    pub fn size(&self) -> Option<Size> {
        window_size()
    }

    pub fn is_ours(&self) -> bool {
        true
    }

    pub fn stop_the_job(&self) {}
}

/// Returns the size of the console window, without opening it.
pub fn window_size() -> Option<Size> {
    let (width, height) = crossterm::terminal::size().ok()?;
    (width > 0 && height > 0).then(|| Size { width: usize::from(width), height: usize::from(height) })
}

/// Wakes the reader.
#[derive(Clone)]
pub struct Waker(Arc<ConsoleEvent>);

/// The receiving end of a [`Waker`].
pub struct Wake(Arc<ConsoleEvent>);

struct ConsoleEvent {
    handle: Handle,
    stop: AtomicBool,
}

// SAFETY: an event may be set and awaited from any thread.
unsafe impl Send for ConsoleEvent {}
// SAFETY: as above.
unsafe impl Sync for ConsoleEvent {}

impl Drop for ConsoleEvent {
    fn drop(&mut self) {
        // SAFETY: the handle is closed once, by its only owner.
        unsafe { CloseHandle(self.handle) };
    }
}

pub fn waker() -> io::Result<(Waker, Wake)> {
    // SAFETY: neither a name nor security attributes are passed.
    let handle = unsafe { CreateEventW(std::ptr::null(), 0, 0, std::ptr::null()) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    let event = Arc::new(ConsoleEvent { handle, stop: AtomicBool::new(false) });
    Ok((Waker(Arc::clone(&event)), Wake(event)))
}

impl Waker {
    pub fn wake(&self) {
        // SAFETY: the handle is open as long as this value exists.
        unsafe { SetEvent(self.0.handle) };
    }

    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::SeqCst);
        self.wake();
    }
}

/// Windows has no signals.
pub struct Signals;

impl Signals {
    pub fn listen(_shared: &SharedTerminal) -> io::Result<Self> {
        Ok(Self)
    }

    pub fn forget(&mut self) {}
}

/// Runs until the terminal is dropped.
pub fn read(shared: &SharedTerminal, wake: &Wake) {
    let mut decoder = InputDecoder::default();
    let mut surrogate = None;
    while !wake.0.stop.load(Ordering::SeqCst) {
        decoder.expect_replies(shared.expects_answers_until());
        let reads = shared.phase() == TerminalPhase::Active && shared.has_room();
        let handles = [wake.0.handle, shared.tty.input];
        let wait = decoder.pending_deadline().map_or(INFINITE, |deadline| {
            u32::try_from(deadline.saturating_duration_since(Instant::now()).as_millis() + 1).unwrap_or(INFINITE)
        });
        // SAFETY: both handles are open, and the count is right.
        let ready = unsafe { WaitForMultipleObjects(1 + u32::from(reads), handles.as_ptr(), 0, wait) };
        let mut decoded = Vec::new();
        match ready {
            1 => match shared.while_active(|| pending_bytes(shared, &mut surrogate)) {
                Some(Ok((bytes, resized))) => {
                    decoder.feed(&bytes, Instant::now(), &mut decoded);
                    if resized {
                        // Called outside `while_active`, so that no lock is held.
                        shared.take(std::mem::take(&mut decoded));
                        shared.size_signalled();
                    }
                }
                Some(Err(_)) => return shared.send(TermEvent::Closed),
                None => {}
            },
            FAILED => return shared.send(TermEvent::Closed),
            _ => decoder.expire(Instant::now(), &mut decoded),
        }
        shared.take(decoded);
        if shared.phase() != TerminalPhase::Active {
            decoder = InputDecoder::default();
        }
    }
}

/// Returns the bytes typed by the records, and whether the window size changed.
fn pending_bytes(shared: &SharedTerminal, surrogate: &mut Option<u16>) -> io::Result<(Vec<u8>, bool)> {
    let mut records = [InputRecord::default(); 128];
    let count = shared.tty.records(&mut records)?;
    let records = &records[..count];
    let types = |record: &&InputRecord| {
        let typed = record.key_down != 0 || record.virtual_key == VK_MENU;
        record.kind == KEY_EVENT && record.unit != 0 && typed
    };
    let repeated =
        records.iter().filter(types).flat_map(|one| std::iter::repeat_n(one.unit, usize::from(one.repeat.max(1))));
    let units: Vec<u16> = surrogate.take().into_iter().chain(repeated).collect();
    let whole = match units.last() {
        Some(last @ 0xd800..=0xdbff) => {
            *surrogate = Some(*last);
            &units[..units.len() - 1]
        }
        _ => &units[..],
    };
    let resized = records.iter().any(|record| record.kind == SIZE_EVENT);
    Ok((String::from_utf16_lossy(whole).into_bytes(), resized))
}
