//! What omp puts into a session besides the crates' own parts.

pub mod commands;
pub mod jobs;
pub mod todos;
