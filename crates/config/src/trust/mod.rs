//! What the user trusts: which folders, and what of them may run.
//!
//! A folder is trusted by its real path and its identity on disk, and with it exactly what it would have run at that time:
//! a command that was changed or added since asks again. Trust is never inherited: neither by folders below or beside it,
//! nor by a copy, a worktree or a submodule, nor by whatever takes its place.

mod decision;
mod folder;
mod item;
mod item_files;
mod never;
mod store;
#[cfg(test)]
mod tests;

pub use decision::{RunPins, TrustDecision, TrustState};
pub use item::{Item, ItemKind, items_of, run_lines};
pub use never::{NeverTaken, never_taken};
pub use store::{Trust, TrustError, TrustedFolder};
