//! The binary as its users meet it: real processes against the fake provider on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; clippy only sees the functions marked so"
)]

mod answers;
#[cfg(unix)]
mod bad_input;
mod commands;
mod faces;
mod faults;
#[cfg(unix)]
mod files;
mod harness;
mod importing;
mod json_mode;
#[cfg(unix)]
mod kill;
mod prefix;
mod print;
mod sessions;
#[cfg(unix)]
mod signals;
mod slash;
#[cfg(unix)]
mod surroundings;
