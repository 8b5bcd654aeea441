//! OpenAI Chat Completions: unnamed chunks, then `[DONE]`.

use serde_json::{Map, Value, json};

use super::{Frames, SseEvent, WireContext};
use crate::script::{Stop, Turn};

pub fn frames(turn: &Turn, cx: &WireContext) -> Frames {
    let mut list = vec![chunk(cx, json!({"role": "assistant", "content": "", "refusal": null}), None)];
    if let Some(thinking) = &turn.thinking {
        list.extend(thinking.text.chunks().map(|piece| chunk(cx, json!({"reasoning_content": piece}), None)));
    }
    if let Some(text) = &turn.text {
        list.extend(text.chunks().map(|piece| chunk(cx, json!({"content": piece}), None)));
    }
    for (position, call) in turn.calls.iter().enumerate() {
        let id = cx.call_id(turn, position, "call");
        let function = json!({"name": call.name, "arguments": ""});
        let head = json!({"index": position, "id": id, "type": "function", "function": function});
        list.push(chunk(cx, json!({"tool_calls": [head]}), None));
        for piece in call.pieces() {
            let more = json!({"index": position, "function": {"arguments": piece}});
            list.push(chunk(cx, json!({"tool_calls": [more]}), None));
        }
    }
    let tail = list.len();
    list.push(chunk(cx, json!({}), Some(finish_reason(&turn.stop_word()))));
    if cx.include_usage {
        list.push(usage_chunk(turn, cx));
    }
    list.push(SseEvent { event: None, data: "[DONE]".to_owned() });
    Frames { list, tail }
}

fn chunk(cx: &WireContext, delta: Value, finish_reason: Option<&str>) -> SseEvent {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
    let mut body = head(cx);
    body.insert("choices".into(), json!([choice]));
    if cx.include_usage {
        body.insert("usage".into(), Value::Null);
    }
    SseEvent::plain(Value::Object(body))
}

fn usage_chunk(turn: &Turn, cx: &WireContext) -> SseEvent {
    let usage = cx.usage(turn);
    let prompt = usage.input + usage.cache_read + usage.cache_write;
    let mut body = head(cx);
    body.insert("choices".into(), json!([]));
    body.insert(
        "usage".into(),
        json!({
            "prompt_tokens": prompt,
            "completion_tokens": usage.output,
            "total_tokens": prompt + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
        }),
    );
    SseEvent::plain(Value::Object(body))
}

fn head(cx: &WireContext) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("id".into(), format!("chatcmpl-{}", cx.turn).into());
    body.insert("object".into(), "chat.completion.chunk".into());
    body.insert("created".into(), 1_700_000_000.into());
    body.insert("model".into(), cx.model.as_str().into());
    body.insert("service_tier".into(), "default".into());
    body.insert("system_fingerprint".into(), "fp_testkit".into());
    body
}

fn finish_reason(stop: &Stop) -> &str {
    match stop {
        Stop::Stop => "stop",
        Stop::Length => "length",
        Stop::ToolUse => "tool_calls",
        Stop::Refusal => "content_filter",
        Stop::Raw(word) => word,
    }
}
