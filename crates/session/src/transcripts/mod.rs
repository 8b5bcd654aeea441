//! What was said, read back: as text, as a tree, in numbers, and as it may be sent again.

pub(crate) mod branch_points;
pub(crate) mod conversation;
pub(crate) mod history;
pub(crate) mod stats;
mod transcript;
pub(crate) mod tree;
