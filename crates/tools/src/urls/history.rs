//! `history://`: the conversation of this session as text, including parts that the model no longer sees.
//! `history://<first>..<last>` is a range of entries, `history://<id>` one entry; summaries use these addresses for what
//! they replace.

use std::sync::Arc;

use super::{Resource, UrlContent};

/// Provides the conversation. Implemented by the owner of the session.
pub trait History: Send + Sync {
    fn transcript(&self) -> Result<String, String>;

    /// Returns the conversation from one entry to another, both included.
    fn span(&self, first: &str, last: &str) -> Result<String, String> {
        Err(format!("there is no entry {first}..{last} in this session"))
    }
}

pub struct HistoryResource(pub Arc<dyn History>);

impl Resource for HistoryResource {
    fn scheme(&self) -> &'static str {
        "history"
    }

    fn read(&self, address: &str) -> Result<UrlContent, String> {
        let address = address.trim_matches('/');
        if address.is_empty() {
            return self.0.transcript().map(UrlContent::Text);
        }
        let (first, last) = address.split_once("..").unwrap_or((address, address));
        let found = self.0.span(first, last).map(UrlContent::Text);
        found.map_err(|why| {
            format!("history://{address} does not exist: {why}\nhint: history:// is the whole conversation")
        })
    }

    fn root_is_content(&self) -> bool {
        true
    }

    fn list(&self) -> Result<Vec<String>, String> {
        Ok(vec![String::new()])
    }
}
