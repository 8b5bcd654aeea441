//! The body of a chat request: constant parts first, the messages last.

use std::borrow::Cow;

use omp_types::{CacheRetention, ModelError, Request, ThinkingLevel, ToolSpec};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::compat::{Compat, MaxTokensField, RequestCompat, ThinkingFormat};
use super::messages::{ChatMessage, NAME_LIMIT, messages};
use crate::wire::{effort, endpoint, history, json, schema};

/// Default output limit. Servers count it against the context window, so the model's maximum would leave no room for the
/// conversation.
const DEFAULT_MAX_TOKENS: u64 = 32_000;

/// Fields that `extraBody` may not replace: without them the answer could not be decoded.
const FIXED: [&str; 3] = ["stream", "tools", "messages"];

pub(super) fn body(request: &Request, compat: &Compat) -> Result<Vec<u8>, ModelError> {
    let body = CompletionsBody {
        head: head(request, compat),
        tools: &request.tools,
        strict: compat.request.supports_strict_mode,
        messages: messages(request, &compat.messages),
    };
    json::write(&body)
}

struct CompletionsBody<'a> {
    head: Map<String, Value>,
    tools: &'a [ToolSpec],
    strict: bool,
    messages: Vec<ChatMessage<'a>>,
}

impl Serialize for CompletionsBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        for (key, value) in &self.head {
            body.serialize_entry(key, value)?;
        }
        if !self.tools.is_empty() {
            let strict = self.strict.then_some(false);
            let tools: Vec<_> = self.tools.iter().map(|tool| CompletionsTool::new(tool, strict)).collect();
            body.serialize_entry("tools", &tools)?;
        }
        body.serialize_entry("messages", &self.messages)?;
        body.end()
    }
}

#[derive(Serialize)]
struct CompletionsTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    parameters: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

impl<'a> CompletionsTool<'a> {
    fn new(tool: &'a ToolSpec, strict: Option<bool>) -> Self {
        let name = history::portable_id(&tool.name, NAME_LIMIT);
        let parameters = schema::parameters(tool);
        Self { kind: "function", function: Function { name, description: &tool.description, parameters, strict } }
    }
}

fn head(request: &Request, compat: &Compat) -> Map<String, Value> {
    let mut head = Map::new();
    let mut set = |key: &str, value: Value| {
        head.insert(key.to_owned(), value);
    };
    set("model", request.model.id.as_str().into());
    set("stream", true.into());
    if compat.request.supports_usage_in_streaming {
        set("stream_options", json!({"include_usage": true}));
    }
    if compat.request.supports_store {
        set("store", false.into());
    }
    if let Some(limit) = max_tokens(request, &compat.request) {
        set(max_tokens_field(&compat.request), limit.into());
    }
    if compat.request.supports_prompt_cache_key {
        if let Some(session) = &request.session_id {
            set("prompt_cache_key", session.chars().take(64).collect::<String>().into());
        }
        if request.cache == CacheRetention::Long {
            set("prompt_cache_retention", "24h".into());
        }
    }
    if let Some(tool) = &request.terms.tool {
        let name = history::portable_id(tool, NAME_LIMIT);
        set("tool_choice", json!({"type": "function", "function": {"name": name}}));
    }
    if let Some(tier) = endpoint::service_tier(request) {
        set("service_tier", tier.into());
    }
    thinking(request, &compat.request, &mut set);
    let extras = &compat.extras;
    if !extras.open_router_routing.is_empty() {
        set("provider", extras.open_router_routing.clone().into());
    }
    if !extras.vercel_gateway_routing.is_empty() {
        set("providerOptions", json!({"gateway": extras.vercel_gateway_routing}));
    }
    for (key, value) in extras.extra_body.iter().filter(|(key, _)| !FIXED.contains(&key.as_str())) {
        set(key, value.clone());
    }
    head
}

fn max_tokens_field(compat: &RequestCompat) -> &'static str {
    match compat.max_tokens_field {
        MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        MaxTokensField::MaxTokens => "max_tokens",
    }
}

fn max_tokens(request: &Request, compat: &RequestCompat) -> Option<u64> {
    let limit = request.model.max_tokens;
    match request.max_tokens {
        Some(asked) if limit > 0 => Some(asked.min(limit)),
        Some(asked) => Some(asked),
        None if compat.omits_default_max_tokens || limit == 0 => None,
        None => Some(limit.min(DEFAULT_MAX_TOKENS)),
    }
}

fn thinking(request: &Request, compat: &RequestCompat, set: &mut impl FnMut(&str, Value)) {
    let model = &*request.model;
    if !model.reasoning {
        return;
    }
    let on = request.thinking != ThinkingLevel::Off;
    let effort = effort_word(request, compat);
    // Disabling thinking is an error for models that always think.
    let can_switch = on || !effort::always_on(model);
    let switch = || json!({"type": if on { "enabled" } else { "disabled" }});
    match compat.thinking_format {
        ThinkingFormat::Openai => {
            if let Some(effort) = effort.filter(|_| compat.supports_reasoning_effort) {
                set("reasoning_effort", effort.into());
            }
        }
        ThinkingFormat::Openrouter if can_switch => set("reasoning", json!({"effort": effort.unwrap_or("none")})),
        ThinkingFormat::Zai if can_switch => set("thinking", switch()),
        ThinkingFormat::Deepseek if can_switch => {
            set("thinking", switch());
            if let Some(effort) = effort.filter(|_| compat.supports_reasoning_effort) {
                set("reasoning_effort", effort.into());
            }
        }
        ThinkingFormat::Qwen if can_switch => set("enable_thinking", on.into()),
        ThinkingFormat::QwenChatTemplate if can_switch => {
            set("chat_template_kwargs", json!({"enable_thinking": on}));
        }
        _ => {}
    }
}

/// Returns the user's term for the level, else the catalogue's. Off has a term only if the user set one.
fn effort_word<'a>(request: &'a Request, compat: &'a RequestCompat) -> Option<&'a str> {
    let own = |word: &str| compat.reasoning_effort_map.get(word).map(String::as_str);
    own(request.thinking.as_str()).or_else(|| {
        let word = effort::word(&request.model, request.thinking)?;
        own(word).or(Some(word))
    })
}
