//! The ledger: what the user said, word by word, through every compaction.

use serde_json::{Value, json};

use super::cut::Entry;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ledger {
    items: Vec<Item>,
}

/// One message of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub entry: String,
    pub text: String,
}

impl Ledger {
    /// As the previous compaction of this branch left it.
    pub fn from_details(details: Option<&Value>) -> Self {
        let _ = details;
        Self::default()
    }

    /// Takes in what the user said in entries that leave the context.
    pub fn note(&mut self, entries: &[Entry]) {
        let _ = entries;
    }

    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// For the summary message; empty when the user said nothing.
    pub fn text(&self) -> String {
        String::new()
    }

    /// An object to be merged into a compaction's details.
    pub fn to_details(&self) -> Value {
        json!({})
    }
}
