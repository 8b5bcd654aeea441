//! Streams into a pane of a real tmux that is constantly resized, split and zoomed: no row may be lost.
#![cfg(unix)]

use std::path::PathBuf;

use omp_testkit::Tmux;

const PARAGRAPHS: usize = 30;

/// Actions of a user on a pane.
const GESTURES: [&[&str]; 14] = [
    &["resize-window", "-x", "60", "-y", "20"],
    &["resize-window", "-x", "100", "-y", "20"],
    &["resize-window", "-x", "100", "-y", "9"],
    &["split-window", "-h", "-d", "cat"],
    &["resize-pane", "-Z"],
    &["resize-pane", "-Z"],
    &["resize-window", "-x", "41", "-y", "31"],
    &["split-window", "-v", "-d", "cat"],
    &["resize-pane", "-y", "5"],
    &["kill-pane", "-a"],
    &["resize-window", "-x", "33", "-y", "12"],
    &["resize-window", "-x", "80", "-y", "24"],
    &["resize-window", "-x", "79", "-y", "25"],
    &["resize-window", "-x", "80", "-y", "24"],
];

/// `cargo test` builds the examples next to the tests.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/stream");
    assert!(program.exists(), "{} is missing: cargo build -p omp-tui --example stream", program.display());
    program
}

#[track_caller]
fn check(gestures: &[&[&str]]) {
    let tmux = Tmux::new().unwrap();
    let (ended, said) = (tmux.folder().join("ended"), tmux.folder().join("said"));
    let files = (said.display(), ended.display());
    let script = format!("'{}' {PARAGRAPHS} 2 '{}'; touch '{}'; exec cat", example().display(), files.0, files.1);
    tmux.told(&["-u", "new-session", "-d", "-x", "80", "-y", "24", &script]).unwrap();
    let mut done = 0;
    while !ended.exists() {
        match gestures.get(done % gestures.len().max(1)) {
            // A gesture can be impossible, such as splitting a small pane.
            Some(gesture) if !said.exists() => drop(tmux.run(gesture).unwrap()),
            _ => drop(tmux.run(&["display-message", "-p", ""]).unwrap()),
        }
        done += 1;
        assert!(done < 20_000, "the stream does not end: {}", tmux.told(&["capture-pane", "-p"]).unwrap());
    }
    let pane = tmux.told(&["capture-pane", "-p", "-S", "-", "-E", "-", "-t", ":0.0"]).unwrap();
    every_word_is_there(&pane);
}

fn every_word_is_there(pane: &str) {
    let stream: String = pane.split_whitespace().collect();
    let mut from = 0;
    let expected = expected_words();
    for word in &expected {
        // Followed by the next number or by another row, never by another digit.
        let found = stream[from..]
            .match_indices(word.as_str())
            .find(|(at, _)| !stream[from + at + word.len()..].starts_with(|next: char| next.is_ascii_digit()));
        match found {
            Some((at, _)) => from += at + word.len(),
            None => panic!("{word} was lost in\n{pane}"),
        }
    }
}

fn expected_words() -> Vec<String> {
    let length = |number: usize| if number.is_multiple_of(5) { 400 } else { 20 + number * 7 % 60 };
    (1..=PARAGRAPHS).flat_map(|number| (1..=length(number)).map(move |word| format!("p{number}.{word}"))).collect()
}

#[test]
fn nothing_is_lost_in_a_pane_that_is_left_alone() {
    check(&[]);
}

#[test]
fn nothing_is_lost_while_a_pane_is_resized() {
    check(&GESTURES);
}
