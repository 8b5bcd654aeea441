//! A terminal with the binary: typed keys, a screen with its scrollback, and every byte that was shown.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::harness::Scene;

/// Longer than any test takes on a slow and busy machine.
const LIMIT: Duration = Duration::from_secs(60);
const SCROLLBACK: usize = 5000;

/// Shown only while something runs.
pub const RUNS: &str = "to interrupt";
/// Shown once the session is open.
pub const READY: &str = "%/200k";

/// Queries that the terminal answers, as one with the Kitty keyboard protocol does.
const ANSWERS: [(&[u8], &[u8]); 2] = [(b"\x1b[?u", b"\x1b[?0u"), (b"\x1b[c", b"\x1b[?62;22c")];

pub struct Seat {
    child: Box<dyn Child + Send + Sync>,
    glass: Arc<(Mutex<Glass>, Condvar)>,
    looks_away: Arc<AtomicBool>,
    /// `None` once it is closed.
    window: Option<Window>,
}

struct Window {
    keys: Sender<Vec<u8>>,
    master: Box<dyn MasterPty + Send>,
}

/// The visible state of the terminal.
pub struct Glass {
    parser: vt100::Parser,
    pub raw: Vec<u8>,
    /// Queries up to this position are answered.
    answered: usize,
    ended: bool,
}

impl Seat {
    /// Starts omp without a shell.
    pub fn omp(scene: &Scene, args: &[&str]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_omp"));
        command.args(scene.workspace.args(args));
        Self::of(scene, command, (80, 24))
    }

    /// Starts omp and waits until it is ready.
    #[track_caller]
    pub fn ready(scene: &Scene, args: &[&str]) -> Self {
        let seat = Self::omp(scene, args);
        seat.until(READY);
        seat
    }

    /// Starts a shell and waits for its prompt; `$OMP` is the binary.
    #[track_caller]
    pub fn shell(scene: &Scene) -> Self {
        Self::shell_of(scene, &["bash", "--norc", "--noprofile", "-i"])
    }

    #[track_caller]
    pub fn shell_of(scene: &Scene, words: &[&str]) -> Self {
        let mut command = CommandBuilder::new(words[0]);
        command.args(&words[1..]);
        let seat = Self::of(scene, command, (80, 24));
        seat.until("shell$ ");
        seat
    }

    pub fn of(scene: &Scene, mut command: CommandBuilder, (cols, rows): (u16, u16)) -> Self {
        command.env_clear();
        for (name, value) in environment(scene) {
            command.env(name, value);
        }
        command.cwd(scene.workspace.project());
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(cells(rows), cells(cols), SCROLLBACK);
        let glass = Glass { parser, raw: Vec::new(), answered: 0, ended: false };
        let glass = Arc::new((Mutex::new(glass), Condvar::new()));
        let looks_away = Arc::new(AtomicBool::new(false));
        let keys = type_with(pair.master.take_writer().unwrap());
        let reader = pair.master.try_clone_reader().unwrap();
        watch(reader, glass.clone(), keys.clone(), looks_away.clone());
        Self { child, glass, looks_away, window: Some(Window { keys, master: pair.master }) }
    }

    pub fn keys(&self, keys: impl AsRef<[u8]>) {
        self.window.as_ref().unwrap().keys.send(keys.as_ref().to_vec()).unwrap();
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub fn until(&self, needle: &str) {
        self.wait(needle, |glass| glass.text().contains(needle));
    }

    /// Waits for a text after so many bytes.
    #[track_caller]
    pub fn until_after(&self, before: usize, needle: &str) {
        self.wait(needle, |glass| String::from_utf8_lossy(&glass.raw[before..]).contains(needle));
    }

    #[track_caller]
    pub fn until_gone(&self, needle: &str) {
        self.wait(needle, |glass| !glass.text().contains(needle));
    }

    /// Sends a line and waits for the answer, and until nothing runs any more.
    #[track_caller]
    pub fn says(&self, line: &str, answer: &str) {
        self.keys(format!("{line}\r"));
        self.until(answer);
        self.until_gone(RUNS);
    }

    #[track_caller]
    pub fn wait(&self, what: &str, mut wanted: impl FnMut(&mut Glass) -> bool) {
        let start = Instant::now();
        let (glass, changed) = &*self.glass;
        let mut glass = glass.lock().unwrap();
        while !wanted(&mut glass) {
            let left = LIMIT.saturating_sub(start.elapsed());
            assert!(!left.is_zero() && !glass.ended, "waited in vain for {what:?}:\n{}", glass.all());
            glass = changed.wait_timeout(glass, left).unwrap().0;
        }
    }

    /// Waits until nothing was shown for this time.
    #[track_caller]
    pub fn until_quiet(&self, quiet: Duration) {
        let start = Instant::now();
        let (glass, changed) = &*self.glass;
        let mut glass = glass.lock().unwrap();
        loop {
            let before = glass.raw.len();
            let (now, _) = changed.wait_timeout_while(glass, quiet, |glass| glass.raw.len() == before).unwrap();
            glass = now;
            if glass.raw.len() == before {
                return;
            }
            assert!(start.elapsed() < LIMIT, "it never rests:\n{}", glass.text());
        }
    }

    pub fn text(&self) -> String {
        self.look(Glass::text)
    }

    /// Returns the rows of the scrollback and of the screen.
    pub fn all(&self) -> String {
        self.look(|glass| glass.all())
    }

    /// Returns how many bytes were shown so far.
    pub fn shown(&self) -> usize {
        self.look(|glass| glass.raw.len())
    }

    pub fn look<T>(&self, with: impl FnOnce(&mut Glass) -> T) -> T {
        with(&mut self.glass.0.lock().unwrap())
    }

    pub fn resize(&self, cols: u16, rows: u16) {
        self.look(|glass| glass.parser.screen_mut().set_size(cells(rows), cells(cols)));
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.window.as_ref().unwrap().master.resize(size).unwrap();
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.process_id().unwrap()).unwrap())
    }

    pub fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(self.pid(), signal).unwrap();
    }

    /// Waits for the end and returns its exit code.
    #[track_caller]
    pub fn end(&mut self) -> u32 {
        let start = Instant::now();
        let (glass, changed) = &*self.glass;
        let mut glass = glass.lock().unwrap();
        while !glass.ended {
            let left = LIMIT.saturating_sub(start.elapsed());
            assert!(!left.is_zero(), "it does not end:\n{}", glass.text());
            glass = changed.wait_timeout(glass, left).unwrap().0;
        }
        drop(glass);
        self.child.wait().unwrap().exit_code()
    }

    /// Exits with ctrl+d and checks that every terminal mode is restored.
    #[track_caller]
    pub fn leaves(mut self) {
        // The key leaves only when nothing runs, so it is pressed again if it came too early.
        let start = Instant::now();
        while !self.has_ended_after("\x04") {
            assert!(start.elapsed() < LIMIT, "it does not leave:\n{}", self.text());
        }
        assert_eq!(self.end(), 0, "{}", self.text());
        self.is_sane();
    }

    /// Presses a key and waits a moment for the program to end.
    fn has_ended_after(&self, key: &str) -> bool {
        self.keys(key);
        let (glass, changed) = &*self.glass;
        let glass = glass.lock().unwrap();
        changed.wait_timeout_while(glass, Duration::from_secs(1), |glass| !glass.ended).unwrap().0.ended
    }

    /// Closes the terminal. Returns the exit code.
    #[track_caller]
    pub fn hangs_up(&mut self) -> u32 {
        self.looks_away.store(true, Ordering::SeqCst);
        // Sends a key, so that the reader thread wakes up once more and ends.
        self.keys("x");
        let (glass, changed) = &*self.glass;
        let gone = changed.wait_timeout_while(glass.lock().unwrap(), LIMIT, |glass| !glass.ended).unwrap();
        assert!(gone.0.ended, "the watcher stays");
        drop(gone);
        self.window = None;
        self.child.wait().unwrap().exit_code()
    }

    /// Checks that every mode that was switched on is off again, equally often.
    #[track_caller]
    pub fn is_sane(&self) {
        let raw = self.look(|glass| String::from_utf8_lossy(&glass.raw).into_owned());
        let pushed = raw
            .split("\x1b[>")
            .skip(1)
            .filter(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('u'))
            .count();
        assert_eq!((pushed, "kitty"), (raw.matches("\x1b[<u").count(), "kitty"));
        for mode in ["?2004", "?1004", "?1002", "?1003", "?1006", "?2031", "?2048", "?1049"] {
            let (on, off) =
                (raw.matches(&format!("\x1b[{mode}h")).count(), raw.matches(&format!("\x1b[{mode}l")).count());
            assert_eq!((mode, on), (mode, off));
        }
        let last = |mode: &str| raw.rfind(mode).map_or(0, |at| at + 1);
        assert!(last("\x1b[>4;0m") >= last("\x1b[>4;2m"), "modifyOtherKeys is still on");
        assert!(last("\x1b[?25h") >= last("\x1b[?25l"), "the cursor is hidden");
        assert!(last("\x1b[?7h") >= last("\x1b[?7l"), "nothing wraps");
        assert!(last("\x1b[?2026l") >= last("\x1b[?2026h"), "the picture is frozen");
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Most have ended already.
        let _ = self.child.kill();
    }
}

impl Glass {
    pub fn text(&mut self) -> String {
        self.parser.screen().contents()
    }

    /// Returns the foreground and the background where a text begins on the screen.
    #[track_caller]
    pub fn colors_of(&mut self, text: &str) -> (vt100::Color, vt100::Color) {
        let screen = self.parser.screen();
        let rows: Vec<String> = screen.rows(0, screen.size().1.get()).collect();
        let found = rows.iter().enumerate().rev().find_map(|(at, row)| Some((at, row.split_once(text)?.0)));
        let (row, before) = found.unwrap_or_else(|| panic!("{text:?} is not shown:\n{}", screen.contents()));
        let cell = screen.cell(row as u16, before.chars().count() as u16).unwrap();
        (cell.fgcolor(), cell.bgcolor())
    }

    /// Returns the rows above the screen, oldest first.
    pub fn scrollback(&mut self) -> Vec<String> {
        let screen = self.parser.screen_mut();
        let (_, cols) = screen.size();
        screen.set_scrollback(usize::MAX);
        let above = screen.scrollback();
        let mut rows = Vec::with_capacity(above);
        for back in (1..=above).rev() {
            screen.set_scrollback(back);
            rows.extend(screen.rows(0, cols.get()).next());
        }
        screen.set_scrollback(0);
        rows
    }

    pub fn all(&mut self) -> String {
        let mut rows = self.scrollback();
        rows.push(self.text());
        rows.join("\n")
    }

    /// Returns the answers to new queries.
    fn answers(&mut self) -> Vec<u8> {
        let mut answers = Vec::new();
        while self.answered < self.raw.len() {
            let rest = &self.raw[self.answered..];
            match ANSWERS.iter().find(|(question, _)| rest.starts_with(question)) {
                Some((question, answer)) => {
                    answers.extend_from_slice(answer);
                    self.answered += question.len();
                }
                // A query may be split between two reads.
                None if rest.len() < 4 && rest.starts_with(b"\x1b") => break,
                None => self.answered += 1,
            }
        }
        answers
    }
}

/// Returns the whole environment of a program at a terminal.
pub fn environment(scene: &Scene) -> Vec<(String, String)> {
    let mut all: Vec<_> = scene.workspace.env().into_iter().collect();
    let more = [
        ("TERM", "xterm-256color"),
        ("LANG", "C.UTF-8"),
        ("PI_NO_TITLE", "1"),
        ("PS1", "shell$ "),
        ("OMP", env!("CARGO_BIN_EXE_omp")),
        ("OLLAMA_BASE_URL", "http://127.0.0.1:9"),
        ("LLAMA_CPP_BASE_URL", "http://127.0.0.1:9"),
        ("LM_STUDIO_BASE_URL", "http://127.0.0.1:9"),
    ];
    all.extend(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
    all
}

/// Runs a scene on a thread that may block.
pub async fn at_a_seat<T>(work: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(work)
}

/// Keys are written by a thread, because a program that does not read must not block the test.
fn type_with(mut writer: Box<dyn Write + Send>) -> Sender<Vec<u8>> {
    let (keys, typed) = channel::<Vec<u8>>();
    std::thread::spawn(move || {
        while let Ok(bytes) = typed.recv() {
            if writer.write_all(&bytes).and_then(|()| writer.flush()).is_err() {
                return;
            }
        }
    });
    keys
}

fn watch(
    mut reader: Box<dyn Read + Send>,
    glass: Arc<(Mutex<Glass>, Condvar)>,
    keys: Sender<Vec<u8>>,
    looks_away: Arc<AtomicBool>,
) {
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        loop {
            // Reading from a pty whose other side is closed returns an error.
            let count = reader.read(&mut buffer).unwrap_or(0);
            let away = looks_away.load(Ordering::SeqCst);
            let mut seen = glass.0.lock().unwrap();
            seen.raw.extend_from_slice(&buffer[..count]);
            seen.parser.process(&buffer[..count]);
            let answers = seen.answers();
            seen.ended = count == 0 || away;
            if seen.ended {
                drop((reader, keys));
                glass.1.notify_all();
                return;
            }
            drop(seen);
            glass.1.notify_all();
            if !answers.is_empty() && keys.send(answers).is_err() {
                return;
            }
        }
    });
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}
