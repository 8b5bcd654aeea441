//! Tests of the loop with a scripted model: each test is a readable list of events.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; clippy only sees the functions marked so"
)]

mod abort;
mod bench_tools;
mod calls;
mod queues;
mod stage;
mod turns;
