//! Everything that outlives a compaction beside its summary: in the entry's details as data, in its summary as text.

use serde_json::{Value, json};

use super::evicted::Evicted;
use super::files::FileOps;
use super::ledger::Ledger;

/// What survives word by word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survivors {
    pub files: FileOps,
    pub ledger: Ledger,
    pub evicted: Evicted,
}

impl Survivors {
    /// From the details of the previous compaction of this branch.
    pub fn from_details(details: Option<&Value>) -> Self {
        Self {
            files: FileOps::from_details(details),
            ledger: Ledger::from_details(details),
            evicted: Evicted::from_details(details),
        }
    }

    pub fn to_details(&self) -> Value {
        json!({})
    }
}

/// The summary as it is stored and told to the model.
pub(crate) fn compose(history: &str, turn_prefix: Option<&str>, survivors: &Survivors) -> String {
    let _ = (turn_prefix, survivors);
    history.to_owned()
}

/// A stored summary without the tags that are made anew by each compaction.
pub(crate) fn strip_tags(summary: &str) -> String {
    summary.to_owned()
}
