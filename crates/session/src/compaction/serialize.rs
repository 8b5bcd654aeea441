//! The conversation as one text for the model that summarizes it.

use std::sync::Arc;

use omp_types::Message;

pub(crate) fn serialize(messages: &[Arc<Message>]) -> String {
    let _ = messages;
    String::new()
}
