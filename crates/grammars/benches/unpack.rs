//! How long the first use of every grammar takes: `cargo bench -p omp-grammars`.

#![allow(clippy::print_stdout, reason = "a bench prints what it measures")]

use std::time::Instant;

use omp_grammars::Grammar;

fn main() {
    for grammar in Grammar::all() {
        let start = Instant::now();
        std::hint::black_box(grammar.language());
        println!("{:>8.2} ms  {grammar:?}", start.elapsed().as_secs_f64() * 1000.0);
    }
}
