//! Runs many seeds of the stress harness, or one saved tape: `cargo run -p omp-tui --example stress -- --seeds 20000`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the people who work on the renderer")]

#[path = "../tests/it/stress/mod.rs"]
mod stress;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

const USAGE: &str = "usage: stress [--seeds COUNT] [--first SEED] | --replay FILE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1].clone());
    if let Some(file) = value("--replay") {
        return replay(&file);
    }
    let number = |name: &str, default: u64| value(name).map_or(Some(default), |value| value.parse().ok());
    match (number("--first", 0), number("--seeds", 20_000)) {
        (Some(first), Some(seeds)) => run(first, seeds),
        _ => {
            println!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn replay(file: &str) -> ExitCode {
    let tape = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    match stress::play(&tape) {
        Ok(()) => println!("nothing is wrong"),
        Err(why) => println!("{why}"),
    }
    ExitCode::SUCCESS
}

fn run(first: u64, seeds: u64) -> ExitCode {
    let (next, failed) = (AtomicU64::new(first), AtomicU64::new(0));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + seeds {
                return;
            }
            if let Err((tape, why)) = stress::run_seed(seed) {
                failed.fetch_add(1, Ordering::Relaxed);
                let file = std::env::temp_dir().join(format!("stress-{seed}.json"));
                std::fs::write(&file, serde_json::to_string_pretty(&tape).unwrap()).unwrap();
                println!("seed {seed}: {why}\nsaved as {}\n", file.display());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner();
    println!("{seeds} seeds, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
