//! Modes without a terminal application: `text` prints answers, `json` prints events, `rpc` serves a program. One folder a
//! mode.
//!
//! The first two are a [`Presenter`] over the same driver, which feeds prompts to a session, watches the clock and the
//! signals, and turns the end into an exit code. Nothing here ever asks a question on a terminal.

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
