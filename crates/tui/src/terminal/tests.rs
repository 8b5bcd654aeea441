//! Tests with a real terminal device whose other end this test controls; tests that need their own process are in
//! `processes`.

mod processes;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

use nix::libc;
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};

use super::*;
use crate::input::{Key, KeyCode};

const START: &str = "\x1b[?2004h\x1b[?1004h\x1b[?u\x1b[c";
/// Longer than any step takes on a slow and busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The program's terminal, and the other end that simulates the user.
struct Rig {
    terminal: Option<Terminal>,
    hands: File,
    seen: String,
    device: OwnedFd,
}

impl Rig {
    fn open(env: &[(&str, &str)]) -> Self {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).unwrap();
        let device = pty.slave.try_clone().unwrap();
        let tty = system::Tty::new(pty.slave.try_clone().unwrap(), pty.slave).unwrap();
        let env = env.iter().copied().collect();
        let terminal = Terminal::open_on(tty, TerminalOptions { env, mouse: false }).unwrap();
        Self { terminal: Some(terminal), hands: File::from(pty.master), seen: String::new(), device }
    }

    fn xterm() -> Self {
        Self::open(&[("TERM", "xterm-256color")])
    }

    fn terminal(&mut self) -> &mut Terminal {
        self.terminal.as_mut().unwrap()
    }

    fn kind(&mut self, bytes: &str) {
        self.hands.write_all(bytes.as_bytes()).unwrap();
    }

    /// Waits for bytes on the screen and returns everything up to their end.
    fn sees(&mut self, wanted: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(wanted) {
                let rest = self.seen.split_off(at + wanted.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let mut buffer = [0; 4096];
            let count = self.hands.read(&mut buffer).unwrap();
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    }

    fn next(&mut self) -> TermEvent {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let terminal = self.terminal();
        runtime.block_on(async { tokio::time::timeout(LIMIT, terminal.next()).await.expect("nothing happened") })
    }

    /// Returns the next input event.
    fn input(&mut self) -> Input {
        loop {
            match self.next() {
                TermEvent::Input(input) => return input,
                TermEvent::Capability(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the descriptor is open, and the request reads exactly this struct.
        assert_eq!(unsafe { libc::ioctl(self.hands.as_raw_fd(), libc::TIOCSWINSZ, &size) }, 0);
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.device).unwrap().local_flags.contains(LocalFlags::ICANON)
    }
}

fn key(char: char) -> Input {
    Input::Key(Key::plain(KeyCode::Char(char)))
}

#[test]
fn the_end_mirrors_the_start() {
    let mut rig = Rig::xterm();
    assert!(rig.is_raw());
    assert!(rig.sees("\x1b[16t\x1b[c").starts_with(START));
    rig.kind("\x1b[?0u\x1b[?62c\x1b[?2031;2$y\x1b[?62c");
    assert_eq!(rig.next(), TermEvent::Capability(Capability::KittyKeyboard(true)));
    assert_eq!(rig.sees("\x1b[?2031h"), "\x1b[>5u\x1b[?2031h");
    rig.terminal().set_title("x\x07y").unwrap();
    rig.terminal = None;
    assert_eq!(
        rig.sees("\x1b[?2004l"),
        "\x1b[22;0t\x1b]0;xy\x1b\\\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[23;0t\x1b[?2031l\x1b[<u\x1b[?1004l\x1b[?2004l"
    );
    assert!(!rig.is_raw());
}

#[test]
fn without_kitty_other_keys_are_modified() {
    let mut rig = Rig::xterm();
    rig.sees("\x1b[16t\x1b[c");
    rig.kind("\x1b[?1;2c");
    rig.sees("\x1b[>4;2m");
    // The reply was only late and replaces the assumption.
    rig.kind("\x1b[?0u\x1b[?1;2c");
    assert_eq!(rig.sees("u"), "\x1b[>4;0m\x1b[>5u");
    rig.terminal = None;
    assert!(rig.sees("\x1b[?2004l").ends_with("\x1b[<u\x1b[?1004l\x1b[?2004l"));
}

#[test]
fn who_answers_nothing_is_told_nothing_more() {
    let mut rig = Rig::xterm();
    rig.kind("a");
    assert_eq!(rig.input(), key('a'));
    rig.terminal = None;
    let all = rig.sees("\x1b[?2004l");
    assert!(all.starts_with(START) && !all.contains("\x1b[>4;2m") && !all.contains("\x1b[<u"), "{all:?}");
}

#[test]
fn a_plain_terminal_is_asked_nothing() {
    let mut rig = Rig::open(&[("TERM", "linux")]);
    rig.terminal().write(b"hello").unwrap();
    assert_eq!(rig.sees("hello"), "\x1b[?2004h\x1b[?1004hhello");
}

#[test]
fn answers_in_pieces_are_no_keys() {
    let mut rig = Rig::xterm();
    let answers = "\x1b[?0u\x1b[?62c\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?2026;2$y\x1bP>|XTerm(390)\x1b\\\x1b[6;20;10t\x1b[?62;4c";
    for byte in answers.chars() {
        rig.kind(&byte.to_string());
    }
    rig.kind("z");
    assert_eq!(rig.input(), key('z'));
    let terminal = rig.terminal();
    assert_eq!(terminal.background(), Some(Rgb(255, 255, 255)));
    let found = terminal.capabilities();
    assert_eq!((found.synchronized, found.images, found.cell), (true, Some(ImageProtocol::Sixel), Some((10, 20))));
    assert!(terminal.profile().synchronized);
}

#[test]
fn a_lone_escape_comes_after_a_moment() {
    let mut rig = Rig::open(&[("TERM", "linux")]);
    rig.kind("\x1b");
    assert_eq!(rig.input(), Input::Key(Key::plain(KeyCode::Escape)));
    rig.kind("\x1b]0;never ended");
    rig.kind("\r");
    assert_eq!(rig.input(), Input::Key(Key::plain(KeyCode::Enter)));
}

#[test]
fn a_change_of_the_appearance_asks_for_the_background() {
    let mut rig = Rig::open(&[("TERM", "linux")]);
    rig.kind("\x1b[?997;2n");
    assert_eq!(rig.next(), TermEvent::Capability(Capability::Appearance { dark: false }));
    rig.sees("\x1b]11;?\x1b\\\x1b[c");
    // After a hundred more notifications it queries once, when the outstanding reply has arrived.
    rig.kind(&"\x1b[?997;1n".repeat(100));
    rig.kind("\x1b]11;rgb:00/00/00\x07\x1b[?1c\x1b[?997;1nx");
    while rig.next() != TermEvent::Input(key('x')) {}
    rig.terminal().write(b"DONE").unwrap();
    assert_eq!(rig.sees("DONE"), "\x1b]11;?\x1b\\\x1b[cDONE");
}

#[test]
fn while_it_is_paused_the_keys_belong_to_others() {
    let mut rig = Rig::open(&[("TERM", "linux")]);
    rig.terminal().pause();
    rig.sees("\x1b[?1004l\x1b[?2004l");
    assert!(!rig.is_raw());
    rig.terminal().write(b"not shown").unwrap();
    rig.kind("for the editor\n");
    let mut editor = File::from(rig.device.try_clone().unwrap());
    let mut line = [0; 15];
    editor.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"for the editor\n");
    rig.terminal().resume().unwrap();
    assert!(rig.is_raw());
    let again = rig.sees("\x1b[?2004h\x1b[?1004h");
    assert!(!again.contains("not shown"), "{again:?}");
    rig.kind("k");
    assert_eq!(rig.input(), key('k'));
}

#[test]
fn while_it_is_paused_an_interrupt_is_for_others() {
    let mut rig = Rig::open(&[("TERM", "linux")]);
    rig.terminal().pause();
    rig.resize(99, 24);
    for why in [system::wake::INT, system::wake::QUIT, system::wake::SIZE] {
        rig.terminal().shared.waker.wake_for(why);
    }
    // Events are handled in order, so the first two sizes were not reported.
    assert_eq!(rig.next(), TermEvent::Resize(Size { width: 99, height: 24 }));
    rig.terminal().resume().unwrap();
    rig.terminal().shared.waker.wake_for(system::wake::INT);
    assert_eq!(rig.next(), TermEvent::Signal(Signal::Int));
}

#[test]
fn a_new_size_is_told_once() {
    let mut rig = Rig::open(&[("TERM", "linux")]);
    assert_eq!(rig.terminal().size(), Size { width: 80, height: 24 });
    rig.resize(100, 30);
    for _ in 0..3 {
        nix::sys::signal::raise(nix::sys::signal::Signal::SIGWINCH).unwrap();
    }
    assert_eq!(rig.next(), TermEvent::Resize(Size { width: 100, height: 30 }));
    rig.kind("x");
    assert_eq!(rig.input(), key('x'));
}

#[test]
fn a_terminal_that_is_gone_is_closed() {
    let rig = Rig::open(&[("TERM", "linux")]);
    let Rig { terminal, hands, .. } = rig;
    drop(hands);
    let mut terminal = terminal.unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(terminal.next()), TermEvent::Closed);
    assert!(terminal.write(b"x").is_err());
}

#[test]
fn a_flood_of_keys_waits_in_the_terminal() {
    let mut rig = Rig::open(&[("TERM", "linux")]);
    let mut hands = rig.hands.try_clone().unwrap();
    let flood = std::thread::spawn(move || hands.write_all(&[b'x'; 200_000]).unwrap());
    let mut count = 0;
    while count < 200_000 {
        // The limit of the queue, plus the events of one read.
        assert!(rig.terminal().shared.queued() < 4096 + 16 * 1024 + 1);
        assert_eq!(rig.next(), TermEvent::Input(key('x')), "after {count}");
        count += 1;
        while rig.terminal().try_next().is_some() {
            count += 1;
        }
    }
    flood.join().unwrap();
    rig.kind("a");
    assert_eq!(rig.input(), key('a'));
}

#[test]
fn a_sequence_is_not_given_up_while_nobody_reads() {
    const KEYS: usize = 5000;
    let mut rig = Rig::open(&[("TERM", "linux")]);
    rig.kind(&("x".repeat(KEYS) + "\x1b]0;ti"));
    let start = std::time::Instant::now();
    while rig.terminal().shared.queued() < KEYS {
        assert!(start.elapsed() < LIMIT, "{} are read", rig.terminal().shared.queued());
        std::thread::yield_now();
    }
    rig.kind("tle\x07a");
    // Longer than the pause after which an unfinished sequence is abandoned.
    std::thread::sleep(Duration::from_millis(300));
    for count in 0..KEYS {
        assert_eq!(rig.next(), TermEvent::Input(key('x')), "after {count}");
    }
    assert_eq!(rig.input(), key('a'));
}

#[test]
fn what_is_no_terminal_is_refused() {
    let file = tempfile::tempfile().unwrap();
    let error = system::Tty::new(file.try_clone().unwrap().into(), file.into()).err().unwrap();
    assert!(error.to_string().starts_with("the input is not a terminal"), "{error}");
}
