//! Runs omp in a pty and records when each byte arrives.

use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::scene::{OPENED, Scene};

const LIMIT: Duration = Duration::from_secs(60);
/// Shown once the session is open.
const READY: &str = "mock-model";
/// Queries that the terminal answers, as one with the Kitty keyboard protocol does.
const ANSWERS: [(&[u8], &[u8]); 2] = [(b"\x1b[?u", b"\x1b[?0u"), (b"\x1b[c", b"\x1b[?62;22c")];

/// With color, and without a request for a title, which would use up a turn of the script.
const TERMINAL: [(&str, &str); 4] =
    [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LANG", "C.UTF-8"), ("PI_NO_TITLE", "1")];

type Keys = Arc<Mutex<Box<dyn Write + Send>>>;
type Glass = Arc<(Mutex<Shown>, Condvar)>;

pub struct Seat {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keys: Keys,
    glass: Glass,
}

#[derive(Default)]
struct Shown {
    raw: Vec<u8>,
    /// The number of bytes received by each time.
    arrivals: Vec<(usize, Instant)>,
}

impl Seat {
    /// Resumes the long session. Returns the time until its end and the prompt were shown.
    pub fn resume(scene: &Scene) -> (Self, Duration) {
        let mut command = CommandBuilder::new(&scene.omp);
        command.args(scene.workspace.args(&["--resume", &scene.session.to_string_lossy()]));
        command.env_clear();
        for (name, value) in scene.workspace.env() {
            command.env(name, value);
        }
        command.env_remove("NO_COLOR");
        for (name, value) in TERMINAL {
            command.env(name, value);
        }
        command.cwd(scene.workspace.project());
        let pair = native_pty_system().openpty(size(120, 40)).unwrap();
        let keys: Keys = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let glass = Glass::default();
        watch(pair.master.try_clone_reader().unwrap(), glass.clone(), keys.clone());
        let start = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        let seat = Self { child, master: pair.master, keys, glass };
        let opened = seat.until(0, OPENED).max(seat.until(0, READY));
        (seat, opened.duration_since(start))
    }

    pub fn keys(&self, keys: &[u8]) {
        self.keys.lock().unwrap().write_all(keys).unwrap();
    }

    pub fn resize(&self, cols: u16, rows: u16) {
        self.master.resize(size(cols, rows)).unwrap();
    }

    /// Returns how many bytes were shown so far.
    pub fn shown(&self) -> usize {
        self.glass.0.lock().unwrap().raw.len()
    }

    /// Waits for a text after so many bytes and returns when it arrived.
    pub fn until(&self, from: usize, needle: &str) -> Instant {
        let start = Instant::now();
        let (shown, changed) = &*self.glass;
        let mut shown = shown.lock().unwrap();
        let mut looked = from;
        loop {
            if let Some(at) = find(&shown.raw[looked..], needle.as_bytes()) {
                return shown.arrival(looked + at + needle.len());
            }
            // A text may arrive in two chunks.
            looked = shown.raw.len().saturating_sub(needle.len()).max(from);
            let end = String::from_utf8_lossy(&shown.raw[shown.raw.len().saturating_sub(2000)..]);
            assert!(start.elapsed() < LIMIT, "waited in vain for {needle}: {end:?}");
            shown = changed.wait_timeout(shown, Duration::from_secs(1)).unwrap().0;
        }
    }

    /// Waits until nothing has arrived for a while; returns when the last byte came.
    pub fn settled(&self, quiet: Duration) -> Instant {
        let (shown, changed) = &*self.glass;
        let mut shown = shown.lock().unwrap();
        loop {
            let before = shown.raw.len();
            shown = changed.wait_timeout_while(shown, quiet, |shown| shown.raw.len() == before).unwrap().0;
            if shown.raw.len() == before {
                return shown.arrival(before);
            }
        }
    }

    pub fn rows_since(&self, from: usize) -> usize {
        self.glass.0.lock().unwrap().raw[from..].iter().filter(|byte| **byte == b'\n').count()
    }

    pub fn peak_memory_kb(&self) -> u64 {
        let status = self.proc("status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Returns the larger of two counts: living threads in nanoseconds, or all threads ever started in steps of ten
    /// milliseconds.
    pub fn cpu(&self) -> Duration {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        let of_task = |task: std::io::Result<std::fs::DirEntry>| -> Option<u64> {
            let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse().ok()
        };
        let living = Duration::from_nanos(tasks.filter_map(of_task).sum());
        let stat = self.proc("stat");
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
        living.max(Duration::from_millis(ticks * 10))
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.pid())).unwrap()
    }

    fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shown {
    /// Returns when so many bytes had arrived.
    fn arrival(&self, count: usize) -> Instant {
        let first = self.arrivals.partition_point(|(there, _)| *there < count);
        self.arrivals[first].1
    }
}

fn watch(mut reader: Box<dyn Read + Send>, glass: Glass, keys: Keys) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            // Reading from a pty whose other side is closed returns an error.
            let count = reader.read(&mut buffer).unwrap_or(0);
            let now = Instant::now();
            if count == 0 {
                return;
            }
            let (shown, changed) = &*glass;
            let mut shown = shown.lock().unwrap();
            shown.raw.extend_from_slice(&buffer[..count]);
            let there = shown.raw.len();
            shown.arrivals.push((there, now));
            drop(shown);
            changed.notify_all();
            for (question, answer) in ANSWERS {
                if find(&buffer[..count], question).is_some() {
                    let _ = keys.lock().unwrap().write_all(answer);
                }
            }
        }
    });
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|part| part == needle)
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}
