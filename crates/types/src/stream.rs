//! The contract between the agent loop and a model: one request in, one stream of events out.
//!
//! A stream never fails. It ends with exactly one `Done` or `Error` event, after which [`ModelStream::message`] is the final
//! message, whose stop reason tells the outcome. Dropping a stream cancels the request; the partial message can be read at
//! any time before.

use std::sync::Arc;

use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::{Content, RedactedThinking, TextContent, ThinkingContent, ToolCall};
use crate::error::{ErrorKind, ModelError};
use crate::message::{AssistantMessage, Message, StopReason};
use crate::model::{Model, ThinkingLevel};
use crate::partial_json::PartialJson;
use crate::shortened::Shortening;
use crate::terms::Terms;
use crate::usage::Usage;

/// Anything that answers requests: HTTP providers, the scripted demo, test doubles.
pub trait Llm: Send + Sync {
    fn stream(&self, request: Request) -> Box<dyn ModelStream>;

    /// Returns the request in its wire format, to find what a refusal refers to. `None` if there is no wire.
    fn written(&self, _request: &Request) -> Option<Value> {
        None
    }

    /// Asks the provider to compact the conversation of a request. `None` if it does not support this.
    fn shorten(&self, _request: &Request) -> Option<Shortening> {
        None
    }
}

pub trait ModelStream: Stream<Item = StreamEvent> + Send + Unpin {
    /// Returns the answer so far; final after `Done` or `Error`.
    fn message(&self) -> &AssistantMessage;
}

#[derive(Clone, Debug)]
pub struct Request {
    pub model: Arc<Model>,
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    /// Only user, assistant, tool-result and custom messages; every call is paired with its result.
    pub messages: Vec<Arc<Message>>,
    pub thinking: ThinkingLevel,
    /// Limits the output tokens; defaults to the model's own limit.
    pub max_tokens: Option<u64>,
    /// Groups the requests of one session for providers that route caches by key.
    pub session_id: Option<String>,
    pub cache: CacheRetention,
    pub terms: Terms,
}

/// How long a provider should cache the prompt prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheRetention {
    #[default]
    Short,
    Long,
}

/// The description of a tool for the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum StreamEvent {
    #[serde(rename = "start")]
    Start,
    #[serde(rename = "text_start")]
    TextStart { content_index: usize },
    #[serde(rename = "text_delta")]
    TextDelta { content_index: usize, delta: String },
    #[serde(rename = "text_end")]
    TextEnd { content_index: usize, content: String },
    #[serde(rename = "thinking_start")]
    ThinkingStart { content_index: usize },
    #[serde(rename = "thinking_delta")]
    ThinkingDelta { content_index: usize, delta: String },
    #[serde(rename = "thinking_end")]
    ThinkingEnd { content_index: usize, content: String },
    #[serde(rename = "toolcall_start")]
    ToolCallStart {
        content_index: usize,
        /// The name of the called tool, as far as it is known. Not serialized.
        #[serde(skip)]
        name: String,
    },
    #[serde(rename = "toolcall_delta")]
    ToolCallDelta { content_index: usize, delta: String },
    #[serde(rename = "toolcall_end")]
    ToolCallEnd { content_index: usize, tool_call: Content },
    #[serde(rename = "done")]
    Done { reason: StopReason },
    #[serde(rename = "error")]
    Error { reason: StopReason },
}

impl StreamEvent {
    pub fn is_terminal(&self) -> bool {
        matches!(self, StreamEvent::Done { .. } | StreamEvent::Error { .. })
    }
}

/// Builds an answer block by block and queues its events.
///
/// Adjacent queued deltas of one block are merged, so a slow consumer sees fewer, larger deltas rather than a longer queue.
pub struct MessageBuilder {
    message: AssistantMessage,
    events: std::collections::VecDeque<StreamEvent>,
    /// The arguments of the open tool calls.
    arguments: Vec<OpenArguments>,
    open: Vec<usize>,
    finished: bool,
}

struct OpenArguments {
    content_index: usize,
    raw: String,
    partial: PartialJson,
}

impl MessageBuilder {
    pub fn new(model: &Model) -> Self {
        let message = AssistantMessage::empty(model.api.clone(), &model.provider, &model.id);
        Self { message, events: [StreamEvent::Start].into(), arguments: Vec::new(), open: Vec::new(), finished: false }
    }

    pub fn message(&self) -> &AssistantMessage {
        &self.message
    }

    pub fn next_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    /// Whether there are queued events.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    pub fn is_finished(&self) -> bool {
        self.finished
    }

    pub fn has_content(&self) -> bool {
        !self.message.content.is_empty()
    }

    pub fn has_tool_calls(&self) -> bool {
        self.message.tool_calls().next().is_some()
    }

    pub fn set_usage(&mut self, usage: Usage) {
        self.message.usage = usage;
    }

    pub fn usage(&self) -> Usage {
        self.message.usage
    }

    pub fn set_response_id(&mut self, id: impl Into<String>) {
        self.message.response_id = Some(id.into());
    }

    /// Sets the milliseconds from the request to the first token and to the end.
    pub fn set_timing(&mut self, ttft: Option<f64>, duration: Option<f64>) {
        self.message.ttft = ttft;
        self.message.duration = duration;
    }

    pub fn open_text(&mut self) -> usize {
        let index = self.open_block(Content::Text(TextContent::default()));
        self.events.push_back(StreamEvent::TextStart { content_index: index });
        index
    }

    pub fn open_thinking(&mut self) -> usize {
        let index = self.open_block(Content::Thinking(ThinkingContent::default()));
        self.events.push_back(StreamEvent::ThinkingStart { content_index: index });
        index
    }

    /// Opens a call. A duplicate id is made unique, so that both calls get a result.
    pub fn open_tool_call(&mut self, id: &str, name: &str) -> usize {
        let call = ToolCall { id: self.unique_id(id), name: name.to_owned(), ..ToolCall::default() };
        let index = self.open_block(Content::ToolCall(call));
        let arguments = OpenArguments { content_index: index, raw: String::new(), partial: PartialJson::default() };
        self.arguments.push(arguments);
        self.events.push_back(StreamEvent::ToolCallStart { content_index: index, name: name.to_owned() });
        index
    }

    /// Adds a block that is not streamed.
    pub fn add_redacted_thinking(&mut self, data: impl Into<String>) {
        self.message.content.push(Content::RedactedThinking(RedactedThinking { data: data.into() }));
    }

    pub fn push_text(&mut self, index: usize, delta: &str) {
        let Some(Content::Text(block)) = self.message.content.get_mut(index) else { return };
        block.text.push_str(delta);
        if let Some(StreamEvent::TextDelta { content_index, delta: queued }) = self.events.back_mut()
            && *content_index == index
        {
            queued.push_str(delta);
        } else {
            self.events.push_back(StreamEvent::TextDelta { content_index: index, delta: delta.to_owned() });
        }
    }

    pub fn push_thinking(&mut self, index: usize, delta: &str) {
        let Some(Content::Thinking(block)) = self.message.content.get_mut(index) else { return };
        block.thinking.push_str(delta);
        if let Some(StreamEvent::ThinkingDelta { content_index, delta: queued }) = self.events.back_mut()
            && *content_index == index
        {
            queued.push_str(delta);
        } else {
            self.events.push_back(StreamEvent::ThinkingDelta { content_index: index, delta: delta.to_owned() });
        }
    }

    /// Adds argument text. The message shows the partial arguments at once.
    pub fn push_arguments(&mut self, index: usize, delta: &str) {
        let Some(open) = self.arguments.iter_mut().find(|open| open.content_index == index) else { return };
        open.raw.push_str(delta);
        if let Some(Content::ToolCall(call)) = self.message.content.get_mut(index) {
            open.partial.push(delta, &mut call.arguments);
        }
        if let Some(StreamEvent::ToolCallDelta { content_index, delta: queued }) = self.events.back_mut()
            && *content_index == index
        {
            queued.push_str(delta);
        } else {
            self.events.push_back(StreamEvent::ToolCallDelta { content_index: index, delta: delta.to_owned() });
        }
    }

    /// Returns the argument text received so far for an open call.
    pub fn raw_arguments(&self, index: usize) -> Option<&str> {
        self.arguments.iter().find(|open| open.content_index == index).map(|open| open.raw.as_str())
    }

    pub fn edit_tool_call(&mut self, index: usize, edit: impl FnOnce(&mut ToolCall)) {
        if let Some(Content::ToolCall(call)) = self.message.content.get_mut(index) {
            edit(call);
        }
    }

    pub fn edit_thinking(&mut self, index: usize, edit: impl FnOnce(&mut ThinkingContent)) {
        if let Some(Content::Thinking(block)) = self.message.content.get_mut(index) {
            edit(block);
        }
    }

    pub fn edit_text(&mut self, index: usize, edit: impl FnOnce(&mut TextContent)) {
        if let Some(Content::Text(block)) = self.message.content.get_mut(index) {
            edit(block);
        }
    }

    /// Ends a block. A tool call whose arguments are not one complete JSON object is marked and will not run.
    pub fn close(&mut self, index: usize) {
        let Some(position) = self.open.iter().position(|open| *open == index) else { return };
        self.open.remove(position);
        self.settle_arguments(index);
        let event = match self.message.content.get(index) {
            Some(Content::Text(block)) => StreamEvent::TextEnd { content_index: index, content: block.text.clone() },
            Some(Content::Thinking(block)) => {
                StreamEvent::ThinkingEnd { content_index: index, content: block.thinking.clone() }
            }
            Some(call @ Content::ToolCall(_)) => {
                StreamEvent::ToolCallEnd { content_index: index, tool_call: call.clone() }
            }
            _ => return,
        };
        self.events.push_back(event);
    }

    pub fn close_all(&mut self) {
        while let Some(index) = self.open.first().copied() {
            self.close(index);
        }
    }

    /// Ends the answer successfully, unless it is empty and used no tokens: then there was no answer.
    pub fn finish(&mut self, reason: StopReason) {
        if self.finished {
            return;
        }
        if self.message.content.is_empty() && self.message.usage.output == 0 {
            let AssistantMessage { provider, model, .. } = &self.message;
            let message = format!("{provider}/{model} gave an empty answer");
            return self.fail(ModelError::new(ErrorKind::Protocol, message));
        }
        self.close_all();
        self.finished = true;
        self.message.stop_reason = reason;
        self.events.push_back(StreamEvent::Done { reason });
    }

    /// Ends the answer with an error and keeps the content so far.
    pub fn fail(&mut self, error: ModelError) {
        if self.finished {
            return;
        }
        self.close_all();
        self.finished = true;
        self.message.stop_reason = StopReason::Error;
        self.message.error_message = Some(error.message.clone());
        self.message.error = Some(error);
        self.events.push_back(StreamEvent::Error { reason: StopReason::Error });
    }

    fn open_block(&mut self, block: Content) -> usize {
        let index = self.message.content.len();
        self.message.content.push(block);
        self.open.push(index);
        index
    }

    fn unique_id(&self, id: &str) -> String {
        let base = if id.is_empty() { format!("call_{}", self.message.content.len()) } else { id.to_owned() };
        let taken = |candidate: &str| self.message.tool_calls().any(|call| call.id == candidate);
        if !taken(&base) {
            return base;
        }
        (2..).map(|n| format!("{base}_{n}")).find(|candidate| !taken(candidate)).unwrap_or(base)
    }

    fn settle_arguments(&mut self, index: usize) {
        let Some(position) = self.arguments.iter().position(|open| open.content_index == index) else { return };
        let raw = self.arguments.remove(position).raw;
        self.edit_tool_call(index, |call| match parse_arguments(&raw) {
            Some(arguments) => call.arguments = arguments,
            None => {
                call.arguments = Map::new();
                call.invalid_arguments = Some(raw);
            }
        });
    }
}

/// Parses one complete JSON object; empty text is a call without arguments.
fn parse_arguments(raw: &str) -> Option<Map<String, Value>> {
    if raw.trim().is_empty() {
        return Some(Map::new());
    }
    serde_json::from_str(raw).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Api, Prices};

    fn model() -> Model {
        Model {
            id: "m".into(),
            name: "M".into(),
            api: Api::Demo,
            provider: "p".into(),
            base_url: String::new(),
            reasoning: false,
            input: vec![],
            cost: Prices::default(),
            context_window: 1,
            max_tokens: 1,
            headers: Default::default(),
            thinking: None,
            compat: Value::Null,
            context_promotion_target: None,
        }
    }

    fn drain(builder: &mut MessageBuilder) -> Vec<StreamEvent> {
        std::iter::from_fn(|| builder.next_event()).collect()
    }

    #[test]
    fn queued_deltas_of_one_block_are_merged() {
        let mut builder = MessageBuilder::new(&model());
        let text = builder.open_text();
        builder.push_text(text, "a");
        builder.push_text(text, "b");
        builder.finish(StopReason::Stop);
        assert_eq!(
            drain(&mut builder),
            [
                StreamEvent::Start,
                StreamEvent::TextStart { content_index: 0 },
                StreamEvent::TextDelta { content_index: 0, delta: "ab".into() },
                StreamEvent::TextEnd { content_index: 0, content: "ab".into() },
                StreamEvent::Done { reason: StopReason::Stop },
            ]
        );
    }

    #[test]
    fn an_answer_of_nothing_is_a_failure() {
        let mut builder = MessageBuilder::new(&model());
        builder.finish(StopReason::Stop);
        assert_eq!(builder.message().stop_reason, StopReason::Error);
        let mut builder = MessageBuilder::new(&model());
        builder.set_usage(Usage { output: 2, ..Usage::default() });
        builder.finish(StopReason::Stop);
        assert_eq!(builder.message().stop_reason, StopReason::Stop, "the model chose to say nothing");
    }

    #[test]
    fn two_calls_with_one_id_become_two_ids() {
        let mut builder = MessageBuilder::new(&model());
        builder.open_tool_call("x", "read");
        builder.open_tool_call("x", "read");
        builder.finish(StopReason::ToolUse);
        let ids: Vec<_> = builder.message().tool_calls().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["x", "x_2"]);
    }

    #[test]
    fn cut_off_arguments_are_marked_not_repaired() {
        let mut builder = MessageBuilder::new(&model());
        let call = builder.open_tool_call("x", "bash");
        builder.push_arguments(call, r#"{"command":"rm -rf bui"#);
        builder.finish(StopReason::ToolUse);
        let call = builder.message().tool_calls().next().unwrap();
        assert!(call.arguments.is_empty());
        assert_eq!(call.invalid_arguments.as_deref(), Some(r#"{"command":"rm -rf bui"#));
    }

    #[test]
    fn arguments_are_visible_while_they_stream() {
        let mut builder = MessageBuilder::new(&model());
        let call = builder.open_tool_call("x", "bash");
        builder.push_arguments(call, r#"{"command":"car"#);
        builder.push_arguments(call, r#"go te"#);
        assert_eq!(builder.message().tool_calls().next().unwrap().arguments["command"], "cargo te");
    }

    #[test]
    fn an_array_is_not_a_set_of_arguments() {
        assert_eq!(parse_arguments("[1]"), None);
        assert_eq!(parse_arguments("  "), Some(Map::new()));
    }
}
