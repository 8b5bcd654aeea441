//! One chunk of a chat stream, borrowed from the event.

use omp_types::{Prices, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::json::Text;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub choices: Option<Vec<Choice<'a>>>,
    pub usage: Option<TokenCounts>,
    pub x_groq: Option<Groq>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    /// `error` in the older format of vLLM, with `message` next to it.
    #[serde(borrow)]
    pub object: Option<Text<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Groq {
    pub usage: Option<TokenCounts>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    /// Servers that do not stream put the whole message here.
    #[serde(borrow)]
    pub message: Option<Delta<'a>>,
    #[serde(borrow)]
    pub finish_reason: Option<Text<'a>>,
    pub usage: Option<TokenCounts>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
}

/// Raw fields are a string, a list of parts, or an object, depending on the server.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    pub reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    pub reasoning_text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub tool_calls: Option<Vec<CallDelta<'a>>>,
    #[serde(borrow)]
    pub function_call: Option<FunctionDelta<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CallDelta<'a> {
    pub index: Option<i64>,
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub function: Option<FunctionDelta<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

/// A part of a content that is not a plain string.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ContentPart {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: Vec<ContentPart>,
    },
    #[serde(other)]
    Unknown,
}

/// An encrypted thought that belongs to a call.
#[derive(Deserialize)]
pub(super) struct ReasoningDetail<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub data: Option<Text<'a>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenCounts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's and Moonshot's names for cached tokens.
    prompt_cache_hit_tokens: Option<u64>,
    cached_tokens: Option<u64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl TokenCounts {
    /// Returns `None` for the empty counts that some servers send with every chunk.
    pub(super) fn usage(self, prices: &Prices) -> Option<Usage> {
        let (prompt, completion) = (self.prompt_tokens.unwrap_or(0), self.completion_tokens.unwrap_or(0));
        if prompt == 0 && completion == 0 {
            return None;
        }
        let details = self.prompt_tokens_details.unwrap_or_default();
        let cached = details.cached_tokens.or(self.prompt_cache_hit_tokens).or(self.cached_tokens).unwrap_or(0);
        let cache_read = cached.min(prompt);
        let cache_write = details.cache_write_tokens.unwrap_or(0).min(prompt - cache_read);
        let reasoning = self.completion_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or(0);
        // Most servers include thinking in the completion count; the total identifies the few that count it separately.
        let beside = reasoning > 0 && self.total_tokens == Some(prompt + completion + reasoning);
        let usage = Usage {
            input: prompt - cache_read - cache_write,
            output: if beside { completion + reasoning } else { completion },
            cache_read,
            cache_write,
            ..Usage::default()
        };
        Some(usage.priced(prices))
    }
}
