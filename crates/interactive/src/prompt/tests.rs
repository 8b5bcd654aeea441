//! Keys in, screens and submissions out.
