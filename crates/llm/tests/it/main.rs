//! Providers over real HTTP against a loopback server that answers with recorded streams, or misbehaves as told.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod anthropic;
mod credentials;
mod faults;
mod server;
mod talk;
mod whole;
