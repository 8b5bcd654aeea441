//! A million random bytes into the terminal of the binary: keys, partial sequences, pastes, invalid UTF-8.
//!
//! Typed lines may be run, so nothing here begins a line for the shell or for Python, no editor is available, and no program
//! is in the PATH.

use std::time::Duration;

use omp_testkit::{PastEnd, Script, Turn, Wire};
use portable_pty::CommandBuilder;

use crate::harness::Scene;
use crate::seat::{READY, RUNS, Seat, at_a_seat};

const BYTES: usize = 1_000_000;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn one<'a>(&mut self, of: &[&'a [u8]]) -> &'a [u8] {
        of[self.below(of.len())]
    }
}

/// Ctrl+c, ctrl+d and ctrl+z end or suspend the program, ctrl+g opens an editor, Enter sends; `!` and `$` begin lines that
/// are run.
const NEVER: [u8; 8] = [0x03, 0x04, 0x07, 0x1a, b'\r', b'\n', b'!', b'$'];

/// Complete key sequences without side effects beyond the key.
const SEQUENCES: [&[u8]; 22] = [
    b"\x1b[A",
    b"\x1b[B",
    b"\x1b[C",
    b"\x1b[D",
    b"\x1b[H",
    b"\x1b[F",
    b"\x1b[3~",
    b"\x1b[5~",
    b"\x1b[Z",
    b"\x1bOP",
    b"\x1b[97;5u",
    b"\x1b[9999999999;1u",
    b"\x1b[27;5;9~",
    b"\x1b[<64;10;10M",
    b"\x1b[<0;1;1m",
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b[?62;22c",
    b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;rgb:0000/0000/0000\x07",
    b"\x1b[8;24;80t",
    b"\x1bP1+r\x1b\\",
];

/// Truncated or invalid sequences.
const HALVES: [&[u8]; 12] = [
    b"\x1b",
    b"\x1b[",
    b"\x1b[1;",
    b"\x1b[<0;",
    b"\x1b]",
    b"\x1b]52;c;QUFB",
    b"\x1bP",
    b"\x1b_Gi=1",
    b"\x1b[200",
    b"\xf0\x9f\x98",
    b"\xe6\xbc",
    b"\xc3",
];

const WORDS: [&[u8]; 8] = [
    b"words and more ",
    "é漢字😀 ".as_bytes(),
    "e\u{301}\u{301}\u{301} ".as_bytes(),
    "👩\u{200d}💻👨\u{200d}👩\u{200d}👧 ".as_bytes(),
    "\u{202e}\u{200b}\u{feff}".as_bytes(),
    b"/mod @src ",
    b"\xff\xfe\x80",
    b"```\t| a | b |",
];

fn noise(seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut bytes = Vec::with_capacity(BYTES + 4096);
    while bytes.len() < BYTES {
        match random.below(1000) {
            0..500 => {
                for _ in 0..random.below(64) {
                    let byte = random.below(256) as u8;
                    bytes.extend((!NEVER.contains(&byte)).then_some(byte));
                }
            }
            500..700 => bytes.extend_from_slice(random.one(&WORDS)),
            700..850 => bytes.extend_from_slice(random.one(&SEQUENCES)),
            850..940 => bytes.extend_from_slice(random.one(&HALVES)),
            940..998 => paste(&mut random, &mut bytes),
            _ => bytes.push(b'\r'),
        }
    }
    bytes.truncate(BYTES);
    bytes
}

/// Some pastes are never ended.
fn paste(random: &mut Random, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b"\x1b[200~pasted ");
    for _ in 0..random.below(8000) {
        let byte = random.below(256) as u8;
        bytes.extend((!NEVER.contains(&byte) || byte == b'\n').then_some(byte));
    }
    if random.below(8) > 0 {
        bytes.extend_from_slice(b"\x1b[201~");
    }
}

/// Starts the program without any program that it could run.
fn alone(scene: &Scene) -> Seat {
    let nothing = scene.workspace.project().join("nothing");
    std::fs::create_dir_all(&nothing).unwrap();
    let mut command = CommandBuilder::new("/usr/bin/env");
    command.arg(format!("PATH={}", nothing.display()));
    command.args(["SHELL=/bin/false", "EDITOR=/bin/true", "VISUAL=/bin/true", env!("CARGO_BIN_EXE_omp")]);
    command.args(scene.workspace.args(&[]));
    let seat = Seat::of(scene, command, (80, 24));
    seat.until(READY);
    seat
}

/// Closes open dialogs with the keys that a user would press, with pauses, because a double press has another meaning.
#[track_caller]
fn comes_to_rest(seat: &Seat) {
    for _ in 0..20 {
        seat.keys("\x1b");
        seat.until_quiet(Duration::from_millis(600));
        seat.keys("\x03");
        seat.until_quiet(Duration::from_millis(600));
        if seat.text().contains("ctrl+c again") {
            return;
        }
    }
    panic!("it does not come to rest:\n{}", seat.text());
}

#[test]
fn noise_begins_no_line_that_is_run() {
    let bytes = noise(1);
    assert_eq!(bytes.len(), BYTES);
    let dangerous = bytes.iter().position(|byte| matches!(byte, b'!' | b'$' | 0x03 | 0x04 | 0x1a));
    assert_eq!(dangerous, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_random_bytes_break_nothing() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("Heard.")]).past_end(PastEnd::RepeatLast)).await;
    at_a_seat(|| {
        let mut seat = alone(&scene);
        seat.until_quiet(Duration::from_millis(200));
        // Sent in parts, because a busy machine needs time.
        for part in noise(1).chunks(BYTES / 5) {
            seat.keys(part);
            seat.until_quiet(Duration::from_millis(300));
        }
        // Ends a paste that the random bytes may have left open.
        seat.keys("\x1b[201~");
        seat.until_quiet(Duration::from_millis(1500));
        comes_to_rest(&seat);
        seat.keys("are you there");
        seat.until("are you there");
        let before = seat.shown();
        seat.keys("\r");
        seat.until_after(before, "Heard.");
        seat.until_gone(RUNS);
        seat.keys("\x04");
        assert_eq!(seat.end(), 0, "{}", seat.text());
        seat.is_sane();
        assert!(!seat.all().contains("panicked"), "{}", seat.all());
    })
    .await;
}
