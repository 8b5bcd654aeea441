//! Compares.
