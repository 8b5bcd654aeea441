//! RPC from the view of a client, with a scripted model inside the process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; clippy only sees the functions marked so"
)]

mod client;
mod commands;
mod dialogs;
mod host_tools;
mod prompting;
mod protocol;
mod sessions;
