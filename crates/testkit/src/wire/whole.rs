//! A whole answer as one JSON document, as each API sends it without streaming.

use serde_json::{Map, Value, json};

use super::{Wire, WireContext, frames};
use crate::script::Turn;

pub fn whole(turn: &Turn, cx: &WireContext) -> Value {
    let usage_asked = WireContext { include_usage: true, ..cx.clone() };
    let events: Vec<Value> =
        frames(turn, &usage_asked).list.iter().filter_map(|frame| serde_json::from_str(&frame.data).ok()).collect();
    match cx.wire {
        Wire::Anthropic => anthropic(&events),
        Wire::Completions => completions(&events),
        Wire::Responses => events.last().map(|last| last["response"].clone()).unwrap_or_default(),
        Wire::Google => google(&events),
    }
}

fn anthropic(events: &[Value]) -> Value {
    let mut message = events.first().map(|first| first["message"].clone()).unwrap_or_default();
    let mut blocks: Vec<Value> = Vec::new();
    for event in events {
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" => blocks.push(event["content_block"].clone()),
            "content_block_delta" => {
                let Some(block) = blocks.last_mut() else { continue };
                for (key, into) in
                    [("text", "text"), ("thinking", "thinking"), ("signature", "signature"), ("partial_json", "input")]
                {
                    if let Some(more) = event["delta"][key].as_str() {
                        let known = block[into].as_str().unwrap_or_default();
                        block[into] = format!("{known}{more}").into();
                    }
                }
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["usage"] = event["usage"].clone();
            }
            _ => {}
        }
    }
    for block in &mut blocks {
        if let Some(input) = block["input"].as_str() {
            block["input"] = serde_json::from_str(input).unwrap_or_else(|_| json!({}));
        }
    }
    message["content"] = blocks.into();
    message
}

fn completions(events: &[Value]) -> Value {
    let mut message = Map::new();
    let mut calls: Vec<Value> = Vec::new();
    let (mut reason, mut usage) = (Value::Null, Value::Null);
    let add = |message: &mut Map<String, Value>, key: &str, more: &str| {
        let known = message.get(key).and_then(Value::as_str).unwrap_or_default();
        message.insert(key.to_owned(), format!("{known}{more}").into());
    };
    for event in events {
        if !event["usage"].is_null() {
            usage = event["usage"].clone();
        }
        let choice = &event["choices"][0];
        if !choice["finish_reason"].is_null() {
            reason = choice["finish_reason"].clone();
        }
        for key in ["content", "reasoning_content"] {
            if let Some(more) = choice["delta"][key].as_str() {
                add(&mut message, key, more);
            }
        }
        for piece in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            match piece["id"].is_string() {
                true => calls.push(json!({"id": piece["id"], "type": "function", "function": piece["function"]})),
                false => {
                    let Some(call) = calls.last_mut() else { continue };
                    let more = piece["function"]["arguments"].as_str().unwrap_or_default();
                    let known = call["function"]["arguments"].as_str().unwrap_or_default();
                    call["function"]["arguments"] = format!("{known}{more}").into();
                }
            }
        }
    }
    message.insert("role".to_owned(), "assistant".into());
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    let first = events.first().cloned().unwrap_or_default();
    json!({
        "id": first["id"],
        "object": "chat.completion",
        "created": first["created"],
        "model": first["model"],
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": usage,
    })
}

fn google(events: &[Value]) -> Value {
    let mut last = events.last().cloned().unwrap_or_default();
    let parts = events.iter().flat_map(|event| event["candidates"][0]["content"]["parts"].as_array().cloned());
    let parts: Vec<Value> = parts.flatten().filter(|part| part["text"] != "").collect();
    last["candidates"][0]["content"]["parts"] = parts.into();
    last
}
