//! What the user trusts: folders, and which of their items may run.
//!
//! A folder is trusted by its real path and its identity on disk, together with exactly the items it would have run at that
//! time: a changed or added command asks again. Trust is never inherited: neither by folders below or beside it, nor by a
//! copy, a worktree, a submodule or a replacement folder.

mod decision;
mod folder;
mod item;
mod item_files;
mod never;
mod project_rules;
mod store;
#[cfg(test)]
mod tests;

pub use decision::{RunPins, TrustDecision, TrustState};
pub use item::{Item, ItemKind, items_of, run_lines};
pub use never::{NeverTaken, never_taken};
pub use project_rules::ProjectRules;
pub use store::{Trust, TrustError, TrustedFolder};
