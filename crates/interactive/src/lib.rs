//! The terminal application: a session shown as a transcript that is written once, with an editor below it.
//!
//! `transcript` holds what was said as [`Block`]s, `dialogs` what asks and offers, `action` every verb that a key, a
//! dialog or a command can mean. It knows neither tools nor providers nor files: a host makes the sessions.

mod action;
mod dialogs;
mod keymap;
mod transcript;

pub use action::Action;
pub use dialogs::*;
pub use keymap::{Area, Context, HelpRow, Keymap};
pub use transcript::{Block, Log};
