//! One event of a responses stream, borrowed from its text.

use omp_types::{Prices, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::json::Text;

/// The fields of all events together; raw ones differ in type between events.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Option<Text<'a>>,
    pub output_index: Option<i64>,
    #[serde(borrow)]
    pub item_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub delta: Option<&'a RawValue>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub call_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub phase: Option<Text<'a>>,
    #[serde(borrow)]
    pub content: Option<Vec<Part<'a>>>,
    #[serde(borrow)]
    pub summary: Option<Vec<Part<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub text: Option<Text<'a>>,
    #[serde(borrow)]
    pub refusal: Option<Text<'a>>,
}

impl Item<'_> {
    /// Returns the whole text of a message.
    pub(super) fn text(&self) -> String {
        let parts = self.content.iter().flatten();
        parts.filter_map(|part| part.text.as_deref().or(part.refusal.as_deref())).collect()
    }

    /// Returns the whole thinking: the summary, or the thinking itself if the server shows it.
    pub(super) fn thinking(&self) -> String {
        let texts = |parts: &Option<Vec<Part<'_>>>| {
            let texts = parts.iter().flatten().filter_map(|part| part.text.as_deref()).collect::<Vec<_>>();
            texts.join("\n\n")
        };
        let summary = texts(&self.summary);
        if summary.is_empty() { texts(&self.content) } else { summary }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub status: Option<Text<'a>>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub incomplete_details: Option<IncompleteDetails<'a>>,
    pub usage: Option<TokenCounts>,
    #[serde(borrow)]
    pub output: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct IncompleteDetails<'a> {
    #[serde(borrow)]
    pub reason: Option<Text<'a>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenCounts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
}

impl TokenCounts {
    pub(super) fn usage(self, prices: &Prices) -> Usage {
        let input = self.input_tokens.unwrap_or(0);
        let cached = self.input_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0).min(input);
        let usage = Usage {
            input: input - cached,
            output: self.output_tokens.unwrap_or(0),
            cache_read: cached,
            ..Usage::default()
        };
        usage.priced(prices)
    }
}
