//! The body of a responses request: constant parts first, the input last.

use std::borrow::Cow;

use omp_types::{CacheRetention, ModelError, Request, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value};

use super::input::{InputItem, NAME_LIMIT, input};
use crate::wire::endpoint::{self, ServerVendor};
use crate::wire::{effort, history, json, schema};

const CACHE_KEY_LIMIT: usize = 64;

#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningParam<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_retention: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ResponsesToolChoice<'a>>,
    #[serde(flatten)]
    extra: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ResponsesTool<'a>>,
    input: Vec<InputItem<'a>>,
}

#[derive(Serialize)]
struct ReasoningParam<'a> {
    effort: &'a str,
    summary: &'static str,
}

#[derive(Serialize)]
struct ResponsesToolChoice<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: Cow<'a, str>,
}

/// Without `strict: false` the server would make every parameter required.
#[derive(Serialize)]
struct ResponsesTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: Cow<'a, str>,
    description: &'a str,
    parameters: Value,
    strict: bool,
}

pub(super) fn body(request: &Request) -> Result<Vec<u8>, ModelError> {
    let model = &*request.model;
    let effort = effort::word(model, request.thinking).filter(|_| model.reasoning);
    let long = request.cache == CacheRetention::Long && endpoint::vendor(model) == ServerVendor::OpenAi;
    let body = ResponsesBody {
        model: &model.id,
        stream: true,
        store: false,
        include: model.reasoning.then_some(["reasoning.encrypted_content"]),
        reasoning: effort.map(|effort| ReasoningParam { effort, summary: "auto" }),
        max_output_tokens: request.max_tokens,
        prompt_cache_key: request.session_id.as_deref().map(|id| history::portable_id(id, CACHE_KEY_LIMIT)),
        prompt_cache_retention: long.then_some("24h"),
        service_tier: endpoint::service_tier(request),
        tool_choice: tool_choice(request),
        extra: extra_body(request),
        tools: request.tools.iter().map(tool).collect(),
        input: input(request),
    };
    json::write(&body)
}

/// Returns `compat.extraBody` without the fields that this program sets: duplicate fields would be invalid JSON.
fn extra_body(request: &Request) -> Map<String, Value> {
    const OWN: [&str; 11] = [
        "model",
        "stream",
        "store",
        "include",
        "reasoning",
        "max_output_tokens",
        "prompt_cache_key",
        "prompt_cache_retention",
        "tool_choice",
        "tools",
        "input",
    ];
    let set = request.model.compat.get("extraBody").and_then(Value::as_object);
    let has_tier = endpoint::service_tier(request).is_some();
    let is_own = |key: &str| OWN.contains(&key) || (has_tier && key == "service_tier");
    let extra = set.into_iter().flatten().filter(|(key, _)| !is_own(key));
    extra.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn tool_choice(request: &Request) -> Option<ResponsesToolChoice<'_>> {
    let name = request.terms.tool.as_deref()?;
    Some(ResponsesToolChoice { kind: "function", name: history::portable_id(name, NAME_LIMIT) })
}

fn tool(tool: &ToolSpec) -> ResponsesTool<'_> {
    let name = history::portable_id(&tool.name, NAME_LIMIT);
    let mut parameters = schema::parameters(tool);
    rename_one_of(&mut parameters);
    ResponsesTool { kind: "function", name, description: &tool.description, parameters, strict: false }
}

/// Renames `oneOf` to `anyOf`, because the API supports only the latter.
fn rename_one_of(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            // A parameter may itself be named `oneOf`; then its value is a schema, not a list.
            if map.get("oneOf").is_some_and(Value::is_array)
                && !map.contains_key("anyOf")
                && let Some(choices) = map.shift_remove("oneOf")
            {
                map.insert("anyOf".to_owned(), choices);
            }
            map.values_mut().for_each(rename_one_of);
        }
        Value::Array(list) => list.iter_mut().for_each(rename_one_of),
        _ => {}
    }
}
