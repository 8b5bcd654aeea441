//! Hooks: shell commands that users attach to prompts, calls and sessions.
//!
//! They use the format of Claude Code, in its settings files or in omp's. A hook gets its event as JSON on standard input
//! and answers by its exit code, or in JSON; [`Hooks`] runs the hooks for an event concurrently and combines their answers.
//! Hooks of a repository run only if the user trusts it.

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
