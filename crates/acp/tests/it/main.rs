//! The protocol on the wire: frames in, frames out, over a pipe inside the process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; clippy only sees the functions marked so"
)]

mod editor_files;
mod limits;
mod official_client;
mod stage;
mod terminals;
mod transcripts;
