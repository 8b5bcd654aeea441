//! Hooks as real commands: side by side, once each, ended with all they started.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; clippy only sees the functions marked so"
)]

#[cfg(unix)]
mod commands;
