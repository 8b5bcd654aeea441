//! Commands and prompt templates that lie in files: how their text and the words behind the command become a prompt.
//!
//! Everything here is text in, text out. Which files may be read and whether a command line may run is decided by whoever
//! carries the pieces out.

mod arguments;
mod template;
#[cfg(test)]
mod tests;

pub use arguments::Arguments;
pub use template::{Expanded, Piece, expand};
#[cfg(test)]
use template::{MAX_EXPANDED, MAX_FILES, MAX_RUNS};
