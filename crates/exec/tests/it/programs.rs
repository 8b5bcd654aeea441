//! Compares what `omp-shell` parses with what real shells run: thousands of generated scripts are run with programs that
//! only record their arguments. A program that ran unnoticed is a hole in every rule, and so is a word that was reported as
//! known and was different.

mod scripts;
mod spoiling;
mod stage;
mod tricks;
mod wording;
mod wrapping;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use omp_shell::{ShellCommand, ShellWord};
use scripts::{Script, Scripts, Shell};
use stage::{Ran, Stage};

/// Of a hundred scripts without a trick at most this many may be undecidable, or the comparison would mean little.
const MOST_UNKNOWN: usize = 6;
/// Scripts per seed.
const OF_EACH: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bash_runs_nothing_that_was_not_seen() {
    compare(Shell::Bash, 100..125).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_dash() {
    compare(Shell::Dash, 200..205).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_zsh() {
    compare(Shell::Zsh, 300..305).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_unseen_runs_in_spoilt_scripts() {
    compare_spoilt(Shell::Bash, 400..404).await;
    compare_spoilt(Shell::Dash, 500..501).await;
    compare_spoilt(Shell::Zsh, 600..601).await;
}

/// Most of them cannot be parsed by any shell. Those that can must be parsed alike.
async fn compare_spoilt(shell: Shell, seeds: Range<u64>) {
    if !Path::new(shell.path()).exists() {
        return;
    }
    let stage = Stage::build(shell, 1);
    let made: Vec<String> = seeds
        .flat_map(|seed| {
            let mut scripts = Scripts::new(seed, shell);
            (0..OF_EACH).map(move |at| if at % 5 == 0 { scripts.heap() } else { scripts.spoilt() })
        })
        .collect();
    let logs = stage.run(&made.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut holes = String::new();
    let mut compared = 0;
    // `$'\u0'` is a zero byte in zsh, which would corrupt the log.
    let misleads = |text: &str| shell == Shell::Zsh && text.contains("\\u");
    for (text, log) in made.iter().zip(&logs).filter(|(text, log)| !log.is_empty() && !misleads(text)) {
        let read = match shell {
            Shell::Dash => omp_shell::read(&format!("sh -c {}", wrapping::quoted(text))),
            Shell::Bash | Shell::Zsh => omp_shell::read(text),
        };
        if !read.unknown.is_empty() {
            continue;
        }
        compared += 1;
        let is_seen = |ran: &Ran| read.commands.iter().any(|command| fits(command, ran, stage.home()));
        if let Some(ran) = log.iter().find(|ran| !is_seen(ran) && !is_null_command(shell, ran)) {
            let _ = writeln!(holes, "--- {ran:?} ran in\n{text}\n");
        }
    }
    assert!(holes.is_empty(), "{shell:?}: {}", holes.chars().take(6_000).collect::<String>());
    assert!(compared * 100 >= made.len() * 15, "{shell:?}: only {compared} of {} could be compared", made.len());
}

/// The program that zsh runs for a bare redirect: its input goes to a file that was reported.
fn is_null_command(shell: Shell, ran: &Ran) -> bool {
    shell == Shell::Zsh && ran.program == "cat" && ran.words.is_empty()
}

async fn compare(shell: Shell, seeds: Range<u64>) {
    if !Path::new(shell.path()).exists() {
        return;
    }
    let stage = Stage::build(shell, 20);
    let made: Vec<(u64, Script)> =
        seeds.flat_map(|seed| Scripts::new(seed, shell).take(OF_EACH).map(move |script| (seed, script))).collect();
    let texts: Vec<&str> = made.iter().map(|(_, script)| script.text.as_str()).collect();
    let logs = stage.run(&texts).await;
    let mut holes = String::new();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for (at, ((seed, script), log)) in made.iter().zip(&logs).enumerate() {
        let read = omp_shell::read(&script.text);
        if let Some(why) = read.unknown.first() {
            *unknown.entry(why.clone()).or_default() += usize::from(!script.tricky);
            continue;
        }
        let is_hole = |ran: &&Ran| !read.commands.iter().any(|command| fits(command, ran, stage.home()));
        if let Some(ran) = log.iter().find(is_hole) {
            let _ = writeln!(holes, "--- seed {seed}, script {}: {ran:?} ran in\n{}\n", at % OF_EACH, script.text);
        }
    }
    assert!(holes.is_empty(), "{shell:?}: {}", holes.chars().take(6_000).collect::<String>());
    let plain = made.iter().filter(|(_, script)| !script.tricky).count();
    let untold: usize = unknown.values().sum();
    assert!(untold * 100 <= plain * MOST_UNKNOWN, "{shell:?}: {untold} of {plain} were unknown: {unknown:#?}");
    let ran = logs.iter().filter(|log| !log.is_empty()).count();
    assert!(ran * 100 >= made.len() * 80, "{shell:?}: only {ran} of {} ran anything", made.len());
}

/// Whether the command could have been started with these words: known words must match, and an unknown one can be any
/// number of words.
fn fits(command: &ShellCommand, ran: &Ran, home: &str) -> bool {
    let Some((program, words)) = command.words.split_first() else { return false };
    let base = program.text.rsplit('/').next().unwrap_or_default();
    program.known && base == ran.program && aligned(words, &ran.words, home)
}

fn aligned(words: &[ShellWord], got: &[String], home: &str) -> bool {
    // The prefixes of the program's words that are explained by the parsed words so far.
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

fn is_same(word: &ShellWord, got: &str, home: &str) -> bool {
    match word.home {
        true => got == word.text.replacen('~', home, 1),
        false => got == word.text,
    }
}
