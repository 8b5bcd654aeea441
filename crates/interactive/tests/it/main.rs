//! The application on a screen: keys and a script in, rows out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on says why")]

mod calls;
mod choosers;
mod clipboard;
mod conversation;
mod life;
mod pictures;
mod plan;
mod questions;
mod queue;
mod session_list;
mod sessions;
mod stage;
mod surroundings;
mod tree;
mod writing;
