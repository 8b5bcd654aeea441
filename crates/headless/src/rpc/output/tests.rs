//! The queue with readers that stop.
