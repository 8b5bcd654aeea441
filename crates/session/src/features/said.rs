//! Messages that the program adds for the model. They are hidden from the user and stored in the file.

use std::sync::Arc;

use omp_types::{Content, CustomMessage, Message, now_ms};
use serde_json::Value;

use crate::event::Reminded;

/// A feature's message for the model, and the event for front ends.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMessage {
    pub custom_type: String,
    pub text: String,
    pub details: Option<Value>,
    pub event: Option<Reminded>,
}

impl FeatureMessage {
    pub fn new(custom_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self { custom_type: custom_type.into(), text: text.into(), details: None, event: None }
    }

    #[must_use]
    pub fn with_details(self, details: Value) -> Self {
        Self { details: Some(details), ..self }
    }

    #[must_use]
    pub fn with_event(self, event: Reminded) -> Self {
        Self { event: Some(event), ..self }
    }

    pub(crate) fn into_message(self) -> Arc<Message> {
        hidden(self.custom_type, self.text, self.details)
    }
}

/// A message for the model that the program wrote and that is not shown to the user.
pub(crate) fn hidden(custom_type: impl Into<String>, text: impl Into<String>, details: Option<Value>) -> Arc<Message> {
    Arc::new(Message::Custom(CustomMessage {
        custom_type: custom_type.into(),
        content: vec![Content::text(text)],
        display: false,
        details,
        timestamp: now_ms(),
    }))
}
