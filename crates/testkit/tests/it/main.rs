//! Tests the fake server from the client's side: raw bytes over a plain socket.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests; clippy only sees the functions marked so")]

mod client;
mod example_scripts;
mod faults;
mod framing;
mod http;
mod long_sessions;
mod sdk;
mod wires;
