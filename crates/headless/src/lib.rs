//! Modes without a terminal application: `text` prints answers, `json` prints events, `rpc` serves a program. Each mode has
//! a folder.
//!
//! The first two are a [`Presenter`] over the same driver, which sends prompts to a session, enforces the time limit,
//! handles signals, and returns the exit code. Nothing here asks questions on a terminal.

mod drive;
mod driven;
mod exit;
mod input;
mod json;
mod outcome;
mod presenter;
mod rpc;
mod text;

pub use drive::{Limits, drive};
pub use driven::Driven;
pub use exit::Exit;
pub use input::{InputError, build_prompts, read_piped, read_piped_within};
pub use json::JsonPresenter;
pub use presenter::Presenter;
pub use rpc::{Client, HostUris, serve};
pub use text::{TextPresenter, TextStyle};
