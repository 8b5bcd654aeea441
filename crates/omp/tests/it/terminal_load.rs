//! The processor time at a terminal: a paste of random bytes, a spinner, idle.

use std::time::{Duration, Instant};

use omp_testkit::{Fault, FaultKind, Moment, PastEnd, Script, Turn, Wire};

use crate::harness::Scene;
use crate::seat::{RUNS, Seat, at_a_seat};

const GARBAGE: usize = 200_000;

/// Arbitrary bytes: control characters, partial sequences, invalid UTF-8, but not the end of a paste.
fn anything() -> Vec<u8> {
    let mut random = Random(7);
    let mut bytes: Vec<u8> = (0..GARBAGE).map(|_| random.below(256) as u8).collect();
    bytes.extend_from_slice(b"\x1b[20");
    bytes
}

/// Bytes that a user could type: no Enter and no key that exits or suspends, but characters of all widths, invalid UTF-8 and
/// unknown sequences.
fn typed() -> Vec<u8> {
    let mut random = Random(11);
    let pieces: [&[u8]; 12] = [
        b"words and ",
        "é漢字\u{1f600} ".as_bytes(),
        b"\xff\xfe",
        b"\xe6\xbc",
        b"\x1b[9999;9999~",
        b"\x1b[1;2;3;4;5x",
        b"\x1b]0;title\x1b\\",
        b"\x1bP+q\x1b\\",
        b"\x1b[<0;3;4M",
        b"\x1b[?1;2c",
        b"more of it",
        b"\x1b[D\x1b[C",
    ];
    let mut bytes = b"garbage ".to_vec();
    while bytes.len() < GARBAGE {
        bytes.extend_from_slice(pieces[random.below(pieces.len() as u64) as usize]);
    }
    bytes
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[cfg(target_os = "linux")]
fn cpu(seat: &Seat) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", seat.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // The kernel reports hundredths of a second.
    Duration::from_millis(ticks * 10)
}

/// On other systems the elapsed time is used.
#[cfg(not(target_os = "linux"))]
fn cpu(_: &Seat) -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}

/// Pastes, then types, and checks that it takes little processor time and leaves the terminal in order.
async fn check_paste(bytes: Vec<u8>) {
    let script = Script::new([Turn::text("Never.")]).past_end(PastEnd::RepeatLast);
    let scene = Scene::new(Wire::Anthropic, script).await;
    at_a_seat(|| {
        let mut seat = Seat::ready(&scene, &[]);
        seat.until_quiet(Duration::from_millis(300));
        let (start, before) = (Instant::now(), cpu(&seat));
        seat.keys(bytes);
        seat.keys(" still-here");
        seat.until("still-here");
        let (took, worked) = (start.elapsed(), cpu(&seat) - before);
        assert!(worked < Duration::from_secs(2), "{worked:?} of work in {took:?}");
        seat.keys("\x7f\x7f\x7f\x7fthere");
        seat.until("still-there");
        seat.keys("\x03\x03");
        assert_eq!(seat.end(), 0, "{}", seat.text());
        seat.is_sane();
    })
    .await;
    assert!(scene.server.model_requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paste_of_garbage_costs_little_and_breaks_nothing() {
    check_paste([b"\x1b[200~", anything().as_slice(), b"\x1b[201~"].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_that_comes_as_keys_costs_little_and_breaks_nothing() {
    check_paste(typed()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_costs_next_to_nothing_and_resting_nothing() {
    let slow = Fault::new(FaultKind::Stall { at: Moment::AfterHeaders, ms: Some(3000) });
    let scene = Scene::new(Wire::Anthropic, [Turn::text("At last.").fault(slow)]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("hello\r");
        seat.until(RUNS);
        let (start, before) = (Instant::now(), cpu(&seat));
        seat.until("At last.");
        let (took, worked) = (start.elapsed(), cpu(&seat) - before);
        assert!(worked.as_secs_f64() < 0.08 * took.as_secs_f64(), "{worked:?} of work in {took:?}");
        seat.until_gone(RUNS);
        seat.until_quiet(Duration::from_millis(500));
        let (shown, before) = (seat.shown(), cpu(&seat));
        // The absence of output can only be checked by waiting.
        seat.until_quiet(Duration::from_secs(1));
        assert_eq!(seat.shown(), shown, "something was written at rest");
        assert!(cpu(&seat) - before <= Duration::from_millis(10), "it does not rest");
        seat.leaves();
    })
    .await;
}
