//! Plays the same seeds in xterm.js, the terminal of editors and browsers.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::stress::{self, Tape};

const SEEDS: u64 = 150;

#[test]
fn it_shows_what_the_others_show() {
    let recordings: Vec<serde_json::Value> = (0..SEEDS)
        .map(|seed| (seed, Tape::of_seed(seed)))
        .filter(|(_, tape)| !tape.multiplexer && !tape.disputed)
        .filter_map(|(seed, tape)| {
            let mut recording = serde_json::to_value(stress::record(&tape)?).unwrap();
            recording["seed"] = seed.into();
            Some(recording)
        })
        .collect();
    assert!(recordings.len() > 20);
    let told = node(&serde_json::to_vec(&recordings).unwrap());
    assert_eq!(told.trim(), format!("{} played", recordings.len()));
}

#[expect(clippy::disallowed_methods, reason = "a program that omp itself never starts")]
fn node(input: &[u8]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/xterm.js");
    let mut command = Command::new("node");
    command.arg(script).env("XTERM", cache().join("xterm-headless-6.0.0/node_modules/@xterm/headless"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("node does not exist; scripts/test installs it");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "xterm.js does not exist; scripts/test installs it");
    String::from_utf8(output.stdout).unwrap()
}

/// The folder in which `scripts/test` stores installed packages.
#[expect(clippy::disallowed_methods, reason = "a test asks where the machine's user keeps caches")]
fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    base.expect("neither XDG_CACHE_HOME nor HOME is set").join("omp-tests")
}
