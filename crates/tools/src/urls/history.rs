//! `history://`: the conversation of this session as text, also what the model no longer sees.

use std::sync::Arc;

use super::{Found, Resource};

/// Gives the conversation. Implemented by those who keep the session.
pub trait History: Send + Sync {
    fn transcript(&self) -> Result<String, String>;
}

pub struct HistoryResource(pub Arc<dyn History>);

impl Resource for HistoryResource {
    fn scheme(&self) -> &'static str {
        "history"
    }

    fn read(&self, address: &str) -> Result<Found, String> {
        if !address.trim_matches('/').is_empty() {
            return Err(format!("history://{address} does not exist\nhint: history:// is the conversation so far"));
        }
        self.0.transcript().map(Found::Text)
    }

    fn root_is_content(&self) -> bool {
        true
    }

    fn list(&self) -> Result<Vec<String>, String> {
        Ok(vec![String::new()])
    }
}
