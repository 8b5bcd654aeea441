//! The ways omp runs: one prompt, a talk in the terminal, plain lines, a server; and what only they need.

pub mod attached;
pub mod file_index;
pub mod first_run;
pub mod interactive;
pub mod outside;
pub mod plain;
pub mod prompt_history;
pub mod redraws;
pub mod run;
pub mod write_log;
