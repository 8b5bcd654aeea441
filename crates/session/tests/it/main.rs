//! Tests of the session with a scripted model: commands in, events and a file out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; clippy only sees the functions marked so"
)]

mod access;
mod approval;
mod ask;
mod compaction;
mod compaction_life;
mod decisions;
mod embed;
mod files_kept;
mod hooks;
mod observe;
mod open_url;
mod plan;
mod prompt;
mod quarantine;
mod queue;
mod read_back;
mod record;
mod retry;
mod rewind;
mod run_ends;
mod snapshot;
mod sources;
mod spending;
mod stage;
mod title;
mod todo;
mod transcript;
mod tree;
mod ttsr;
