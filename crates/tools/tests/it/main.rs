//! Integration tests that need their own process.
#![allow(clippy::unwrap_used, reason = "tests; clippy only sees the functions marked so")]

mod memory;
