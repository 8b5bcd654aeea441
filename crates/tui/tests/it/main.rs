//! Tests the renderer with real terminal emulators and real multiplexers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail loudly")]

mod frames;
mod resizes;
mod seeds;
mod stress;
mod tmux;
mod xterm;
