//! Frames that make no sense.
