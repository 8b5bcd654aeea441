//! Tests the client with loopback servers that answer, stall and break as scripted.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod faults;
mod http2;
mod proxies;
mod requests;
mod server;
mod socks;
mod tls;
