//! Google Generative AI: unnamed chunks of parts; a call is sent whole or not at all.

use serde_json::{Map, Value, json};

use super::{Frames, SseEvent, WireContext};
use crate::script::{Call, ScriptedArguments, Stop, Thinking, Turn};

pub fn frames(turn: &Turn, cx: &WireContext) -> Frames {
    let mut parts = Vec::new();
    if let Some(thinking) = &turn.thinking {
        parts.extend(thinking.text.chunks().map(|chunk| json!({"text": chunk, "thought": true})));
    }
    let answer = parts.len();
    if let Some(text) = &turn.text {
        parts.extend(text.chunks().map(|chunk| json!({"text": chunk})));
    }
    let calls: Option<Vec<Value>> = turn.calls.iter().map(call_part).collect();
    let stop = if calls.is_some() { turn.stop_word() } else { Stop::Raw("MALFORMED_FUNCTION_CALL".into()) };
    let calls = calls.unwrap_or_default();
    let signed = if calls.is_empty() { answer } else { parts.len() };
    parts.extend(calls);
    if let (Some(thinking), Some(Value::Object(part))) = (&turn.thinking, parts.get_mut(signed)) {
        part.insert("thoughtSignature".into(), signature(thinking, cx).into());
    }
    let usage = usage_metadata(turn, cx);
    let mut list: Vec<SseEvent> = parts.into_iter().map(|part| chunk(cx, &usage, part, None)).collect();
    let tail = list.len();
    list.push(chunk(cx, &usage, json!({"text": ""}), Some(finish_reason(&stop))));
    Frames { list, tail }
}

/// Returns `None` for arguments that are not one JSON object, which the real service never sends.
fn call_part(call: &Call) -> Option<Value> {
    let mut function = Map::new();
    if let Some(id) = &call.id {
        function.insert("id".into(), id.as_str().into());
    }
    function.insert("name".into(), call.name.as_str().into());
    function.insert("args".into(), Value::Object(whole_arguments(call)?));
    Some(json!({"functionCall": function}))
}

fn whole_arguments(call: &Call) -> Option<Map<String, Value>> {
    match &call.arguments {
        ScriptedArguments::Object(map) => Some(map.clone()),
        ScriptedArguments::Raw(pieces) => serde_json::from_str(&pieces.concat()).ok(),
    }
}

/// The service signs the first part after the thinking, in base64.
fn signature(thinking: &Thinking, cx: &WireContext) -> String {
    thinking.signature.clone().unwrap_or_else(|| format!("c2lnXz{:06}", cx.turn % 1_000_000))
}

fn chunk(cx: &WireContext, usage: &Value, part: Value, finish_reason: Option<&str>) -> SseEvent {
    let mut candidate = json!({"content": {"parts": [part], "role": "model"}});
    if let (Value::Object(body), Some(reason)) = (&mut candidate, finish_reason) {
        body.insert("finishReason".into(), reason.into());
    }
    if let Value::Object(body) = &mut candidate {
        body.insert("index".into(), 0.into());
    }
    SseEvent::plain(json!({
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": cx.model,
        "responseId": format!("resp_{}", cx.turn),
    }))
}

fn usage_metadata(turn: &Turn, cx: &WireContext) -> Value {
    let usage = cx.usage(turn);
    let prompt = usage.input + usage.cache_read + usage.cache_write;
    let mut body = Map::new();
    body.insert("promptTokenCount".into(), prompt.into());
    body.insert("candidatesTokenCount".into(), usage.output.saturating_sub(usage.reasoning).into());
    body.insert("totalTokenCount".into(), (prompt + usage.output).into());
    if usage.cache_read > 0 {
        body.insert("cachedContentTokenCount".into(), usage.cache_read.into());
    }
    body.insert("promptTokensDetails".into(), json!([{"modality": "TEXT", "tokenCount": prompt}]));
    if usage.reasoning > 0 {
        body.insert("thoughtsTokenCount".into(), usage.reasoning.into());
    }
    Value::Object(body)
}

fn finish_reason(stop: &Stop) -> &str {
    match stop {
        Stop::Stop | Stop::ToolUse => "STOP",
        Stop::Length => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
        Stop::Raw(word) => word,
    }
}
