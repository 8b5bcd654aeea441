//! The seeds of the stress harness that every test run plays.

use std::path::Path;

use super::stress::{self, Tape};

const SEEDS: u64 = 700;

fn play(range: std::ops::Range<u64>) {
    for seed in range {
        if let Err((tape, why)) = stress::run_seed(seed) {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stress-{seed}.json"));
            std::fs::write(&file, serde_json::to_string_pretty(&tape).unwrap()).unwrap();
            panic!("seed {seed}: {why}\nreplay: cargo run -p omp-tui --example stress -- --replay {}", file.display());
        }
    }
}

#[test]
fn the_first_third_of_the_seeds() {
    play(0..SEEDS);
}

#[test]
fn the_second_third_of_the_seeds() {
    play(SEEDS..2 * SEEDS);
}

#[test]
fn the_last_third_of_the_seeds() {
    play(2 * SEEDS..3 * SEEDS);
}

#[test]
fn a_tape_is_the_same_after_it_was_saved() {
    let tape = Tape::of_seed(7);
    let saved = serde_json::to_string(&tape).unwrap();
    assert_eq!(serde_json::from_str::<Tape>(&saved).unwrap(), tape);
    stress::play(&tape).unwrap();
}
