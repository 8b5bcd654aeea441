//! Scripted talks in plain mode.
