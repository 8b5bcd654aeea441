//! Measures the cost of a frame: `cargo bench -p omp-tui --bench paint`. Fails if a frame costs more than its limit, or more
//! in a long transcript than in a short one.
#![allow(clippy::print_stdout, reason = "a bench is its own program")]

use std::time::{Duration, Instant};

use omp_tui::{Color, Frame, Line, Profile, Renderer, Size, Style};

const SIZE: Size = Size { width: 100, height: 50 };
const LONG: usize = 10_000;
const FRAMES: usize = 2_000;

const FULL_PAINT: Duration = Duration::from_millis(30);
const FRAME: Duration = Duration::from_micros(100);
/// Bytes of a streamed frame besides its text: synchronization brackets and cursor moves.
const OVERHEAD: usize = 48;

fn main() {
    // `cargo test --all-targets` starts benches too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let short = stream(100);
    let long = stream(LONG);
    assert!(long < 2 * short + Duration::from_micros(5), "a frame costs {short:?} at first and {long:?} later");
    spinner();
    full_paint();
    rewrap();
}

/// A row as Markdown produces it: plain, code, bold.
fn row(number: usize) -> Line {
    let code = Style::PLAIN.fg(Color::Rgb(215, 175, 95));
    Line::from(format!("{number:>6} The quick brown fox reads "))
        .with("src/fox.rs", code)
        .with(" and jumps ", Style::PLAIN)
        .with("over", Style::PLAIN.bold())
        .with(" the lazy dog.", Style::PLAIN)
}

fn chrome(tick: usize) -> Vec<Line> {
    let grey = Style::PLAIN.fg(Color::Indexed(8));
    vec![
        Line::styled(format!("{} Working… {}s", ["◐", "◓", "◑", "◒"][tick % 4], tick / 12), grey),
        Line { cursor: Some(4), ..Line::from("> hi") },
        Line::styled("model · 12% · main", grey),
    ]
}

/// Streams words one by one below a transcript and returns the median time of a frame.
fn stream(length: usize) -> Duration {
    let mut renderer = Renderer::new(Profile { synchronized: true, ..Profile::default() }, SIZE);
    let mut rows: Vec<Line> = (0..length).map(row).collect();
    let mut out = Vec::new();
    rows.extend(chrome(0));
    renderer.paint(&Frame { rows: &rows, settled: length, overlay: None }, &mut out);
    let (mut times, mut bytes, mut text) = (Vec::new(), 0, 0);
    let mut live = String::new();
    let mut settled = length;
    rows.insert(settled, Line::new());
    for word in 0..FRAMES {
        let more = format!("word{word} ");
        if live.len() + more.len() > SIZE.width {
            settled += 1;
            live.clear();
            rows.insert(settled, Line::new());
        }
        live.push_str(&more);
        text += more.len();
        rows[settled] = Line::from(live.clone());
        out.clear();
        let start = Instant::now();
        renderer.paint(&Frame { rows: &rows, settled, overlay: None }, &mut out);
        times.push(start.elapsed());
        bytes += out.len();
    }
    let overhead = (bytes - text) / FRAMES;
    let (_, median) = report(&format!("a word below {length} rows"), times);
    println!("{:<32} {overhead} bytes a frame beside the text", "");
    assert!(overhead <= OVERHEAD, "{overhead} bytes a frame beside the text");
    assert!(median < FRAME, "a frame took {median:?}");
    median
}

fn spinner() {
    let mut renderer = Renderer::new(Profile { synchronized: true, ..Profile::default() }, SIZE);
    let mut rows: Vec<Line> = (0..LONG).map(row).collect();
    let mut times = Vec::new();
    let mut bytes = 0;
    rows.extend(chrome(0));
    for tick in 0..FRAMES {
        rows.truncate(LONG);
        rows.extend(chrome(tick));
        let mut out = Vec::new();
        let start = Instant::now();
        renderer.paint(&Frame { rows: &rows, settled: LONG, overlay: None }, &mut out);
        times.push(start.elapsed());
        bytes = out.len();
    }
    let (_, median) = report("a spinner", times);
    println!("{:<32} {bytes} bytes a frame", "");
    assert!(median < FRAME, "a frame took {median:?}");
}

fn full_paint() {
    let rows: Vec<Line> = (0..LONG).map(row).chain(chrome(0)).collect();
    let mut renderer = Renderer::new(Profile::default(), SIZE);
    let times = (0..20).map(|_| {
        let mut out = Vec::new();
        renderer.replace();
        let start = Instant::now();
        renderer.paint(&Frame { rows: &rows, settled: LONG, overlay: None }, &mut out);
        start.elapsed()
    });
    let (best, _) = report("all of 10,000 rows", times.collect());
    assert!(best < FULL_PAINT, "a full paint took {best:?}");
}

/// Measures a resize inside a multiplexer, where rows that are already in its history must be found among the new ones.
fn rewrap() {
    let rows: Vec<Line> = (0..LONG).map(row).chain(chrome(0)).collect();
    let mut renderer = Renderer::new(Profile { multiplexer: true, ..Profile::default() }, SIZE);
    let times = (0..20).map(|round| {
        let mut out = Vec::new();
        renderer.resize(Size { width: SIZE.width - round % 2, ..SIZE });
        let start = Instant::now();
        renderer.paint(&Frame { rows: &rows, settled: LONG, overlay: None }, &mut out);
        start.elapsed()
    });
    let (best, _) = report("10,000 rows found again", times.collect());
    assert!(best < FULL_PAINT, "it took {best:?}");
}

/// Returns the best time, which a busy machine disturbs least, and the median.
fn report(name: &str, mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort();
    let (best, median, worst) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    println!("{name:<32} best {best:>9.2?}  median {median:>9.2?}  worst {worst:>9.2?}");
    (best, median)
}
