//! tree-sitter: outlines, structural search and rewriting, parse errors.
//!
//! Everything is bounded: files over [`MAX_SOURCE`] are refused, parsing ends after [`PARSE_TIME`].

mod language;
mod outline;
mod parse;
mod problem;
mod query;
mod rewrite;

pub use language::Language;
pub use outline::{Outline, OutlineLimits, Segment, outline};
pub use parse::{MAX_SOURCE, PARSE_TIME, ParseError};
pub use problem::{SyntaxError, first_error};
pub use query::{Capture, Code, Match, QueryError, QueryMatches, SearchLimits, Strictness, SyntaxQuery};
pub use rewrite::{Edit, Rewrite, RewriteError, Rewritten, rewrite};
