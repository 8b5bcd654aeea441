//! Tests of hooks as real commands: they run concurrently, once each, and are ended with their descendants.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; clippy only sees the functions marked so"
)]

#[cfg(unix)]
mod commands;
