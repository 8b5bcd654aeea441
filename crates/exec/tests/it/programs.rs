//! What `omp-shell` reads in a script, held against what real shells run: thousands of generated scripts are run where
//! every program writes down its words and does nothing more. A program that ran without having been seen is a hole in
//! every rule, and so is a word that was said to be known and was another one.

mod scripts;
mod stage;
mod tricks;
mod wording;
mod wrapping;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use omp_shell::{Command, Word};
use scripts::{Scripts, Shell};
use stage::{Ran, Stage};

/// Of a hundred scripts at most so many may be beyond telling, or the comparison would mean little.
const MOST_UNKNOWN: usize = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bash_runs_nothing_that_was_not_seen() {
    compare(Shell::Bash, 5_000, 7).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_dash() {
    compare(Shell::Dash, 1_000, 11).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_zsh() {
    compare(Shell::Zsh, 1_000, 13).await;
}

async fn compare(shell: Shell, count: usize, seed: u64) {
    if !Path::new(shell.path()).exists() {
        return;
    }
    let stage = Stage::build(shell);
    let scripts: Vec<String> = Scripts::new(seed, shell).take(count).collect();
    let logs = stage.run(&scripts).await;
    let (mut ran_something, mut holes) = (0, String::new());
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for (at, (script, log)) in scripts.iter().zip(&logs).enumerate() {
        ran_something += usize::from(!log.is_empty());
        let read = omp_shell::read(script);
        if let Some(why) = read.unknown.first() {
            *unknown.entry(why.clone()).or_default() += 1;
            continue;
        }
        for ran in log.iter().filter(|ran| !read.commands.iter().any(|command| fits(command, ran, stage.home()))) {
            if holes.contains(&format!("seed {seed}, script {at}:")) {
                continue;
            }
            let _ = writeln!(holes, "--- seed {seed}, script {at}: {ran:?} ran in\n{script}\n");
        }
    }
    assert!(holes.is_empty(), "{shell:?}: {}", holes.chars().take(6_000).collect::<String>());
    let told: usize = unknown.values().sum();
    assert!(told * 100 <= count * MOST_UNKNOWN, "{shell:?}: {told} of {count} were unknown: {unknown:#?}");
    assert!(ran_something * 100 >= count * 80, "{shell:?}: only {ran_something} of {count} ran anything");
}

/// Whether the command could have been started with these words: what is known is there as it was told, what is not can be
/// any number of words.
fn fits(command: &Command, ran: &Ran, home: &str) -> bool {
    let Some((program, words)) = command.words.split_first() else { return false };
    let base = program.text.rsplit('/').next().unwrap_or_default();
    program.known && base == ran.program && aligned(words, &ran.words, home)
}

fn aligned(words: &[Word], got: &[String], home: &str) -> bool {
    // Which beginnings of what the program got are explained by the words so far.
    let mut reached = vec![false; got.len() + 1];
    reached[0] = true;
    for word in words {
        let mut next = vec![false; got.len() + 1];
        for at in (0..=got.len()).filter(|at| reached[*at]) {
            if !word.known {
                next[at..].fill(true);
                break;
            }
            if got.get(at).is_some_and(|got| is_same(word, got, home)) {
                next[at + 1] = true;
            }
        }
        reached = next;
    }
    reached[got.len()]
}

fn is_same(word: &Word, got: &str, home: &str) -> bool {
    match word.home {
        true => got == word.text.replacen('~', home, 1),
        false => got == word.text,
    }
}
