//! Documents made here, honest and hostile, through the one function there is.
#![allow(clippy::unwrap_used, reason = "tests; clippy only sees the functions marked so")]

mod books;
mod hostile;
mod made;
mod office;
mod pdf;
