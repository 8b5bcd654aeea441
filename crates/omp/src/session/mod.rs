//! The parts of a session, and the host that creates sessions for every mode.

mod blueprint;
pub mod commands;
pub mod compacting;
mod day_log;
mod diagnostics;
pub mod hooking;
pub mod host;
pub mod jobs;
pub mod models;
pub mod nested_context;
pub mod pages;
#[cfg(test)]
mod prompt_size;
pub mod recordings;
pub mod rule_file;
pub mod secrets;
pub mod sessions;
pub mod set_aside_news;
mod stream_tap;
pub mod titles;
pub mod todos;
pub mod tools;
pub mod transcript;
pub mod undo;
pub mod user_shell;
