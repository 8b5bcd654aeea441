//! The modes omp runs in: print, interactive, plain and server; and the code that only they need.

pub mod attached;
pub mod file_index;
pub mod first_run;
pub mod interactive;
pub mod outside;
pub mod plain;
pub mod prompt_history;
pub mod redraws;
pub mod run;
mod status_command;
pub mod update;
pub mod write_log;
