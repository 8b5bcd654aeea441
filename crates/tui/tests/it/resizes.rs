//! A terminal of its own that is resized during a stream: the rows of the shell stay, no word is lost, few come twice.

use std::time::Duration;

use omp_tui::{Frame, Line, Profile, Renderer, Size};

use super::stress::emulator::{Alacritty, Avt, Emulator, text};

const RESIZES: usize = 20;
const WORDS_BETWEEN: usize = 60;
const SHELL: usize = 30;
/// Words of a row, about.
const ROW: usize = 8;

/// Sizes as of a window that is dragged, tiled and maximized.
const SIZES: [(usize, usize); 7] = [(80, 24), (60, 24), (100, 24), (100, 12), (41, 30), (33, 14), (120, 40)];

fn laid_out(words: usize, width: usize) -> Vec<Line> {
    let mut rows = vec![String::new()];
    for word in (1..=words).map(|number| format!("w{number}.")) {
        if rows[rows.len() - 1].len() + 1 + word.len() > width {
            rows.push(String::new());
        }
        let row = rows.last_mut().unwrap();
        row.push_str(if row.is_empty() { "" } else { " " });
        row.push_str(&word);
    }
    rows.into_iter().map(Line::from).collect()
}

/// Returns how many words are in the terminal twice.
fn repeated(mut emulator: Box<dyn Emulator>) -> usize {
    let name = emulator.name();
    let (width, height) = SIZES[0];
    let mut size = Size { width, height };
    // Every size is known before the next frame.
    let profile = Profile { resize_lag: Duration::ZERO, ..Profile::default() };
    let mut renderer = Renderer::new(profile, size);
    for number in 1..=SHELL {
        emulator.feed(format!("shell-{number}\r\n").as_bytes());
    }
    let mut all = Vec::new();
    let words = (RESIZES + 1) * WORDS_BETWEEN;
    for word in 1..=words {
        if word % WORDS_BETWEEN == 0 {
            let (width, height) = SIZES[word / WORDS_BETWEEN % SIZES.len()];
            size = Size { width, height };
            emulator.resize(width, height);
            renderer.resize(size);
        }
        let mut rows = laid_out(word, size.width);
        let settled = rows.len() - 1;
        rows.push(Line::from("─".repeat(size.width)));
        rows.push(Line { cursor: Some(2), ..Line::from("> ") });
        let mut out = Vec::new();
        renderer.paint(&Frame { rows: &rows, settled, overlay: None }, &mut out);
        emulator.feed(&out);
        all.append(&mut out);
    }
    assert!(!String::from_utf8_lossy(&all).contains("\x1b[3J"), "{name} was erased");
    let rows: Vec<String> = emulator.images(0, size.height).iter().map(text).collect();
    let shell: Vec<&str> = rows.iter().map(|row| row.trim()).filter(|row| row.starts_with("shell-")).collect();
    assert_eq!(shell, (1..=SHELL).map(|number| format!("shell-{number}")).collect::<Vec<_>>(), "{name}");
    // The terminal wraps within words.
    let stream: String = rows.iter().filter(|row| !row.contains('─')).flat_map(|row| row.split_whitespace()).collect();
    let mut from = 0;
    for word in (1..=words).map(|number| format!("w{number}.")) {
        let at = stream[from..].find(&word);
        from += at.unwrap_or_else(|| panic!("{name} lost {word}:\n{}", rows.join("\n"))) + word.len();
    }
    stream.matches('w').count() - words
}

#[test]
fn a_resize_keeps_the_rows_of_the_shell_and_loses_no_word() {
    let emulators: [Box<dyn Emulator>; 2] = [Box::new(Alacritty::new(80, 24)), Box::new(Avt::new(80, 24))];
    for emulator in emulators {
        let name = emulator.name();
        let repeated = repeated(emulator);
        println!("{name}: {repeated} words twice after {RESIZES} resizes");
        // Of a row that was partly in the scrollback, the rest is not written alone.
        assert!(repeated < RESIZES * ROW, "{name}: {repeated} words are there twice");
    }
}
