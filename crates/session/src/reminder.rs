//! What is said to the model without anybody asking: after a call, or when it wants to stop.

use std::sync::Arc;

use omp_agent::ToolOutcome;
use omp_types::{Content, CustomMessage, Message, now_ms};
use serde_json::Value;

use crate::event::Reminded;

/// Watches a run and may speak up. What it says is hidden from the user and kept in the file.
pub trait Reminder: Send + Sync {
    /// A person has said something.
    fn prompted(&self) {}

    /// Said together with a prompt, before it.
    fn with_prompt(&self) -> Option<Said> {
        None
    }

    /// Said together with the results of the turn.
    fn after_call(&self, _outcome: &ToolOutcome) -> Option<Said> {
        None
    }

    /// Said to a model that has nothing more to do, which then goes on.
    fn before_finish(&self) -> Option<Said> {
        None
    }
}

/// A reminder, and what front ends are told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub custom_type: String,
    pub text: String,
    pub event: Option<Reminded>,
}

impl Said {
    pub(crate) fn into_message(self) -> Arc<Message> {
        hidden(self.custom_type, self.text, None)
    }
}

/// A message for the model that no person wrote and no person is shown.
pub(crate) fn hidden(custom_type: impl Into<String>, text: impl Into<String>, details: Option<Value>) -> Arc<Message> {
    Arc::new(Message::Custom(CustomMessage {
        custom_type: custom_type.into(),
        content: vec![Content::text(text)],
        display: false,
        details,
        timestamp: now_ms(),
    }))
}
