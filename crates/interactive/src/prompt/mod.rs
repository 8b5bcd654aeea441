//! The field that messages are written in, with everything that helps to write them.

mod typed;

pub use typed::{Typed, typed, unknown_command};
