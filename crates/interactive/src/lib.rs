//! The terminal application: shows a session as a transcript that is written once, with an editor below it.
//!
//! `transcript` renders messages as [`Block`]s, `dialogs` contains questions and selectors, `action` every action of a key,
//! a dialog or a command. The crate knows no tools, providers or files: a host creates the sessions.

mod action;
mod app;
mod chrome;
mod dialogs;
mod habits;
mod keymap;
#[cfg(test)]
mod looks;
mod plain;
mod prompt;
mod settings;
mod setup;
mod surroundings;
mod transcript;
mod trust;
mod tty;

pub use action::{Action, Secret};
pub use app::{App, Leave, Left, Look, Redraws, Start, own_command_names, run};
pub use chrome::{GitFacts, STATUS_SETTINGS, StatusLook};
pub use dialogs::*;
pub use dialogs::{Dialog, DialogStep};
pub use habits::{Calls, DoubleEscape, HABIT_SETTINGS, Habits};
pub use keymap::{Area, HelpRow, KeyContext, Keymap};
pub use plain::{PlainEnd, PlainIo, PlainSignal, run_plain};
pub use prompt::{
    Candidate, Clip, CommandInfo, Copied, FileIndex, Outside, Prompt, PromptHistory, PromptParts, PromptStep,
    Submission, Typed, WritingMode, typed,
};
pub use settings::SETTINGS;
pub use setup::{
    FoundKey, FoundServer, Provider, SetupEnd, SetupFindings, SetupHost, SetupIo, run_setup, run_setup_in_text,
};
pub use surroundings::{GitChanges, KeyPlaces, Stored, Surroundings};
pub use transcript::{Block, COST_SETTINGS, CostLines, Log, PictureWishes};
pub use trust::{TrustAnswer, TrustQuestion, run_trust, run_trust_in_text};
pub use tty::{Tty, TtyEvent};
