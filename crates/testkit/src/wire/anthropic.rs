//! Anthropic Messages: named events, one content block after the other.

use serde_json::{Value, json};

use super::{Frames, SseEvent, WireContext};
use crate::script::{Stop, Text, Thinking, Turn};

pub fn frames(turn: &Turn, cx: &WireContext) -> Frames {
    let mut out = BlockEvents { list: vec![message_start(turn, cx)], index: 0 };
    if let Some(thinking) = &turn.thinking {
        out.thinking(thinking, cx);
    }
    if let Some(text) = &turn.text {
        out.text(text);
    }
    for (position, call) in turn.calls.iter().enumerate() {
        out.tool_use(&cx.call_id(turn, position, "toolu"), &call.name, &call.pieces());
    }
    let mut list = out.list;
    let tail = list.len();
    list.push(message_delta(turn, cx));
    list.push(SseEvent::typed(json!({"type": "message_stop"})));
    Frames { list, tail }
}

fn message_start(turn: &Turn, cx: &WireContext) -> SseEvent {
    let usage = cx.usage(turn);
    SseEvent::typed(json!({
        "type": "message_start",
        "message": {
            "model": cx.model,
            "id": format!("msg_{}", cx.turn),
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {
                "input_tokens": usage.input,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
                "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write, "ephemeral_1h_input_tokens": 0},
                "output_tokens": 1,
                "service_tier": "standard",
            },
        },
    }))
}

fn message_delta(turn: &Turn, cx: &WireContext) -> SseEvent {
    let usage = cx.usage(turn);
    SseEvent::typed(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(&turn.stop_word()), "stop_sequence": null},
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": usage.output,
        },
    }))
}

fn stop_reason(stop: &Stop) -> &str {
    match stop {
        Stop::Stop => "end_turn",
        Stop::Length => "max_tokens",
        Stop::ToolUse => "tool_use",
        Stop::Refusal => "refusal",
        Stop::Raw(word) => word,
    }
}

struct BlockEvents {
    list: Vec<SseEvent>,
    index: usize,
}

impl BlockEvents {
    fn thinking(&mut self, thinking: &Thinking, cx: &WireContext) {
        self.start(json!({"type": "thinking", "thinking": "", "signature": ""}));
        for chunk in thinking.text.chunks() {
            self.delta(json!({"type": "thinking_delta", "thinking": chunk}));
        }
        let signature = thinking.signature.clone().unwrap_or_else(|| format!("sig_{}", cx.turn));
        self.delta(json!({"type": "signature_delta", "signature": signature}));
        self.stop();
    }

    fn text(&mut self, text: &Text) {
        self.start(json!({"type": "text", "text": ""}));
        for chunk in text.chunks() {
            self.delta(json!({"type": "text_delta", "text": chunk}));
        }
        self.stop();
    }

    fn tool_use(&mut self, id: &str, name: &str, pieces: &[String]) {
        self.start(json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
        self.delta(json!({"type": "input_json_delta", "partial_json": ""}));
        for piece in pieces {
            self.delta(json!({"type": "input_json_delta", "partial_json": piece}));
        }
        self.stop();
    }

    fn start(&mut self, block: Value) {
        let first = self.index == 0;
        self.list
            .push(SseEvent::typed(json!({"type": "content_block_start", "index": self.index, "content_block": block})));
        if first {
            self.list.push(SseEvent::typed(json!({"type": "ping"})));
        }
    }

    fn delta(&mut self, delta: Value) {
        self.list.push(SseEvent::typed(json!({"type": "content_block_delta", "index": self.index, "delta": delta})));
    }

    fn stop(&mut self) {
        self.list.push(SseEvent::typed(json!({"type": "content_block_stop", "index": self.index})));
        self.index += 1;
    }
}
