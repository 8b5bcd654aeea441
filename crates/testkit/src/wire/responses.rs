//! OpenAI Responses: named, numbered events around output items.

use serde_json::{Value, json};

use super::errors::openai_code;
use super::{Frames, SseEvent, WireContext};
use crate::script::{Call, Stop, Text, Thinking, Turn};

pub fn frames(turn: &Turn, cx: &WireContext) -> Frames {
    let mut out = ItemEvents { list: Vec::new(), output: Vec::new() };
    out.push(json!({"type": "response.created", "response": response(cx, "in_progress", json!({}))}));
    out.push(json!({"type": "response.in_progress", "response": response(cx, "in_progress", json!({}))}));
    if let Some(thinking) = &turn.thinking {
        out.reasoning(thinking, cx);
    }
    if let Some(text) = &turn.text {
        out.message(text, cx);
    }
    for (position, call) in turn.calls.iter().enumerate() {
        let item_id = format!("fc_{}_{position}", cx.turn);
        out.function_call(call, &item_id, &cx.call_id(turn, position, "call"));
    }
    let tail = out.list.len();
    let end = end(turn, cx, std::mem::take(&mut out.output));
    out.push(end);
    Frames { list: out.list, tail }
}

/// Returns the event that reports an error in a response that began well.
pub fn failed(cx: &WireContext, code: u16, sent: usize) -> SseEvent {
    let (word, message) = openai_code(code);
    let error = json!({"code": word, "message": message});
    let response = response(cx, "failed", json!({"error": error}));
    SseEvent::typed(json!({"type": "response.failed", "response": response, "sequence_number": sent}))
}

fn end(turn: &Turn, cx: &WireContext, output: Vec<Value>) -> Value {
    let (kind, status, details) = match turn.stop_word() {
        Stop::Stop | Stop::ToolUse => ("response.completed", "completed", Value::Null),
        Stop::Length => ("response.incomplete", "incomplete", json!({"reason": "max_output_tokens"})),
        Stop::Refusal => ("response.incomplete", "incomplete", json!({"reason": "content_filter"})),
        Stop::Raw(reason) => ("response.incomplete", "incomplete", json!({"reason": reason})),
    };
    let usage = cx.usage(turn);
    let input = usage.input + usage.cache_read + usage.cache_write;
    let usage = json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": input + usage.output,
    });
    let changes = json!({"incomplete_details": details, "output": output, "usage": usage});
    json!({"type": kind, "response": response(cx, status, changes)})
}

fn response(cx: &WireContext, status: &str, changes: Value) -> Value {
    let mut response = json!({
        "id": format!("resp_{}", cx.turn),
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "model": cx.model,
        "output": [],
        "parallel_tool_calls": true,
        "store": false,
        "usage": null,
    });
    if let (Value::Object(body), Value::Object(changes)) = (&mut response, changes) {
        body.extend(changes);
    }
    response
}

struct ItemEvents {
    list: Vec<SseEvent>,
    output: Vec<Value>,
}

impl ItemEvents {
    fn push(&mut self, mut event: Value) {
        if let Value::Object(body) = &mut event {
            body.insert("sequence_number".into(), self.list.len().into());
        }
        self.list.push(SseEvent::typed(event));
    }

    fn reasoning(&mut self, thinking: &Thinking, cx: &WireContext) {
        let (id, index) = (format!("rs_{}", cx.turn), self.output.len());
        let text: String = thinking.text.chunks().collect();
        let sealed = thinking.signature.clone().unwrap_or_else(|| format!("sealed_{}", cx.turn));
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        let about = |kind: &str, key: &str, value: Value| json!({"type": kind, "item_id": id, "output_index": index, "summary_index": 0, key: value});
        self.added(json!({"id": id, "type": "reasoning", "encrypted_content": "", "summary": []}));
        self.push(about("response.reasoning_summary_part.added", "part", part("")));
        for chunk in thinking.text.chunks() {
            self.push(about("response.reasoning_summary_text.delta", "delta", chunk.as_ref().into()));
        }
        self.push(about("response.reasoning_summary_text.done", "text", text.as_str().into()));
        self.push(about("response.reasoning_summary_part.done", "part", part(&text)));
        self.done(json!({"id": id, "type": "reasoning", "encrypted_content": sealed, "summary": [part(&text)]}));
    }

    fn message(&mut self, text: &Text, cx: &WireContext) {
        let (id, index) = (format!("msg_{}", cx.turn), self.output.len());
        let whole: String = text.chunks().collect();
        let part = |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
        let item = |status: &str, content: Value| json!({"id": id, "type": "message", "status": status, "content": content, "role": "assistant"});
        let about = |kind: &str, key: &str, value: Value| json!({"type": kind, "item_id": id, "output_index": index, "content_index": 0, key: value});
        self.added(item("in_progress", json!([])));
        self.push(about("response.content_part.added", "part", part("")));
        for chunk in text.chunks() {
            self.push(about("response.output_text.delta", "delta", chunk.as_ref().into()));
        }
        self.push(about("response.output_text.done", "text", whole.as_str().into()));
        self.push(about("response.content_part.done", "part", part(&whole)));
        self.done(item("completed", json!([part(&whole)])));
    }

    fn function_call(&mut self, call: &Call, id: &str, call_id: &str) {
        let index = self.output.len();
        let pieces = call.pieces();
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id, "type": "function_call", "status": status, "arguments": arguments,
                "call_id": call_id, "name": call.name,
            })
        };
        let about = |kind: &str, key: &str, value: &str| json!({"type": kind, "item_id": id, "output_index": index, key: value});
        self.added(item("in_progress", ""));
        for piece in &pieces {
            self.push(about("response.function_call_arguments.delta", "delta", piece));
        }
        self.push(about("response.function_call_arguments.done", "arguments", &pieces.concat()));
        self.done(item("completed", &pieces.concat()));
    }

    fn added(&mut self, item: Value) {
        let index = self.output.len();
        self.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
    }

    fn done(&mut self, item: Value) {
        let index = self.output.len();
        self.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        self.output.push(item);
    }
}
