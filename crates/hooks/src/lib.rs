//! Hooks: shell commands that users put around prompts, calls and sessions.
//!
//! They are written as for Claude Code, in its settings files or in omp's. A hook is told of its event in JSON on
//! standard input and answers by its exit code, or in JSON; [`Hooks`] runs those that an event is for, side by side, and
//! puts their answers together. Hooks of a repository run only where the user trusts it.

mod answer;
mod background;
mod condition;
mod event;
mod hooks;
mod input;
mod matcher;
mod outputs;
mod read;
mod run;
mod settings;
mod shapes;

pub use event::HookEvent;
pub use hooks::{HookSetup, HookTrust, Hooks};
pub use read::{Hook, ReadHooks, read};
pub use settings::SETTINGS;
