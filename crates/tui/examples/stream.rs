//! Streams numbered paragraphs as an agent would, to check the renderer in a real terminal while it is resized:
//! `cargo run -p omp-tui --example stream -- [PARAGRAPHS] [MILLISECONDS] [FILE]`. With `TMUX` set it behaves as in a
//! multiplexer. FILE is created when everything is printed; the program ends a second later.
#![allow(clippy::unwrap_used, reason = "a program for the people who work on the renderer")]

use std::io::Write;
use std::time::{Duration, Instant};

use omp_tui::{Color, Frame, Line, Profile, Renderer, Size, Style};

/// Every n-th paragraph stays open until it is taller than most windows.
const LONG_EVERY: usize = 5;
/// Words that arrive between two frames.
const BURST: usize = 4;
/// A multiplexer may report a new size some time after it was set.
const LINGER: Duration = Duration::from_secs(1);

struct Said {
    words: Vec<String>,
    done: bool,
}

fn main() {
    let argument = |at: usize, default: u64| std::env::args().nth(at).map_or(default, |text| text.parse().unwrap());
    let (paragraphs, pause) = (argument(1, 40) as usize, Duration::from_millis(argument(2, 15)));
    crossterm::terminal::enable_raw_mode().unwrap();
    stream(paragraphs, pause);
    crossterm::terminal::disable_raw_mode().unwrap();
}

fn stream(paragraphs: usize, pause: Duration) {
    #[expect(clippy::disallowed_methods, reason = "a program of its own, without the environment that omp hands down")]
    let multiplexer = std::env::var_os("TMUX").is_some();
    let mut renderer = Renderer::new(Profile { multiplexer, ..Profile::default() }, size());
    let mut said: Vec<Said> = Vec::new();
    for number in 1..=paragraphs {
        said.push(Said { words: Vec::new(), done: false });
        let length = if number.is_multiple_of(LONG_EVERY) { 400 } else { 20 + number * 7 % 60 };
        for word in 1..=length {
            said[number - 1].words.push(format!("p{number}.{word}"));
            if word % BURST == 0 {
                paint(&mut renderer, &said, word);
                std::thread::sleep(pause);
            }
        }
        said[number - 1].done = true;
        paint(&mut renderer, &said, 0);
    }
    if let Some(file) = std::env::args().nth(3) {
        std::fs::write(file, "").unwrap();
    }
    let end = Instant::now() + LINGER;
    while Instant::now() < end {
        paint(&mut renderer, &said, 0);
        std::thread::sleep(pause);
    }
    let mut out = Vec::new();
    renderer.end(&mut out);
    std::io::stdout().write_all(&out).unwrap();
}

fn size() -> Size {
    let (width, height) = crossterm::terminal::size().unwrap();
    Size { width: width.into(), height: height.into() }
}

fn paint(renderer: &mut Renderer, said: &[Said], tick: usize) {
    renderer.resize(size());
    let width = renderer.size().width;
    let mut rows = Vec::new();
    let mut settled = 0;
    for paragraph in said {
        rows.extend(laid_out(&paragraph.words, width));
        rows.push(Line::new());
        if paragraph.done {
            settled = rows.len();
        } else {
            // The rows above the growing one are settled too, except in long paragraphs.
            let long = paragraph.words.len() > 100;
            settled = if long { settled } else { rows.len() - 2 };
        }
    }
    let grey = Style::PLAIN.bg(Color::Indexed(8));
    rows.push(Line::from(format!("{} Working… {tick}", ["◐", "◓", "◑", "◒"][tick / BURST % 4])));
    rows.push(Line::styled("─".repeat(width), Style::PLAIN.dim()));
    rows.push(Line { cursor: Some(8), ..Line::from("> prompt") });
    rows.push(Line::styled(format!("{} rows", rows.len()), grey).filled(grey));
    let mut out = Vec::new();
    renderer.paint(&Frame { rows: &rows, settled, overlay: None }, &mut out);
    let mut terminal = std::io::stdout().lock();
    terminal.write_all(&out).unwrap();
    terminal.flush().unwrap();
}

fn laid_out(words: &[String], width: usize) -> Vec<Line> {
    let mut rows = vec![String::new()];
    for word in words {
        if rows[rows.len() - 1].len() + 1 + word.len() > width {
            rows.push(String::new());
        }
        let row = rows.last_mut().unwrap();
        row.push_str(if row.is_empty() { "" } else { " " });
        row.push_str(word);
    }
    rows.into_iter().map(Line::from).collect()
}
