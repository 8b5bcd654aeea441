//! Tests with generated documents, valid and malicious, through the public function.
#![allow(clippy::unwrap_used, reason = "tests; clippy only sees the functions marked so")]

mod books;
mod hostile;
mod made;
mod office;
mod pdf;
