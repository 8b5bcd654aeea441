//! A conversation that the provider compacted itself: items that only the provider can read, sent back unchanged.

use futures_core::future::BoxFuture;
use serde_json::{Value, json};

use crate::error::ModelError;
use crate::message::{AssistantMessage, Message};
use crate::model::Model;

/// The key of the items in the `preserveData` of a compaction.
pub const SHORTENED_BY_PROVIDER: &str = "openaiRemoteCompaction";

/// The running request; dropping it cancels the request.
pub type Shortening = BoxFuture<'static, Result<Shortened, ModelError>>;

#[derive(Clone, Debug, PartialEq)]
pub struct Shortened {
    /// Replace the whole conversation that was sent.
    pub items: Vec<Value>,
    /// The item among them that holds the provider's compaction.
    pub item: Value,
    /// Contains no text, only the usage.
    pub answer: AssistantMessage,
}

impl Shortened {
    /// Returns the form stored in the session file. `beside` is shown to the model after the items.
    pub fn to_preserve(&self, model: &Model, beside: &str) -> Value {
        json!({
            "provider": model.provider,
            "model": model.id,
            "replacementHistory": self.items,
            "compactionItem": self.item,
            "beside": beside,
        })
    }
}

/// Returns the items of a message if `model` can read them, and the text after them.
///
/// Files of other programs name no model; then the provider must match.
pub fn shortened_items<'a>(message: &'a Message, model: &Model) -> Option<(&'a [Value], Option<&'a str>)> {
    let Message::Custom(custom) = message else { return None };
    let kept = custom.details.as_ref()?.get("preserveData")?.get(SHORTENED_BY_PROVIDER)?;
    let text = |name: &str| kept.get(name).and_then(Value::as_str);
    if text("provider") != Some(&model.provider) || text("model").is_some_and(|id| id != model.id) {
        return None;
    }
    let items = kept.get("replacementHistory")?.as_array().filter(|items| !items.is_empty())?;
    Some((items, text("beside").filter(|text| !text.trim().is_empty())))
}
