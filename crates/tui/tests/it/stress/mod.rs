//! The fidelity gate: random scenes, the bytes that the renderer writes for them, and the resulting screens of emulators.
//!
//! A seed produces a [`Tape`] of operations, a tape is played into the renderer and the emulators, and after each operation
//! the screens are compared with a second, naive implementation of the rules. A failing tape is reduced to the few
//! operations that matter and saved as a file, which
//! `cargo run -p omp-tui --example stress -- --replay FILE` plays again.

mod bytes;
pub mod emulator;
mod ops;
mod play;
mod scene;
mod shadow;

pub use ops::Tape;
use play::Recording;

/// Plays the tape of one seed. The error is the shortest tape that still fails, with the reason.
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

/// Returns the bytes for another terminal, and the expected screen.
#[allow(dead_code, reason = "the example does without")]
pub fn record(tape: &Tape) -> Option<Recording> {
    play::record(tape).ok().filter(|recording| !recording.moved)
}

/// Removes as many operations as possible while the tape still fails.
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
