//! What the summarizing model is told, in our own words.

/// Who it is; the same for every kind of summary.
pub(crate) const SYSTEM: &str = include_str!("system.md");
/// The first summary of a conversation.
pub(crate) const SUMMARIZE: &str = include_str!("summarize.md");
/// Carries an earlier summary on.
pub(crate) const UPDATE: &str = include_str!("update.md");
/// The beginning of a turn whose end is kept.
pub(crate) const TURN_PREFIX: &str = include_str!("turn_prefix.md");
/// A line for lists and dividers.
pub(crate) const SHORT: &str = include_str!("short.md");
/// Asks for the document with which a new session takes over.
pub(crate) const HANDOFF: &str = include_str!("handoff.md");
/// A branch that is being left.
pub(crate) const BRANCH: &str = include_str!("branch.md");
