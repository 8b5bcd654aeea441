//! A conversation that the provider has shortened itself: items that only it can read, sent again as they came.

use futures_core::future::BoxFuture;
use serde_json::{Value, json};

use crate::error::ModelError;
use crate::message::{AssistantMessage, Message};
use crate::model::Model;

/// Where a compaction keeps the items, in its `preserveData`.
pub const SHORTENED_BY_PROVIDER: &str = "openaiRemoteCompaction";

/// The request on its way; dropping it cancels the request.
pub type Shortening = BoxFuture<'static, Result<Shortened, ModelError>>;

#[derive(Clone, Debug, PartialEq)]
pub struct Shortened {
    /// Stand for the whole conversation that was sent.
    pub items: Vec<Value>,
    /// The one among them that holds what the provider has made of it.
    pub item: Value,
    /// Says nothing; tells what it has cost.
    pub answer: AssistantMessage,
}

impl Shortened {
    /// As it is kept in the session's file. `beside` is told the model after the items.
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

/// The items that a message stands for, where `model` can read them, and the text beside them.
///
/// Files of other programs name no model; then the provider decides.
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
