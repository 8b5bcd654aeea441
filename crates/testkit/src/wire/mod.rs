//! The server side of the four wire APIs: converts a turn to the events of its stream.

mod anthropic;
mod completions;
mod errors;
mod google;
mod history;
mod pairing;
mod responses;
#[cfg(test)]
mod tests;
mod whole;

use omp_types::Api;
use serde_json::Value;

use crate::script::{TokenCounts, Turn};

pub use errors::{bad_request_body, error_body, overflow_body};
pub use history::{assistant_turns, offers_tools};
pub use pairing::unpaired;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    Anthropic,
    Completions,
    Responses,
    Google,
}

impl Wire {
    pub const ALL: [Wire; 4] = [Wire::Anthropic, Wire::Completions, Wire::Responses, Wire::Google];

    pub fn api(self) -> Api {
        match self {
            Wire::Anthropic => Api::AnthropicMessages,
            Wire::Completions => Api::OpenaiCompletions,
            Wire::Responses => Api::OpenaiResponses,
            Wire::Google => Api::GoogleGenerativeAi,
        }
    }

    /// Returns the wire API of a path, ignoring everything before its last parts.
    pub fn of_path(path: &str) -> Option<Wire> {
        let path = path.split('?').next().unwrap_or(path);
        if path.ends_with("/messages") {
            Some(Wire::Anthropic)
        } else if path.ends_with("/chat/completions") {
            Some(Wire::Completions)
        } else if path.ends_with("/responses") {
            Some(Wire::Responses)
        } else if path.ends_with(":streamGenerateContent") {
            Some(Wire::Google)
        } else {
            None
        }
    }

    /// Returns the request member that holds the conversation.
    pub fn conversation(self) -> &'static str {
        match self {
            Wire::Anthropic | Wire::Completions => "messages",
            Wire::Responses => "input",
            Wire::Google => "contents",
        }
    }
}

/// The data that an answer takes from its request.
#[derive(Clone, Debug)]
pub struct WireContext {
    pub wire: Wire,
    pub model: String,
    /// Number of the turn, from 0; ids are derived from it.
    pub turn: usize,
    pub input_tokens: u64,
    /// Completions send usage only on request.
    pub include_usage: bool,
}

impl WireContext {
    pub fn new(wire: Wire, path: &str, body: &[u8], json: &Value, turn: usize) -> Self {
        let in_path = path.rsplit('/').next().and_then(|last| last.split(':').next());
        let model = json.get("model").and_then(Value::as_str).or(in_path).unwrap_or("unknown").to_owned();
        let include_usage = json.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
        Self { wire, model, turn, input_tokens: body.len() as u64 / BYTES_PER_TOKEN, include_usage }
    }

    fn usage(&self, turn: &Turn) -> TokenCounts {
        turn.usage.unwrap_or_else(|| {
            let texts = turn.text.iter().chain(turn.thinking.iter().map(|thinking| &thinking.text));
            let chunks: usize = texts.map(|text| text.chunks().count()).sum();
            let output = (chunks + turn.calls.len()).max(1) as u64;
            TokenCounts { input: self.input_tokens, output, ..TokenCounts::default() }
        })
    }

    fn call_id(&self, turn: &Turn, position: usize, prefix: &str) -> String {
        let given = turn.calls.get(position).and_then(|call| call.id.clone());
        given.unwrap_or_else(|| format!("{prefix}_{}_{position}", self.turn))
    }
}

const BYTES_PER_TOKEN: u64 = 4;

/// One server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub struct SseEvent {
    pub event: Option<String>,
    pub data: String,
}

impl SseEvent {
    /// Creates an event named after the `type` of its data, as in Anthropic and Responses.
    fn typed(data: Value) -> Self {
        Self { event: data.get("type").and_then(Value::as_str).map(str::to_owned), data: data.to_string() }
    }

    fn plain(data: Value) -> Self {
        Self { event: None, data: data.to_string() }
    }
}

/// The events of an answer. Those from `tail` on follow the content and end the stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frames {
    pub list: Vec<SseEvent>,
    pub tail: usize,
}

pub use whole::whole;

pub fn frames(turn: &Turn, cx: &WireContext) -> Frames {
    match cx.wire {
        Wire::Anthropic => anthropic::frames(turn, cx),
        Wire::Completions => completions::frames(turn, cx),
        Wire::Responses => responses::frames(turn, cx),
        Wire::Google => google::frames(turn, cx),
    }
}

/// Returns the event that reports an error inside a stream after `sent` events.
pub fn error_frame(cx: &WireContext, code: u16, sent: usize) -> SseEvent {
    match cx.wire {
        Wire::Anthropic => SseEvent::typed(error_body(cx.wire, code)),
        Wire::Completions | Wire::Google => SseEvent::plain(error_body(cx.wire, code)),
        Wire::Responses => responses::failed(cx, code, sent),
    }
}
