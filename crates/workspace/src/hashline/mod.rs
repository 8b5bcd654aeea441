//! The hashline patch language: edits by line number, bound to the content from which the numbers were read.
//!
//! ```text
//! [src/main.rs#1a2b]
//! 4:replaces line 4
//! +and continues with a second line
//! 9-12!
//! EOF↓appended
//! ```
//!
//! All numbers of a section refer to the tagged content, regardless of the operations before them. If the file has changed
//! since, the edit is carried over only if that is provably correct.

mod absorb;
mod apply;
mod mismatch;
mod ops;
mod plan;
mod recover;
mod section;
mod strip;

pub use ops::{Anchor, HashlineOp, HashlineOpKind};
pub use plan::{HashlineOptions, HashlinePlanner};
pub use section::{HashlinePatch, HashlineSection, parse};
pub use strip::strip_prefixes;

/// The reason why a patch is refused, worded for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HashlineError(pub String);

impl HashlineError {
    fn at(line: usize, problem: impl std::fmt::Display) -> Self {
        Self(format!("line {line}: {problem}"))
    }
}

#[cfg(test)]
mod tests;
