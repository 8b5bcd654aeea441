//! A stream in a pane of a real tmux, which is resized, split and zoomed all the while: nothing may get lost.
#![cfg(unix)]

use std::path::PathBuf;
use std::process::{Command, Output};

const PARAGRAPHS: usize = 30;

/// What a user does to a pane.
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

struct Tmux {
    folder: tempfile::TempDir,
}

impl Tmux {
    #[expect(clippy::disallowed_methods, reason = "a program that omp itself never starts")]
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(self.folder.path().join("socket"))
            .arg("-f")
            .arg(self.folder.path().join("settings"))
            .args(arguments);
        command.env_remove("TMUX").env("TERM", "xterm-256color").env("SHELL", "/bin/sh").env("LANG", "C.UTF-8");
        command.output().expect("tmux is not there; scripts/test installs it")
    }

    fn told(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

/// `cargo test` builds the examples beside the tests.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/stream");
    assert!(program.exists(), "{} is missing: cargo build -p omp-tui --example stream", program.display());
    program
}

#[track_caller]
fn check(gestures: &[&[&str]]) {
    let tmux = Tmux { folder: tempfile::tempdir().unwrap() };
    std::fs::write(tmux.folder.path().join("settings"), "set -g history-limit 50000\n").unwrap();
    let ended = tmux.folder.path().join("ended");
    let said = tmux.folder.path().join("said");
    let files = (said.display(), ended.display());
    let script = format!("'{}' {PARAGRAPHS} 2 '{}'; touch '{}'; exec cat", example().display(), files.0, files.1);
    tmux.told(&["-u", "new-session", "-d", "-x", "80", "-y", "24", &script]);
    let mut done = 0;
    while !ended.exists() {
        match gestures.get(done % gestures.len().max(1)) {
            // A gesture can be impossible, such as a split of a small pane.
            Some(gesture) if !said.exists() => drop(tmux.run(gesture)),
            _ => drop(tmux.run(&["display-message", "-p", ""])),
        }
        done += 1;
        assert!(done < 20_000, "the stream does not end: {}", tmux.told(&["capture-pane", "-p"]));
    }
    let pane = tmux.told(&["capture-pane", "-p", "-S", "-", "-E", "-", "-t", ":0.0"]);
    every_word_is_there(&pane);
}

fn every_word_is_there(pane: &str) {
    let stream: String = pane.split_whitespace().collect();
    let mut from = 0;
    let expected = expected_words();
    for word in &expected {
        // Followed by the next one or by a row of something else, never by another digit.
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
