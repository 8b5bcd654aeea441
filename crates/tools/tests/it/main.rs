//! What only a process of its own can show of the tools.
#![allow(clippy::unwrap_used, reason = "tests; clippy only sees the functions marked so")]

mod memory;
