//! Quirks of chat-completions servers: detected by address, overridden by user settings.
//!
//! Unknown servers get the most conservative form, which every server accepts.

use std::collections::BTreeMap;

use omp_types::{ErrorKind, Model, ModelError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::wire::endpoint::{self, ServerVendor};

/// The `compat` of a model. Unknown keys are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Compat {
    #[serde(flatten)]
    pub request: RequestCompat,
    #[serde(flatten)]
    pub messages: MessageCompat,
    #[serde(flatten)]
    pub extras: Extras,
}

/// Differences in the fields of the body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestCompat {
    pub supports_store: bool,
    pub supports_reasoning_effort: bool,
    /// Request token counts in the stream.
    pub supports_usage_in_streaming: bool,
    /// Tools carry `strict: false`.
    pub supports_strict_mode: bool,
    /// Accepts `prompt_cache_key` and `prompt_cache_retention`.
    pub supports_prompt_cache_key: bool,
    /// Uses the server's default output limit unless a request sets one.
    pub omits_default_max_tokens: bool,
    pub max_tokens_field: MaxTokensField,
    pub thinking_format: ThinkingFormat,
    /// Maps our level names to the server's terms, in addition to the catalogue's map; may include `off`.
    pub reasoning_effort_map: BTreeMap<String, String>,
}

/// Differences in the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MessageCompat {
    /// The system prompt of a reasoning model has the role `developer`.
    pub supports_developer_role: bool,
    pub requires_tool_result_name: bool,
    /// No user message may follow a tool result directly.
    pub requires_assistant_after_tool_result: bool,
    /// Earlier thinking is sent as text, because there is no field for it.
    pub requires_thinking_as_text: bool,
    /// Call ids are nine letters and digits.
    pub requires_mistral_tool_ids: bool,
    /// Every earlier answer needs a `reasoning_content`, even an empty one.
    pub requires_reasoning_content: bool,
    /// Prefixes are cached up to `cache_control` markers, as in the Anthropic API.
    pub supports_cache_control: bool,
}

/// Fields that are passed through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Extras {
    pub open_router_routing: Map<String, Value>,
    pub vercel_gateway_routing: Map<String, Value>,
    pub extra_body: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MaxTokensField {
    MaxCompletionTokens,
    #[default]
    MaxTokens,
}

/// The field that requests thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ThinkingFormat {
    /// `reasoning_effort`
    #[default]
    Openai,
    /// `reasoning: {effort}`
    Openrouter,
    /// `thinking: {type}`
    Zai,
    /// `thinking: {type}` and `reasoning_effort`
    Deepseek,
    /// `enable_thinking`
    Qwen,
    /// `chat_template_kwargs: {enable_thinking}`
    QwenChatTemplate,
}

impl Compat {
    pub(super) fn of(model: &Model) -> Result<Self, ModelError> {
        let detected = detect(model);
        let set = match &model.compat {
            Value::Null => return Ok(detected),
            Value::Object(set) => set,
            _ => return Err(unreadable(model, "it is not a set of keys")),
        };
        let Ok(Value::Object(mut merged)) = serde_json::to_value(&detected) else { return Ok(detected) };
        merged
            .extend(set.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())));
        serde_json::from_value(Value::Object(merged)).map_err(|error| unreadable(model, &error.to_string()))
    }
}

fn unreadable(model: &Model, why: &str) -> ModelError {
    let message = format!(
        "the `compat` of model `{}` cannot be used: {why}\nhint: correct it in models.yml under `providers: {}:`",
        model.selector(),
        model.provider
    );
    ModelError::new(ErrorKind::BadRequest, message)
}

fn detect(model: &Model) -> Compat {
    let vendor = endpoint::vendor(model);
    Compat { request: detect_request(vendor), messages: detect_messages(vendor, model), extras: Extras::default() }
}

fn detect_request(vendor: ServerVendor) -> RequestCompat {
    RequestCompat {
        supports_store: vendor == ServerVendor::OpenAi,
        supports_reasoning_effort: !matches!(
            vendor,
            ServerVendor::Xai | ServerVendor::Zai | ServerVendor::Moonshot | ServerVendor::Mistral
        ),
        // Mistral always sends token counts and refuses unknown fields.
        supports_usage_in_streaming: vendor != ServerVendor::Mistral,
        supports_strict_mode: vendor == ServerVendor::OpenAi,
        supports_prompt_cache_key: vendor == ServerVendor::OpenAi,
        omits_default_max_tokens: matches!(vendor, ServerVendor::OpenAi | ServerVendor::Copilot | ServerVendor::Local),
        max_tokens_field: match vendor {
            ServerVendor::OpenAi | ServerVendor::Cerebras | ServerVendor::Groq => MaxTokensField::MaxCompletionTokens,
            _ => MaxTokensField::MaxTokens,
        },
        thinking_format: match vendor {
            ServerVendor::OpenRouter => ThinkingFormat::Openrouter,
            ServerVendor::Zai | ServerVendor::Moonshot => ThinkingFormat::Zai,
            ServerVendor::DeepSeek => ThinkingFormat::Deepseek,
            ServerVendor::Qwen => ThinkingFormat::Qwen,
            _ => ThinkingFormat::Openai,
        },
        reasoning_effort_map: BTreeMap::new(),
    }
}

fn detect_messages(vendor: ServerVendor, model: &Model) -> MessageCompat {
    let is_mistral = vendor == ServerVendor::Mistral;
    let is_claude = model.id.starts_with("anthropic/") || model.id.contains("claude");
    MessageCompat {
        supports_developer_role: vendor == ServerVendor::OpenAi,
        requires_tool_result_name: is_mistral,
        requires_assistant_after_tool_result: is_mistral,
        requires_thinking_as_text: is_mistral,
        requires_mistral_tool_ids: is_mistral,
        requires_reasoning_content: model.reasoning
            && matches!(vendor, ServerVendor::DeepSeek | ServerVendor::Moonshot),
        supports_cache_control: vendor == ServerVendor::OpenRouter && is_claude,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::Api;
    use serde_json::json;

    fn compat(base_url: &str, set: Value) -> Result<Compat, ModelError> {
        let model = Model { base_url: base_url.into(), compat: set, ..sample::model(Api::OpenaiCompletions) };
        Compat::of(&model)
    }

    #[test]
    fn what_the_user_sets_wins_over_what_was_detected() {
        let openai = compat("https://api.openai.com/v1", Value::Null).unwrap();
        assert!(openai.request.supports_store && openai.messages.supports_developer_role);
        assert_eq!(openai.request.max_tokens_field, MaxTokensField::MaxCompletionTokens);

        let set = json!({
            "supportsStore": false, "maxTokensField": "max_tokens", "supportsDeveloperRole": null, "newerKey": [1],
            "thinkingFormat": "qwen-chat-template", "reasoningEffortMap": {"off": "none"}, "extraBody": {"gateway": "m1"},
        });
        let changed = compat("https://api.openai.com/v1", set).unwrap();
        assert!(!changed.request.supports_store && changed.messages.supports_developer_role);
        assert_eq!(changed.request.max_tokens_field, MaxTokensField::MaxTokens);
        assert_eq!(changed.request.thinking_format, ThinkingFormat::QwenChatTemplate);
        assert_eq!(changed.request.reasoning_effort_map["off"], "none");
        assert_eq!(changed.extras.extra_body["gateway"], "m1");
    }

    #[test]
    fn unknown_servers_get_the_form_every_server_takes() {
        let other = compat("https://llm.example.com/v1", Value::Null).unwrap();
        assert_eq!(other.messages, MessageCompat::default());
        assert_eq!(
            other.request,
            RequestCompat {
                supports_reasoning_effort: true,
                supports_usage_in_streaming: true,
                ..RequestCompat::default()
            }
        );
    }

    #[test]
    fn a_wrong_compat_is_reported_with_the_place_to_correct_it() {
        for (set, why) in [
            (json!({"supportsStore": "yes"}), "invalid type"),
            (json!({"maxTokensField": "tokens"}), "unknown variant"),
            (json!(["supportsStore"]), "not a set of keys"),
        ] {
            let error = compat("https://llm.example.com/v1", set).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadRequest);
            assert!(error.message.contains(why) && error.message.contains("hint: "), "{error}");
        }
    }
}
