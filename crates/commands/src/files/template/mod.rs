//! Commands and prompt templates that are stored in files: turns a template and the arguments of the command into a prompt.
//!
//! This module only transforms text. Its caller decides which files may be read and whether a command line may run.

mod arguments;
mod expand;
#[cfg(test)]
mod tests;

pub use arguments::Arguments;
pub use expand::{Expanded, TemplatePiece, expand};
#[cfg(test)]
use expand::{MAX_EXPANDED, MAX_FILES, MAX_RUNS};
