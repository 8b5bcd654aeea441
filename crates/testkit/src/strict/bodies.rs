//! The rules of each service for a body.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{ServiceRefusal, schemas};

type Checked = Result<(), ServiceRefusal>;
type JsonBody = Map<String, Value>;

pub fn anthropic(body: &JsonBody) -> Checked {
    text(body, "model")?;
    let limit = body.get("max_tokens").and_then(Value::as_u64).filter(|limit| *limit > 0);
    let limit = limit.ok_or_else(|| ServiceRefusal::bad("max_tokens: Field required"))?;
    if let Some(budget) = body.get("thinking").and_then(|it| it.get("budget_tokens")).and_then(Value::as_u64) {
        if budget < 1024 {
            return Err(ServiceRefusal::bad("thinking.budget_tokens: Input should be greater than or equal to 1024"));
        }
        if budget >= limit {
            return Err(ServiceRefusal::bad("`max_tokens` must be greater than `thinking.budget_tokens`"));
        }
    }
    let marks = Value::Object(body.clone()).to_string().matches("\"cache_control\"").count();
    if marks > 4 {
        return Err(ServiceRefusal::bad(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {marks}."
        )));
    }
    let tools = list(body, "tools");
    names(tools.iter().map(|tool| &tool["name"]), 128, "tools")?;
    for tool in tools {
        schemas::check(&tool["input_schema"], "tools.input_schema")?;
        schemas::check_names(&tool["input_schema"], "tools.input_schema")?;
    }
    let messages = filled(body, "messages")?;
    if messages[0]["role"] != "user" {
        return Err(ServiceRefusal::bad("messages: first message must use the \"user\" role"));
    }
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !["user", "assistant"].contains(&role) {
            return Err(ServiceRefusal::bad(format!("messages.{at}.role: Input should be 'user' or 'assistant'")));
        }
        let Value::Array(blocks) = &message["content"] else { continue };
        if blocks.is_empty() {
            return Err(ServiceRefusal::bad(format!("messages.{at}: all messages must have non-empty content")));
        }
        for block in blocks {
            anthropic_block(at, block, &mut ids)?;
        }
    }
    if messages.last().is_some_and(|last| last["role"] == "assistant") && body.contains_key("thinking") {
        return Err(ServiceRefusal::bad("the conversation must end with a user message when thinking is enabled"));
    }
    Ok(())
}

fn anthropic_block(at: usize, block: &Value, ids: &mut HashSet<String>) -> Checked {
    match block["type"].as_str().unwrap_or_default() {
        "text" if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {
            Err(ServiceRefusal::bad(format!("messages.{at}: text content blocks must contain non-whitespace text")))
        }
        "thinking" if block["signature"].as_str().is_none_or(str::is_empty) => {
            Err(ServiceRefusal::bad(format!("messages.{at}: Invalid `signature` in `thinking` block")))
        }
        "tool_use" => {
            call_id(&block["id"], 64, ids).map_err(|why| ServiceRefusal::bad(format!("messages.{at}.id: {why}")))
        }
        "tool_result" => {
            let inner = block["content"].as_array().into_iter().flatten();
            for inner in inner {
                anthropic_block(at, inner, ids)?;
            }
            Ok(())
        }
        "image" => {
            const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
            let source = &block["source"];
            picture(&source["data"], source["media_type"].as_str().unwrap_or_default(), &TYPES)
        }
        _ => Ok(()),
    }
}

pub fn completions(body: &JsonBody) -> Checked {
    text(body, "model")?;
    let tools = list(body, "tools");
    names(tools.iter().map(|tool| &tool["function"]["name"]), 64, "tools")?;
    for tool in tools {
        schemas::check(&tool["function"]["parameters"], "function.parameters")?;
    }
    if body.contains_key("max_tokens") && body.contains_key("max_completion_tokens") {
        return Err(ServiceRefusal::bad(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        ));
    }
    effort(body.get("reasoning_effort"))?;
    let mut ids = HashSet::new();
    for (at, message) in filled(body, "messages")?.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
            return Err(ServiceRefusal::bad(format!("Invalid value: '{role}' in messages[{at}].role")));
        }
        let calls = message["tool_calls"].as_array();
        if calls.is_some_and(Vec::is_empty) {
            return Err(ServiceRefusal::bad(format!("[] is too short - 'messages.{at}.tool_calls'")));
        }
        if message["content"].is_null() && calls.is_none() {
            return Err(ServiceRefusal::bad(format!(
                "Invalid value for 'content': expected a string, got null ({at})."
            )));
        }
        for call in calls.into_iter().flatten() {
            call_id(&call["id"], 40, &mut ids)
                .map_err(|why| ServiceRefusal::bad(format!("messages[{at}].tool_calls: {why}")))?;
            arguments(&call["function"]["arguments"])?;
        }
        for part in message["content"].as_array().into_iter().flatten() {
            if part["type"] == "image_url" {
                data_url(&part["image_url"]["url"])?;
            }
        }
    }
    Ok(())
}

pub fn responses(body: &JsonBody) -> Checked {
    text(body, "model")?;
    let tools = list(body, "tools");
    names(tools.iter().map(|tool| &tool["name"]), 64, "tools")?;
    for tool in tools {
        schemas::check(&tool["parameters"], "tools.parameters")?;
    }
    effort(body.get("reasoning").and_then(|reasoning| reasoning.get("effort")))?;
    if body.get("prompt_cache_key").and_then(Value::as_str).is_some_and(|key| key.len() > 64) {
        return Err(ServiceRefusal::bad(
            "Invalid 'prompt_cache_key': string too long. Expected a maximum of 64 characters.",
        ));
    }
    if body.get("input").is_some_and(Value::is_string) {
        return Ok(());
    }
    let (mut ids, mut item_ids) = (HashSet::new(), HashSet::new());
    for (at, item) in filled(body, "input")?.iter().enumerate() {
        if let Some(id) = item["id"].as_str()
            && !item_ids.insert(id.to_owned())
        {
            return Err(ServiceRefusal::bad(format!("Duplicate item found with id {id}.")));
        }
        if item["type"] == "function_call" {
            call_id(&item["call_id"], 64, &mut ids)
                .map_err(|why| ServiceRefusal::bad(format!("input[{at}].call_id: {why}")))?;
            arguments(&item["arguments"])?;
        }
        let parts = [&item["content"], &item["output"]].into_iter().filter_map(Value::as_array).flatten();
        for part in parts {
            if part["type"] == "input_image" {
                data_url(&part["image_url"])?;
            }
        }
    }
    Ok(())
}

pub fn google(body: &JsonBody) -> Checked {
    const TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
    let body = &in_camel_case(body);
    let declarations: Vec<&Value> = list(body, "tools")
        .iter()
        .flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten())
        .collect();
    names(declarations.iter().map(|function| &function["name"]), 64, "tools.function_declarations")?;
    for function in declarations {
        if let Some(parameters) = function.get("parameters") {
            schemas::check_google(parameters, "function_declarations.parameters")?;
        }
    }
    for (at, content) in filled(body, "contents")?.iter().enumerate() {
        if !["user", "model"].contains(&content["role"].as_str().unwrap_or_default()) {
            return Err(ServiceRefusal::bad("Please use a valid role: user, model."));
        }
        let parts = content["parts"].as_array().filter(|parts| !parts.is_empty());
        let parts = parts.ok_or_else(|| {
            ServiceRefusal::bad(format!("contents[{at}].parts: must include at least one parts field"))
        })?;
        for part in parts {
            let kinds = ["text", "inlineData", "functionCall", "functionResponse", "fileData"];
            if kinds.iter().filter(|kind| part.get(**kind).is_some()).count() != 1 {
                return Err(ServiceRefusal::bad(format!(
                    "contents[{at}].parts: required oneof field 'data' must have one value"
                )));
            }
            if let Some(data) = part.get("inlineData") {
                picture(&data["data"], data["mimeType"].as_str().unwrap_or_default(), &TYPES)?;
            }
        }
    }
    Ok(())
}

/// The service accepts both spellings of its fields, and its own SDK sends both.
fn in_camel_case(fields: &JsonBody) -> JsonBody {
    let camel = |key: &str| {
        let mut words = key.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| {
            let (head, rest) = word.split_at(word.len().min(1));
            name + &head.to_uppercase() + rest
        })
    };
    let value = |key: &str, value: &Value| match value {
        // The keys inside belong to the tool.
        _ if ["args", "response", "properties"].contains(&key) => value.clone(),
        Value::Object(fields) => Value::Object(in_camel_case(fields)),
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::Object(fields) => Value::Object(in_camel_case(fields)),
                other => other.clone(),
            })
            .collect(),
        other => other.clone(),
    };
    fields.iter().map(|(key, child)| (camel(key), value(key, child))).collect()
}

fn text(body: &JsonBody, key: &str) -> Checked {
    match body.get(key).and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(()),
        _ => Err(ServiceRefusal::new(422, format!("{key}: Field required"))),
    }
}

fn list<'a>(body: &'a JsonBody, key: &str) -> &'a [Value] {
    body.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn filled<'a>(body: &'a JsonBody, key: &str) -> Result<&'a [Value], ServiceRefusal> {
    match list(body, key) {
        [] => Err(ServiceRefusal::bad(format!("{key}: at least one is required"))),
        items => Ok(items),
    }
}

/// Checks tool names: letters, digits, `_` and `-`, without duplicates.
fn names<'a>(names: impl Iterator<Item = &'a Value>, most: usize, place: &str) -> Checked {
    let mut seen = HashSet::new();
    for name in names {
        let name = name.as_str().unwrap_or_default();
        if !is_plain(name, most) {
            return Err(ServiceRefusal::bad(format!("{place}: '{name}' should match '^[a-zA-Z0-9_-]{{1,{most}}}$'")));
        }
        if !seen.insert(name) {
            return Err(ServiceRefusal::bad(format!("{place}: Tool names must be unique: {name}")));
        }
    }
    Ok(())
}

fn is_plain(text: &str, most: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=most).contains(&text.len()) && text.bytes().all(plain)
}

fn call_id(id: &Value, most: usize, seen: &mut HashSet<String>) -> Result<(), String> {
    let id = id.as_str().unwrap_or_default();
    if !is_plain(id, most) {
        return Err(format!("'{id}' should match '^[a-zA-Z0-9_-]{{1,{most}}}$'"));
    }
    if seen.insert(id.to_owned()) { Ok(()) } else { Err(format!("call ids must be unique: {id}")) }
}

fn effort(effort: Option<&Value>) -> Checked {
    const KNOWN: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
    match effort {
        Some(effort) if !effort.as_str().is_some_and(|effort| KNOWN.contains(&effort)) => {
            Err(ServiceRefusal::bad(format!("Unsupported value: {effort} is no reasoning effort")))
        }
        _ => Ok(()),
    }
}

/// The arguments of a call must be an object, encoded as text.
fn arguments(arguments: &Value) -> Checked {
    let parsed = arguments.as_str().map(serde_json::from_str::<Value>);
    match parsed {
        Some(Ok(Value::Object(_))) => Ok(()),
        _ => Err(ServiceRefusal::bad(format!("the arguments of a call are not a JSON object: {arguments}"))),
    }
}

fn data_url(url: &Value) -> Checked {
    const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let url = url.as_str().unwrap_or_default();
    if url.starts_with("https://") {
        return Ok(());
    }
    let parts = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (mime_type, data) = parts.ok_or_else(|| ServiceRefusal::bad("Invalid image_url: expected a data URL"))?;
    picture(&data.into(), mime_type, &TYPES)
}

/// Images must have a type that the service accepts, and data of that type.
fn picture(data: &Value, mime_type: &str, types: &[&str]) -> Checked {
    if !types.contains(&mime_type) {
        return Err(ServiceRefusal::bad(format!("Unsupported MIME type: {mime_type}")));
    }
    let data = data.as_str().unwrap_or_default();
    // The first bytes of each type, in base64.
    let signs: &[&str] = match mime_type {
        "image/png" => &["iVBORw0KGgo"],
        "image/jpeg" => &["/9j/"],
        "image/gif" => &["R0lGOD"],
        "image/webp" => &["UklGR"],
        _ => &[""],
    };
    if !signs.iter().any(|sign| data.starts_with(sign)) {
        return Err(ServiceRefusal::bad(format!("Could not process image: it is not {mime_type}")));
    }
    if data.len() > 7 << 20 {
        return Err(ServiceRefusal::bad("image exceeds 5 MB maximum"));
    }
    Ok(())
}
