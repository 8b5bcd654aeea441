//! Reads conversations: as text, as a tree, as statistics, and in the form to be sent again.

pub(crate) mod branch_points;
mod calls;
pub(crate) mod conversation;
pub(crate) mod history;
pub(crate) mod stats;
mod transcript;
pub(crate) mod tree;
