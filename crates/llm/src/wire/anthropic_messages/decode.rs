//! Decodes a streamed answer: blocks that open, grow and close, within a message.

use std::borrow::Cow;
use std::sync::Arc;

use omp_types::{MessageBuilder, Model, ModelError, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::errors;
use crate::wire::Decoder;
use crate::wire::json::{self, Text};

pub(super) struct AnthropicDecoder {
    model: Arc<Model>,
    /// The open blocks, by the server's index.
    blocks: Vec<(u64, BlockSlot)>,
    usage: Usage,
    stop: Option<StopReason>,
}

/// Destination of a stream block.
enum BlockSlot {
    Text(usize),
    Thinking(usize),
    Call {
        index: usize,
        /// Arguments from the start event; some servers send no others.
        input: Option<String>,
    },
    /// Blocks of server-side tools, and unknown kinds.
    Ignored,
}

impl AnthropicDecoder {
    pub fn new(model: Arc<Model>) -> Self {
        Self { model, blocks: Vec::new(), usage: Usage::default(), stop: None }
    }

    fn message_start(&mut self, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let event: MessageStart = json::parse(&self.model, data)?;
        if let Some(id) = event.message.id {
            answer.set_response_id(&*id);
        }
        self.count(event.message.usage, answer);
        Ok(())
    }

    fn block_start(&mut self, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let event: BlockStart = json::parse(&self.model, data)?;
        let block = event.content_block;
        let slot = match &*block.kind {
            "text" => {
                let index = answer.open_text();
                push_some(block.text.as_deref(), |text| answer.push_text(index, text));
                BlockSlot::Text(index)
            }
            "thinking" => {
                let index = answer.open_thinking();
                push_some(block.thinking.as_deref(), |text| answer.push_thinking(index, text));
                push_some(block.signature.as_deref(), |text| sign(answer, index, text));
                BlockSlot::Thinking(index)
            }
            "redacted_thinking" => {
                answer.add_redacted_thinking(block.data.as_deref().unwrap_or_default());
                BlockSlot::Ignored
            }
            "tool_use" => {
                let name = block.name.as_deref().unwrap_or_default();
                let index = answer.open_tool_call(block.id.as_deref().unwrap_or_default(), name);
                let input = block.input.map(RawValue::get).filter(|input| !matches!(*input, "{}" | "null" | "\"\""));
                BlockSlot::Call { index, input: input.map(str::to_owned) }
            }
            _ => BlockSlot::Ignored,
        };
        self.blocks.retain(|(number, _)| *number != event.index);
        self.blocks.push((event.index, slot));
        Ok(())
    }

    fn block_delta(&mut self, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let BlockDelta { index, delta } = json::parse(&self.model, data)?;
        // If an index is reused, the newest block grows.
        match self.blocks.iter().rev().find(|(number, _)| *number == index) {
            Some((_, BlockSlot::Text(index))) => {
                push_some(delta.text.as_deref(), |text| answer.push_text(*index, text))
            }
            Some((_, BlockSlot::Thinking(index))) => {
                push_some(delta.thinking.as_deref(), |text| answer.push_thinking(*index, text));
                push_some(delta.signature.as_deref(), |text| sign(answer, *index, text));
            }
            Some((_, BlockSlot::Call { index, .. })) => {
                push_some(delta.partial_json.as_deref(), |text| answer.push_arguments(*index, text));
            }
            Some((_, BlockSlot::Ignored)) => {}
            None => return Err(errors::protocol(&self.model, "it continues a block that never started")),
        }
        Ok(())
    }

    fn block_stop(&mut self, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let BlockStop { index } = json::parse(&self.model, data)?;
        let Some(position) = self.blocks.iter().position(|(number, _)| *number == index) else { return Ok(()) };
        match self.blocks.remove(position).1 {
            BlockSlot::Text(index) | BlockSlot::Thinking(index) => answer.close(index),
            BlockSlot::Call { index, input } => {
                if let Some(input) = input.filter(|_| answer.raw_arguments(index).is_some_and(str::is_empty)) {
                    answer.push_arguments(index, &input);
                }
                answer.close(index);
            }
            BlockSlot::Ignored => {}
        }
        Ok(())
    }

    fn message_delta(&mut self, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let event: MessageDelta = json::parse(&self.model, data)?;
        self.count(event.usage, answer);
        self.stopped(event.delta.stop_reason, event.delta.stop_details)
    }

    fn stopped(&mut self, reason: Option<Text<'_>>, details: Option<StopDetails<'_>>) -> Result<(), ModelError> {
        let Some(reason) = reason else { return Ok(()) };
        self.stop = Some(match &*reason {
            "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "tool_use" => StopReason::ToolUse,
            "refusal" | "sensitive" => {
                let explained = details.and_then(|details| details.explanation);
                return Err(errors::refused(&self.model, explained.as_deref().unwrap_or(&reason)));
            }
            // `end_turn`, `stop_sequence`, `pause_turn`, and future reasons.
            _ => StopReason::Stop,
        });
        Ok(())
    }

    fn message_stop(&mut self, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let reason = match self.stop {
            // Other servers report the end of a turn although there are calls, or tool use without calls.
            Some(StopReason::Stop | StopReason::ToolUse) | None if answer.has_tool_calls() => StopReason::ToolUse,
            Some(StopReason::ToolUse) | None => StopReason::Stop,
            Some(reason) => reason,
        };
        answer.finish(reason);
        Ok(())
    }

    /// Later counts replace earlier ones; counts that they omit are kept.
    fn count(&mut self, tokens: Option<Tokens>, answer: &mut MessageBuilder) {
        let Some(tokens) = tokens else { return };
        let usage = &mut self.usage;
        usage.input = tokens.input_tokens.unwrap_or(usage.input);
        usage.output = tokens.output_tokens.unwrap_or(usage.output);
        usage.cache_read = tokens.cache_read_input_tokens.unwrap_or(usage.cache_read);
        usage.cache_write = tokens.cache_creation_input_tokens.unwrap_or(usage.cache_write);
        answer.set_usage(usage.priced(&self.model.cost));
    }
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, name: &str, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        match &*kind(&self.model, name, data)? {
            "content_block_delta" => self.block_delta(data, answer),
            "content_block_start" => self.block_start(data, answer),
            "content_block_stop" => self.block_stop(data, answer),
            "message_start" => self.message_start(data, answer),
            "message_delta" => self.message_delta(data, answer),
            "message_stop" => self.message_stop(answer),
            "error" => Err(self.error(data)),
            // `ping`, and future kinds.
            _ => Ok(()),
        }
    }

    fn end(&mut self, _answer: &mut MessageBuilder) -> Result<(), ModelError> {
        Err(errors::protocol(&self.model, "the stream ended before the answer did (no `message_stop`)"))
    }

    fn whole(&mut self, body: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let message: WholeMessage = json::parse(&self.model, body)?;
        let Some(content) = message.content else { return Err(json::no_answer(&self.model, body)) };
        if let Some(id) = message.id {
            answer.set_response_id(&*id);
        }
        for (index, block) in content.into_iter().enumerate() {
            self.block_start(&format!(r#"{{"index":{index},"content_block":{}}}"#, block.get()), answer)?;
            self.block_stop(&format!(r#"{{"index":{index}}}"#), answer)?;
        }
        self.count(message.usage, answer);
        self.stopped(message.stop_reason, message.stop_details)?;
        self.message_stop(answer)
    }
}

impl AnthropicDecoder {
    fn error(&self, data: &str) -> ModelError {
        match json::parse::<ErrorEvent>(&self.model, data) {
            Ok(ErrorEvent { error }) => {
                let text = |text: &Option<Text>| text.as_deref().unwrap_or_default().to_owned();
                errors::reported(&self.model, &text(&error.kind), &text(&error.message))
            }
            Err(_) => errors::reported(&self.model, "", data),
        }
    }
}

/// Returns the event name, which some servers send only inside the data.
fn kind<'a>(model: &Model, name: &'a str, data: &'a str) -> Result<Cow<'a, str>, ModelError> {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
    }
    match name {
        "" | "message" if data.trim() == "[DONE]" => Ok(Cow::Borrowed("ping")),
        "" | "message" => json::parse::<Typed>(model, data).map(|typed| typed.kind.0),
        name => Ok(Cow::Borrowed(name)),
    }
}

fn push_some(text: Option<&str>, push: impl FnOnce(&str)) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        push(text);
    }
}

fn sign(answer: &mut MessageBuilder, index: usize, more: &str) {
    answer.edit_thinking(index, |block| block.thinking_signature.get_or_insert_default().push_str(more));
}

/// An answer that was not streamed.
#[derive(Deserialize)]
struct WholeMessage<'a> {
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    stop_details: Option<StopDetails<'a>>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct MessageStart<'a> {
    #[serde(borrow)]
    message: MessageHead<'a>,
}

#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct BlockStart<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    content_block: BlockHead<'a>,
}

#[derive(Deserialize)]
struct BlockHead<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    signature: Option<Text<'a>>,
    #[serde(borrow)]
    data: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct BlockDelta<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    partial_json: Option<Text<'a>>,
    #[serde(borrow)]
    signature: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct BlockStop {
    #[serde(default)]
    index: u64,
}

#[derive(Deserialize)]
struct MessageDelta<'a> {
    #[serde(borrow)]
    delta: StopDelta<'a>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct StopDelta<'a> {
    #[serde(borrow)]
    stop_reason: Option<Text<'a>>,
    #[serde(borrow)]
    stop_details: Option<StopDetails<'a>>,
}

#[derive(Deserialize)]
struct StopDetails<'a> {
    #[serde(borrow)]
    explanation: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct ErrorEvent<'a> {
    #[serde(borrow)]
    error: ErrorBody<'a>,
}

#[derive(Deserialize)]
struct ErrorBody<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    message: Option<Text<'a>>,
}
