//! Decodes a Gemini stream: each event holds new parts; the last one has a finish reason.

use std::sync::Arc;

use omp_types::{MessageBuilder, Model, ModelError, Prices, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::errors;
use crate::wire::Decoder;
use crate::wire::history::made_up_id;
use crate::wire::json::{self, Text, cut_off};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    prompt_feedback: Option<PromptFeedback<'a>>,
    usage_metadata: Option<TokenCounts>,
    #[serde(borrow)]
    response_id: Option<Text<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Text<'a>>,
    #[serde(borrow)]
    finish_message: Option<Text<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
    thought: Option<bool>,
    #[serde(borrow)]
    thought_signature: Option<Text<'a>>,
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PromptFeedback<'a> {
    #[serde(borrow)]
    block_reason: Option<Text<'a>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TokenCounts {
    prompt_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
}

pub(super) struct GoogleDecoder {
    model: Arc<Model>,
    open: OpenPart,
    stop: Option<StopReason>,
}

/// The open block, which continues as long as parts of its kind follow.
#[derive(Clone, Copy, PartialEq)]
enum OpenPart {
    Nothing,
    Text(usize),
    Thinking(usize),
}

impl GoogleDecoder {
    pub(super) fn new(model: Arc<Model>) -> Self {
        Self { model, open: OpenPart::Nothing, stop: None }
    }
}

impl Decoder for GoogleDecoder {
    fn event(&mut self, _name: &str, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let data = data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let chunk = self.chunk(data)?;
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(json::error_from(&self.model, error.get()));
        }
        if let Some(id) = chunk.response_id.filter(|id| !id.is_empty() && answer.message().response_id.is_none()) {
            answer.set_response_id(id.0);
        }
        let counts = chunk.usage_metadata;
        if let Some(counts) = counts {
            answer.set_usage(counts.usage(&self.model.cost));
        }
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            return Err(errors::refused(&self.model, &format!("the prompt was blocked ({})", &*reason)));
        }
        // Only one candidate was requested.
        if let Some(candidate) = chunk.candidates.and_then(|candidates| candidates.into_iter().next()) {
            self.candidate(candidate, answer)?;
        }
        // The counts may come in a separate event after the finish reason; then the end of the body finishes the answer.
        if self.stop.is_some() && counts.is_some() {
            self.finish(answer);
        }
        Ok(())
    }

    fn end(&mut self, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        if self.stop.is_none() {
            return Err(cut_off(&self.model, "a finish reason"));
        }
        self.finish(answer);
        Ok(())
    }

    /// Without `alt=sse`, the API answers with a list of the events.
    fn whole(&mut self, body: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let body = body.trim();
        let chunks: Vec<&RawValue> = match body.starts_with('[') {
            true => json::parse(&self.model, body)?,
            false => vec![json::parse(&self.model, body)?],
        };
        for chunk in chunks {
            self.event("", chunk.get(), answer)?;
            if answer.is_finished() {
                return Ok(());
            }
        }
        if self.stop.is_none() && !answer.has_content() {
            return Err(json::no_answer(&self.model, body));
        }
        self.end(answer)
    }
}

impl GoogleDecoder {
    /// An error before the start of the stream is a list of one element.
    fn chunk<'a>(&self, data: &'a str) -> Result<Chunk<'a>, ModelError> {
        if !data.starts_with('[') {
            return json::parse(&self.model, data);
        }
        let chunks: Vec<Chunk> = json::parse(&self.model, data)?;
        Ok(chunks.into_iter().next().unwrap_or_default())
    }

    fn candidate(&mut self, candidate: Candidate<'_>, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let parts = candidate.content.and_then(|content| content.parts);
        for part in parts.iter().flatten() {
            self.part(part, answer);
        }
        if let Some(reason) = candidate.finish_reason.filter(|reason| !reason.is_empty()) {
            self.stop = Some(stop_reason(&self.model, &reason, candidate.finish_message.as_deref())?);
        }
        Ok(())
    }

    fn part(&mut self, part: &Part<'_>, answer: &mut MessageBuilder) {
        let signature = part.thought_signature.as_deref().filter(|signature| !signature.is_empty());
        if let Some(call) = &part.function_call {
            return self.call(call, signature, answer);
        }
        let Some(text) = part.text.as_deref() else { return };
        if text.is_empty() {
            // A late signature belongs to the last part.
            if let Some(signature) = signature {
                self.sign_last(signature, answer);
            }
            return;
        }
        if part.thought == Some(true) {
            self.think(text, answer)
        } else {
            self.say(text, answer)
        }
        if let Some(signature) = signature {
            self.sign_last(signature, answer);
        }
    }

    fn say(&mut self, text: &str, answer: &mut MessageBuilder) {
        let index = match self.open {
            OpenPart::Text(index) => index,
            _ => {
                self.close_open(answer);
                answer.open_text()
            }
        };
        self.open = OpenPart::Text(index);
        answer.push_text(index, text);
    }

    fn think(&mut self, text: &str, answer: &mut MessageBuilder) {
        let index = match self.open {
            OpenPart::Thinking(index) => index,
            _ => {
                self.close_open(answer);
                answer.open_thinking()
            }
        };
        self.open = OpenPart::Thinking(index);
        answer.push_thinking(index, text);
    }

    /// Signs and closes the open block: a signed part must not be merged with another.
    fn sign_last(&mut self, signature: &str, answer: &mut MessageBuilder) {
        let signature = Some(signature.to_owned());
        match self.open {
            OpenPart::Thinking(index) => answer.edit_thinking(index, |block| block.thinking_signature = signature),
            OpenPart::Text(index) => answer.edit_text(index, |block| block.text_signature = signature),
            OpenPart::Nothing => {
                let index = answer.open_text();
                self.open = OpenPart::Text(index);
                answer.edit_text(index, |block| block.text_signature = signature);
            }
        }
        self.close_open(answer);
    }

    /// Adds a call; calls are never split.
    fn call(&mut self, call: &FunctionCall<'_>, signature: Option<&str>, answer: &mut MessageBuilder) {
        self.close_open(answer);
        let name = call.name.as_deref().unwrap_or_default();
        let arguments = json::text_of(call.args).unwrap_or_else(|| "{}".into());
        let id = match call.id.as_deref() {
            Some(id) if !id.is_empty() => id.to_owned(),
            _ => made_up_id(answer.message(), name, &arguments),
        };
        let block = answer.open_tool_call(&id, name);
        answer.edit_tool_call(block, |call| call.thought_signature = signature.map(str::to_owned));
        answer.push_arguments(block, &arguments);
        answer.close(block);
    }

    fn close_open(&mut self, answer: &mut MessageBuilder) {
        if let OpenPart::Text(index) | OpenPart::Thinking(index) = std::mem::replace(&mut self.open, OpenPart::Nothing)
        {
            answer.close(index);
        }
    }

    fn finish(&self, answer: &mut MessageBuilder) {
        let stop = self.stop.unwrap_or(StopReason::Stop);
        answer.finish(if stop == StopReason::Stop && answer.has_tool_calls() { StopReason::ToolUse } else { stop });
    }
}

fn stop_reason(model: &Model, reason: &str, message: Option<&str>) -> Result<StopReason, ModelError> {
    let told = || match message {
        Some(message) if !message.is_empty() => format!("{reason}: {}", errors::quote(message)),
        _ => reason.to_owned(),
    };
    match reason {
        "STOP" => Ok(StopReason::Stop),
        "MAX_TOKENS" => Ok(StopReason::Length),
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Err(errors::refused(model, &told())),
        "MISSING_THOUGHT_SIGNATURE" => Err(errors::reported(model, "invalid_argument", &told())),
        _ => Err(errors::protocol(model, format_args!("it ended with {}", told()))),
    }
}

impl TokenCounts {
    fn usage(self, prices: &Prices) -> Usage {
        let prompt = self.prompt_token_count.unwrap_or(0) + self.tool_use_prompt_token_count.unwrap_or(0);
        let cached = self.cached_content_token_count.unwrap_or(0).min(prompt);
        let output = self.candidates_token_count.unwrap_or(0) + self.thoughts_token_count.unwrap_or(0);
        Usage { input: prompt - cached, output, cache_read: cached, ..Usage::default() }.priced(prices)
    }
}
