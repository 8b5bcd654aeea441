//! Decodes a chat stream: text, thinking and calls in fragments, counts near the end, and an optional `[DONE]`.
//!
//! An answer is complete after a finish reason. It is finished at `[DONE]` or at the end of the body, because the counts may
//! follow the reason.

use std::borrow::Cow;
use std::sync::Arc;

use omp_types::{MessageBuilder, Model, ModelError, StopReason};
use serde_json::value::RawValue;

use super::calls::StreamedCalls;
use super::chunk::{Choice, Chunk, ContentPart, Delta, ReasoningDetail, TokenCounts};
use crate::errors;
use crate::wire::Decoder;
use crate::wire::json::{self, cut_off};

pub(super) struct ChatDecoder {
    model: Arc<Model>,
    open: OpenBlock,
    calls: StreamedCalls,
    stop: Option<StopReason>,
}

/// The block that the next text or thinking is appended to.
#[derive(Clone, Copy, PartialEq)]
enum OpenBlock {
    Nothing,
    Text(usize),
    Thinking(usize),
}

impl ChatDecoder {
    pub(super) fn new(model: Arc<Model>) -> Self {
        Self { model, open: OpenBlock::Nothing, calls: StreamedCalls::default(), stop: None }
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, name: &str, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            return self.done(answer);
        }
        let chunk: Chunk = json::parse(&self.model, data)?;
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(json::error_from(&self.model, error.get()));
        }
        if name == "error" || chunk.object.as_deref() == Some("error") {
            return Err(json::error_from(&self.model, data));
        }
        if let Some(id) = chunk.id.filter(|id| !id.is_empty() && answer.message().response_id.is_none()) {
            answer.set_response_id(id.0);
        }
        self.count(chunk.usage.or(chunk.x_groq.and_then(|groq| groq.usage)), answer);
        // Only one choice was requested.
        match chunk.choices.and_then(|choices| choices.into_iter().next()) {
            Some(choice) => self.choice(choice, answer),
            None => Ok(()),
        }
    }

    fn end(&mut self, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let stop = self.stop.ok_or_else(|| cut_off(&self.model, "a finish reason"))?;
        finish(stop, answer);
        Ok(())
    }

    fn whole(&mut self, body: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        self.event("", body, answer)?;
        if self.stop.is_none() && !answer.has_content() {
            return Err(json::no_answer(&self.model, body));
        }
        finish(self.stop.unwrap_or(StopReason::Stop), answer);
        Ok(())
    }
}

impl ChatDecoder {
    fn count(&mut self, counts: Option<TokenCounts>, answer: &mut MessageBuilder) {
        if let Some(usage) = counts.and_then(|counts| counts.usage(&self.model.cost)) {
            answer.set_usage(usage);
        }
    }

    fn choice(&mut self, choice: Choice<'_>, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        if let Some(error) = choice.error.filter(|error| error.get() != "null") {
            return Err(json::error_from(&self.model, error.get()));
        }
        self.count(choice.usage, answer);
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(&delta, answer);
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.stop = Some(stop_reason(&self.model, &reason)?);
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Delta<'_>, answer: &mut MessageBuilder) {
        // Servers that send thinking under two names send it twice, so only the first name is used.
        let thoughts = [
            ("reasoning_content", delta.reasoning_content),
            ("reasoning", delta.reasoning),
            ("reasoning_text", delta.reasoning_text),
        ];
        let thought = thoughts.into_iter().find_map(|(field, raw)| Some((field, filled(json::string_of(raw))?)));
        if let Some((field, text)) = thought {
            self.think(field, &text, answer);
        }
        self.content(delta.content, answer);
        if let Some(refusal) = filled(json::string_of(delta.refusal)) {
            self.say(&refusal, answer);
        }
        for call in delta.tool_calls.iter().flatten() {
            self.close_open(answer);
            self.calls.add(call, answer);
        }
        if let Some(function) = &delta.function_call {
            self.close_open(answer);
            self.calls.add_legacy(function, answer);
        }
        if let Some(details) = delta.reasoning_details {
            sign_calls(details, answer);
        }
    }

    fn content(&mut self, content: Option<&RawValue>, answer: &mut MessageBuilder) {
        if let Some(text) = filled(json::string_of(content)) {
            return self.say(&text, answer);
        }
        let parts = content.filter(|raw| raw.get().starts_with('['));
        for part in parts.and_then(|raw| serde_json::from_str::<Vec<ContentPart>>(raw.get()).ok()).into_iter().flatten()
        {
            match part {
                ContentPart::Text { text } => self.say(&text, answer),
                ContentPart::Thinking { thinking } => {
                    for part in thinking {
                        if let ContentPart::Text { text } = part {
                            self.think("content", &text, answer);
                        }
                    }
                }
                ContentPart::Unknown => {}
            }
        }
    }

    fn say(&mut self, text: &str, answer: &mut MessageBuilder) {
        let index = match self.open {
            OpenBlock::Text(index) => index,
            _ => {
                self.close_open(answer);
                let index = answer.open_text();
                self.open = OpenBlock::Text(index);
                index
            }
        };
        answer.push_text(index, text);
    }

    fn think(&mut self, field: &'static str, text: &str, answer: &mut MessageBuilder) {
        let index = match self.open {
            OpenBlock::Thinking(index) => index,
            _ => {
                self.close_open(answer);
                let index = answer.open_thinking();
                answer.edit_thinking(index, |block| block.thinking_signature = Some(field.to_owned()));
                self.open = OpenBlock::Thinking(index);
                index
            }
        };
        answer.push_thinking(index, text);
    }

    fn close_open(&mut self, answer: &mut MessageBuilder) {
        if let OpenBlock::Text(index) | OpenBlock::Thinking(index) =
            std::mem::replace(&mut self.open, OpenBlock::Nothing)
        {
            answer.close(index);
        }
    }

    /// `[DONE]` completes the answer even without a finish reason; an empty answer is an error.
    fn done(&mut self, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        if self.stop.is_none() && !answer.has_content() {
            return Err(cut_off(&self.model, "any content"));
        }
        finish(self.stop.unwrap_or(StopReason::Stop), answer);
        Ok(())
    }
}

fn filled(text: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    text.filter(|text| !text.is_empty())
}

/// Servers confuse `stop` and `tool_calls`, so the presence of calls decides.
fn finish(stop: StopReason, answer: &mut MessageBuilder) {
    let stop = match stop {
        StopReason::Stop | StopReason::ToolUse if answer.has_tool_calls() => StopReason::ToolUse,
        StopReason::ToolUse => StopReason::Stop,
        other => other,
    };
    answer.finish(stop);
}

fn stop_reason(model: &Model, reason: &str) -> Result<StopReason, ModelError> {
    match reason {
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => Ok(StopReason::Length),
        "tool_calls" | "function_call" | "tool_use" => Ok(StopReason::ToolUse),
        "content_filter" | "sensitive" => Err(errors::refused(model, reason)),
        "error" | "network_error" | "insufficient_system_resource" => {
            Err(errors::reported(model, "", &format!("the answer ended with `{reason}`")))
        }
        _ => Ok(StopReason::Stop),
    }
}

/// Keeps the encrypted thoughts of calls, which are sent back with them.
fn sign_calls(details: &RawValue, answer: &mut MessageBuilder) {
    if !details.get().contains("reasoning.encrypted") {
        return;
    }
    let details: Vec<&RawValue> = serde_json::from_str(details.get()).unwrap_or_default();
    for raw in details {
        let Ok(detail) = serde_json::from_str::<ReasoningDetail>(raw.get()) else { continue };
        let is_thought = &*detail.kind == "reasoning.encrypted" && detail.data.is_some_and(|data| !data.is_empty());
        let Some(id) = detail.id.filter(|_| is_thought) else { continue };
        let content = &answer.message().content;
        let call = content.iter().position(|block| block.as_tool_call().is_some_and(|call| call.id == *id));
        if let Some(index) = call {
            answer.edit_tool_call(index, |call| call.thought_signature = Some(raw.get().to_owned()));
        }
    }
}
