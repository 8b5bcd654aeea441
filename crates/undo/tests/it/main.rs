//! Tests that undo restores files byte for byte.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod attack;
mod commands;
mod counts;
mod full;
mod git;
mod killed;
mod past;
mod place;
mod scale;
mod sequences;
mod store;
mod turns;
