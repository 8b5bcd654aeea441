//! Measures what the terminal costs in a long session, with the limit for each figure. Run by hand, it takes two minutes:
//! `cargo bench -p omp --bench terminal [-- path of another omp]`. The figures are valid on an otherwise idle machine.
//!
//! The built program runs in a pty against the scripted provider. Times are taken when bytes arrive at the other end of the
//! pty; processor time is that of all threads of the program, as the kernel counts it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench talks to a person and starts the program it measures"
)]

mod scene;
mod seat;
mod table;

use std::thread::sleep;
use std::time::{Duration, Instant};

use scene::Scene;
use seat::Seat;
use table::{Limit, Table};

const OPENINGS: usize = 5;
const WATCHED: Duration = Duration::from_secs(10);
/// Silence after which no more output is expected. It is kept short, because the test waits for it after every action.
const QUIET: Duration = Duration::from_millis(300);
const BETWEEN_KEYS: Duration = Duration::from_millis(53);

const CTRL_D: &[u8] = b"\x04";
const CTRL_O: &[u8] = b"\x0f";
/// Shown only while something runs.
const RUNS: &str = "to interrupt";

fn main() {
    let other = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let omp = other.unwrap_or_else(|| env!("CARGO_BIN_EXE_omp").to_owned());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scene = Scene::new(&runtime, omp);
    let table = Table::begin();
    open_and_redraw(&scene, &table);
    rest_and_stream(&scene, &table);
}

fn open_and_redraw(scene: &Scene, table: &Table) {
    let (mut opened, mut worked, mut memory) = (Vec::new(), Vec::new(), 0);
    let (mut expanded, mut resized) = (Vec::new(), Vec::new());
    for _ in 0..OPENINGS {
        let (mut seat, took) = Seat::resume(scene);
        opened.push(took);
        worked.push(seat.cpu());
        seat.settled(QUIET);
        memory = memory.max(seat.peak_memory_kb());
        expanded.push(gesture(&mut seat, |seat| seat.keys(CTRL_O)));
        resized.push(gesture(&mut seat, |seat| seat.resize(90, 40)));
        seat.keys(CTRL_D);
    }
    let messages = scene::MESSAGES;
    table.times(&format!("{messages} messages, to the prompt with their end shown"), &mut opened, Limit::ms(250));
    table.times("processor time of it", &mut worked, Limit::ms(250));
    table.add("memory after it, peak", format!("{:.1} MB", memory as f64 / 1e3), memory as f64 / 40e3, "40 MB");
    table.times("ctrl+o there", &mut expanded, Limit::ms(100));
    table.times("another width there", &mut resized, Limit::ms(100));
}

/// Returns the time from an action to the last byte it caused.
fn gesture(seat: &mut Seat, act: impl FnOnce(&mut Seat)) -> Duration {
    let start = Instant::now();
    let shown = seat.shown();
    act(seat);
    let last = seat.settled(QUIET);
    assert!(seat.shown() > shown, "nothing was drawn");
    last.duration_since(start)
}

fn rest_and_stream(scene: &Scene, table: &Table) {
    let (mut seat, _) = Seat::resume(scene);
    seat.settled(QUIET);
    // Gives work that is deferred until after the prompt time to finish.
    sleep(Duration::from_secs(2));
    let (rest, bytes) = watch(&seat);
    table.share("nothing to do", rest, bytes, Limit::share(0.0));

    let from = seat.shown();
    seat.keys(b"fill\r");
    seat.until(from, scene::FILLED);
    seat.settled(Duration::from_secs(1));
    let rows = seat.rows_since(from);
    assert!(rows >= scene::ROWS, "only {rows} rows were written");

    let from = seat.shown();
    seat.keys(b"go\r");
    seat.until(from, RUNS);
    sleep(Duration::from_millis(500));
    let (waiting, bytes) = watch(&seat);
    table.share(&format!("only the spinner, after {rows} more rows"), waiting, bytes, Limit::share(0.01));

    let begun = seat.until(from, scene::BEGUN);
    sleep(Duration::from_millis(500));
    let (streaming, bytes) = watch(&seat);
    let mut echoes = type_along(&mut seat);
    let rate = scene::TOKENS as f64 / seat.until(from, scene::ENDED).duration_since(begun).as_secs_f64();
    // On a busy machine the provider sends fewer tokens, so the cost is scaled up to the full rate.
    let full = streaming * (scene::RATE / rate).max(1.0);
    let what = format!("{} tokens/s of Markdown with code there, from {rate:.0}", scene::RATE);
    table.share(&what, full, bytes, Limit::share(0.04));
    table.latency("a key to its echo meanwhile", &mut echoes, Limit::ms(16));
    table.times("the median of it", &mut echoes, Limit::ms(3));
    table.add("memory at the end, peak", format!("{:.1} MB", seat.peak_memory_kb() as f64 / 1e3), 0.0, "");
}

/// Returns the share of a core and the bytes shown during an interval.
fn watch(seat: &Seat) -> (f64, usize) {
    let (start, cpu, shown) = (Instant::now(), seat.cpu(), seat.shown());
    sleep(WATCHED);
    let worked = seat.cpu().saturating_sub(cpu);
    (worked.as_secs_f64() / start.elapsed().as_secs_f64(), seat.shown() - shown)
}

/// Types letters that the stream does not contain, each once, so that they cannot be confused.
fn type_along(seat: &mut Seat) -> Vec<Duration> {
    let greek = 'α'..='ω';
    let (small, capital) = ('а'..='я', 'А'..='Я');
    let (armenian, georgian) = ('ա'..='ֆ', 'ა'..='ჰ');
    let letters = greek.chain(small).chain(capital).chain(armenian).chain(georgian);
    let echo = |letter: char| {
        sleep(BETWEEN_KEYS);
        let from = seat.shown();
        let (start, letter) = (Instant::now(), letter.to_string());
        seat.keys(letter.as_bytes());
        seat.until(from, &letter).duration_since(start)
    };
    letters.map(echo).collect()
}
