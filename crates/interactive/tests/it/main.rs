//! The application on a screen: keys and a script in, rows out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on says why")]

mod choosers;
mod conversation;
mod pictures;
mod life;
mod sessions;
mod stage;
