//! Tests of providers over real HTTP, against a loopback server that sends recorded streams or misbehaves on request.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod anthropic;
mod credentials;
mod faults;
mod server;
mod talk;
mod whole;
