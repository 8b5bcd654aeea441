//! The terminal application: a session shown as a transcript that is written once, with an editor below it.
//!
//! `transcript` holds what was said as [`Block`]s, `dialogs` what asks and offers, `action` every verb that a key, a
//! dialog or a command can mean. It knows neither tools nor providers nor files: a host makes the sessions.

mod action;
mod app;
mod chrome;
mod dialogs;
mod stand_in;
mod keymap;
mod outside;
mod transcript;
mod tty;

pub use action::Action;
pub use app::{App, Leave, Left, Look, Start, run};
pub use dialogs::{Dialog, Step};
pub use keymap::{Area, Context, HelpRow, Keymap};
pub use outside::Outside;
pub use transcript::{Block, Log};
pub use tty::{Tty, TtyEvent};
