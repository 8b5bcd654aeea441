//! What a session's file brings to a session that goes on with it.

use omp_store::Context;
use omp_types::Message;
use serde_json::Value;

/// What earlier runs have left behind. The usual one is that of a new session: nothing.
#[derive(Clone, Debug, Default)]
pub struct Resumed {
    /// The conversation as it was loaded; it need not be valid.
    pub messages: Vec<Message>,
    /// Stream rules that the model was told of.
    pub injected_rules: Vec<String>,
    /// The data of the [`crate::QUARANTINE_ENTRY`] entries: what providers have refused.
    pub quarantined: Vec<Value>,
    /// The data of the [`crate::BLANKED_ENTRY`] entries: tool output that was taken out.
    pub blanked: Vec<Value>,
    /// The mode it was in.
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
