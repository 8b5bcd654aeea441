//! The state that a resumed session restores from its file.

use omp_store::Context;
use omp_types::Message;
use serde_json::Value;

/// The state left by earlier runs. The default is that of a new session.
#[derive(Clone, Debug, Default)]
pub struct Resumed {
    /// The conversation as loaded; it may be invalid.
    pub messages: Vec<Message>,
    /// Stream rules that the model was notified of.
    pub injected_rules: Vec<String>,
    /// The data of the [`crate::QUARANTINE_ENTRY`] entries: blocks that providers have refused.
    pub quarantined: Vec<Value>,
    /// The data of the `BLANKED_ENTRY` entries: tool output that was removed.
    pub blanked: Vec<Value>,
    /// The mode of the session.
    pub mode: Option<String>,
}

impl From<Vec<Message>> for Resumed {
    fn from(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }
}

impl From<Context> for Resumed {
    fn from(context: Context) -> Self {
        let Context { messages, injected_rules, mode, .. } = context;
        Self { messages, injected_rules, mode, ..Self::default() }
    }
}
