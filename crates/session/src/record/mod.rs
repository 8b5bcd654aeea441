//! What a session writes to its file, restores from it, and keeps out of it.

pub(crate) mod recorder;
pub(crate) mod resumed;
pub(crate) mod secrets;
pub(crate) mod stripped;
