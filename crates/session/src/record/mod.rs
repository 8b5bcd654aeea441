//! What a session writes into its file and takes up from it, and what is kept out of it.

pub(crate) mod recorder;
pub(crate) mod resumed;
pub(crate) mod secrets;
pub(crate) mod stripped;
