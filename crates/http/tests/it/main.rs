//! The client against servers on the loopback that answer, stall and break as told.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod faults;
mod requests;
mod server;
mod tls;
