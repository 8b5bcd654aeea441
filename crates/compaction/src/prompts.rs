//! Prompts of the summarizing model.

/// System prompt for every kind of summary.
pub(crate) const SYSTEM: &str = include_str!("system.md");
/// Prompt for the first summary of a conversation.
pub(crate) const SUMMARIZE: &str = include_str!("summarize.md");
/// Prompt for updating an earlier summary.
pub(crate) const UPDATE: &str = include_str!("update.md");
/// Prompt for the start of a turn whose end is kept.
pub(crate) const TURN_PREFIX: &str = include_str!("turn_prefix.md");
/// Prompt for a one-line summary for lists and dividers.
pub(crate) const SHORT: &str = include_str!("short.md");
/// Prompt for the document with which a new session takes over.
pub(crate) const HANDOFF: &str = include_str!("handoff.md");
/// Prompt for a branch that is being abandoned.
pub(crate) const BRANCH: &str = include_str!("branch.md");
