//! The fidelity gate: random scenes, the bytes that the renderer writes for them, and what emulators make of these.
//!
//! A seed becomes a [`Tape`] of operations, a tape is played into the renderer and the emulators, and after each
//! operation the screens are compared with what a second, naive implementation of the rules expects. A tape that fails
//! is cut down to the few operations that matter, and is saved as a file which `cargo run -p omp-tui --example stress --
//! --replay FILE` plays again.

mod bytes;
mod emulator;
mod ops;
mod play;
mod scene;
mod shadow;

pub use ops::Tape;
use play::Recording;

/// Plays the tape of one seed. The error is the shortest tape that still fails, with what it found.
pub fn run_seed(seed: u64) -> Result<(), (Tape, String)> {
    let tape = Tape::of_seed(seed);
    match play::play(&tape) {
        Ok(()) => Ok(()),
        Err(first) => Err(shortest(tape, first)),
    }
}

pub fn play(tape: &Tape) -> Result<(), String> {
    play::play(tape)
}

/// What another terminal is to be told, and what it should show then.
#[allow(dead_code, reason = "the example does without")]
pub fn record(tape: &Tape) -> Option<Recording> {
    play::record(tape).ok().filter(|recording| !recording.moved)
}

/// Leaves out as many operations as it can while something still goes wrong.
fn shortest(mut tape: Tape, mut why: String) -> (Tape, String) {
    let mut chunk = tape.ops.len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        while at < tape.ops.len() {
            let mut without = tape.clone();
            without.ops.drain(at..(at + chunk).min(tape.ops.len()));
            match play::play(&without) {
                Err(still) => (tape, why) = (without, still),
                Ok(()) => at += chunk,
            }
        }
        chunk /= 2;
    }
    (tape, why)
}
