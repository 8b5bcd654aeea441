//! Tests signals, a panic and a suspension in separate processes at a real terminal.
//!
//! The process is this test binary again; a variable selects what it does.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::sys::signal::{Signal as UnixSignal, kill};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::LIMIT;
use crate::input::{Input, Key, KeyCode};
use crate::terminal::{Signal, TermEvent, Terminal, TerminalOptions};

const PLAY: &str = "OMP_TUI_TEST_PLAY";
const ANSWERS: &str = "\x1b[?0u\x1b[?62c\x1b[?62c";
const AFTER: &str = "\x1b[<u\x1b[?1004l\x1b[?2004l";

/// Not a test by itself: the code of the other process.
#[test]
#[allow(clippy::disallowed_methods, reason = "the tests tell the process that they start what to do")]
fn play() {
    let Ok(role) = std::env::var(PLAY) else { return };
    let env = [("TERM", "xterm-256color")].into_iter().collect();
    let mut terminal = Terminal::open(TerminalOptions { env, mouse: false }).unwrap();
    terminal.write(b"READY").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    loop {
        match (runtime.block_on(terminal.next()), role.as_str()) {
            (TermEvent::Input(Input::Key(Key { code: KeyCode::Char('q'), .. })), _) => break,
            (TermEvent::Input(Input::Key(Key { code: KeyCode::Char('p'), .. })), _) => panic!("boom"),
            (TermEvent::Input(Input::Key(Key { code: KeyCode::Char('t'), .. })), _) => {
                assert!(std::thread::spawn(|| panic!("elsewhere")).join().is_err());
                terminal.write(b"GOES ON").unwrap();
            }
            (TermEvent::Input(Input::Key(Key { code: KeyCode::Char('z'), .. })), _) => terminal.suspend(),
            (TermEvent::Input(Input::Key(Key { code: KeyCode::Char('k'), .. })), _) => terminal.write(b"KEY").unwrap(),
            (TermEvent::Input(Input::Key(Key { code: KeyCode::Char('f'), .. })), _) => {
                terminal.write(&vec![b'x'; 1 << 20]).unwrap();
            }
            (TermEvent::Signal(Signal::Cont), _) => terminal.write(b"AGAIN").unwrap(),
            (TermEvent::Signal(Signal::Stop), _) => terminal.write(b"STOPPING").unwrap(),
            (TermEvent::Signal(Signal::Term), "deaf") => {}
            (TermEvent::Signal(_) | TermEvent::Closed, "deaf") => {
                std::thread::sleep(Duration::from_secs(60));
            }
            (TermEvent::Signal(_) | TermEvent::Closed, _) => break,
            _ => {}
        }
    }
    drop(terminal);
}

/// Starts the process alone at the terminal, or below a shell with job control.
fn spawn(role: &str, shell: Option<&str>) -> (Box<dyn Child + Send + Sync>, Box<dyn MasterPty + Send>) {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let exe = std::env::current_exe().unwrap();
    let mut command = match shell {
        Some(script) => {
            let mut command = CommandBuilder::new("sh");
            command.args(["-c", script]);
            command.arg(&exe);
            command
        }
        None => CommandBuilder::new(&exe),
    };
    command.args(["terminal::tests::processes::play", "--exact", "--nocapture"]);
    command.env(PLAY, role);
    command.env("RUST_BACKTRACE", "0");
    (pair.slave.spawn_command(command).unwrap(), pair.master)
}

struct Process {
    child: Box<dyn Child + Send + Sync>,
    _terminal: Box<dyn MasterPty + Send>,
    hands: Box<dyn Write + Send>,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Process {
    fn start(role: &str, shell: Option<&str>) -> Self {
        let (child, terminal) = spawn(role, shell);
        let mut output = terminal.try_clone_reader().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let hands = terminal.take_writer().unwrap();
        Self { child, _terminal: terminal, hands, screen, seen: String::new() }
    }

    /// Starts the process and waits for it, with the Kitty protocol on.
    fn ready(role: &str, shell: Option<&str>) -> Self {
        let mut process = Self::start(role, shell);
        process.sees("READY");
        process.kind(ANSWERS);
        process.sees("\x1b[>5u");
        process
    }

    fn kind(&mut self, bytes: &str) {
        self.hands.write_all(bytes.as_bytes()).unwrap();
        self.hands.flush().unwrap();
    }

    fn signal(&self, signal: UnixSignal) {
        let id = self.child.process_id().unwrap();
        kill(Pid::from_raw(id.cast_signed()), signal).unwrap();
    }

    /// Waits for bytes and returns everything up to their end.
    fn sees(&mut self, wanted: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(wanted) {
                let rest = self.seen.split_off(at + wanted.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let bytes = self.screen.recv_timeout(LIMIT);
            let bytes = bytes.unwrap_or_else(|_| panic!("{wanted:?} did not come, only {:?}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    /// Returns all output until the process has ended.
    fn rest(mut self) -> String {
        self.child.wait().unwrap();
        while let Ok(bytes) = self.screen.recv_timeout(LIMIT) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        self.seen
    }
}

#[test]
fn an_ordinary_end_restores_the_terminal() {
    let mut process = Process::ready("", None);
    process.kind("q");
    let rest = process.rest();
    assert!(rest.contains(AFTER), "{rest:?}");
}

#[test]
fn a_panic_restores_the_terminal_before_its_message() {
    let mut process = Process::ready("", None);
    process.kind("p");
    let rest = process.rest();
    let (restored, message) = (rest.find(AFTER).unwrap(), rest.find("boom").unwrap());
    assert!(restored < message, "{rest:?}");
    assert_eq!(rest.matches("\x1b[<u").count(), 1, "{rest:?}");
    // The message is printed after line-break translation is restored.
    assert!(rest[message..].contains("\r\n"), "{rest:?}");
}

#[test]
fn a_panic_of_somebody_else_is_neither_shown_nor_the_end() {
    let mut process = Process::ready("", None);
    process.kind("t");
    let before = process.sees("GOES ON");
    process.kind("q");
    let rest = process.rest();
    assert!(!before.contains("elsewhere") && !before.contains(AFTER), "{before:?}");
    assert_eq!(rest.matches(AFTER).count(), 1, "{rest:?}");
}

#[test]
fn signals_that_end_restore_the_terminal() {
    for signal in [UnixSignal::SIGTERM, UnixSignal::SIGHUP, UnixSignal::SIGINT, UnixSignal::SIGQUIT] {
        let process = Process::ready("", None);
        process.signal(signal);
        let rest = process.rest();
        assert_eq!(rest.matches(AFTER).count(), 1, "{signal}: {rest:?}");
    }
}

#[test]
fn a_signal_in_the_middle_of_a_paste_restores_the_terminal() {
    let mut process = Process::ready("", None);
    process.kind("\x1b[200~half of a pas");
    process.signal(UnixSignal::SIGTERM);
    let rest = process.rest();
    assert_eq!(rest.matches(AFTER).count(), 1, "{rest:?}");
}

#[test]
fn who_does_not_listen_is_restored_all_the_same() {
    let mut process = Process::ready("deaf", None);
    process.signal(UnixSignal::SIGTERM);
    process.sees(AFTER);
    // The second signal kills.
    process.signal(UnixSignal::SIGTERM);
    let rest = process.rest();
    assert!(!rest.contains("\x1b[>5u"), "{rest:?}");
}

#[test]
fn a_terminal_that_hangs_up_ends_the_program() {
    let (mut child, terminal) = spawn("", None);
    let mut screen = terminal.try_clone_reader().unwrap();
    read_until(&mut screen, "READY");
    drop((terminal, screen));
    assert!(child.wait().is_ok());
}

#[test]
fn a_terminal_that_takes_nothing_cannot_keep_the_program() {
    let (mut child, terminal) = spawn("", None);
    let mut screen = terminal.try_clone_reader().unwrap();
    read_until(&mut screen, "READY");
    let mut hands = terminal.take_writer().unwrap();
    hands.write_all(b"f").unwrap();
    read_until(&mut screen, "xxxx");
    // The output is no longer read. The first signal asks the process to end, a later one kills it.
    let id = child.process_id().unwrap();
    let start = std::time::Instant::now();
    while start.elapsed() < LIMIT {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        let _ = kill(Pid::from_raw(id.cast_signed()), UnixSignal::SIGTERM);
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it still runs");
}

fn read_until(screen: &mut dyn Read, wanted: &str) {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(wanted) {
        let mut buffer = [0; 64];
        let count = screen.read(&mut buffer).unwrap();
        seen.extend_from_slice(&buffer[..count]);
    }
}

#[test]
fn ctrl_z_stops_the_job_and_it_goes_on() {
    let mut process = Process::ready("", Some("set -m; \"$0\" \"$@\"; echo STOPPED; fg >/dev/null; echo BACK"));
    process.kind("z");
    let stopped = process.sees("STOPPED");
    assert!(stopped.contains(AFTER), "{stopped:?}");
    let again = process.sees("AGAIN");
    assert!(again.contains("\x1b[?2004h\x1b[?1004h\x1b[>5u"), "{again:?}");
    process.kind("k");
    process.sees("KEY");
    process.kind("q");
    let rest = process.rest();
    assert!(rest.contains(AFTER) && rest.contains("BACK"), "{rest:?}");
}

#[test]
fn a_stopped_job_can_be_ended_in_the_background() {
    let script = "set -m; \"$0\" \"$@\"; echo STOPPED; kill -TERM %1; bg >/dev/null; wait; echo GONE";
    let mut process = Process::ready("", Some(script));
    process.kind("z");
    process.sees("STOPPED");
    let rest = process.sees("GONE");
    assert!(rest.contains("1 passed"), "it was stopped again: {rest:?}");
    // The shell has the terminal: no mode is enabled, or disabled a second time.
    assert!(!rest.contains("\x1b[>5u") && !rest.contains("\x1b[<u"), "{rest:?}");
}

#[test]
fn without_a_shell_it_goes_on_by_itself() {
    let mut process = Process::ready("", None);
    process.kind("z");
    let again = process.sees("AGAIN");
    assert!(again.contains(AFTER) && again.contains("\x1b[>5u"), "{again:?}");
    process.kind("kq");
    assert!(process.rest().contains("KEY"));
}

#[test]
fn a_stop_from_elsewhere_leaves_the_terminal_as_well() {
    let mut process = Process::ready("", None);
    process.signal(UnixSignal::SIGTSTP);
    let stopping = process.sees("\x1b[?2004l");
    assert!(stopping.contains("STOPPING") && stopping.ends_with(AFTER), "{stopping:?}");
    process.sees("\x1b[>5u");
    process.kind("q");
    assert!(process.rest().contains(AFTER));
}

#[test]
fn a_stop_that_cannot_be_caught_leaves_nothing_pushed_twice() {
    let mut process = Process::ready("", None);
    process.signal(UnixSignal::SIGSTOP);
    process.signal(UnixSignal::SIGCONT);
    let again = process.sees("AGAIN");
    assert_eq!((again.matches("\x1b[<u").count(), again.matches("\x1b[>5u").count()), (1, 1), "{again:?}");
    process.kind("q");
    assert_eq!(process.rest().matches("\x1b[<u").count(), 1);
}
