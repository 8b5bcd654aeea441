//! The conversation as input items, borrowed from the history.
//!
//! The system prompt is the first item rather than `instructions`: every server accepts it there, and it still precedes the
//! conversation.

use std::borrow::Cow;

use omp_types::{AssistantMessage, Content, ImageContent, Message, Model, Request, ToolResultMessage, shortened_items};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::ids;
use crate::wire::endpoint::{self, ServerVendor};
use crate::wire::history::{self, AnswerPiece, InputPiece};
use crate::wire::json;

pub(super) const NAME_LIMIT: usize = 64;
const RESULT_IMAGES: &str = "Images from the tool results above:";

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum InputItem<'a> {
    Message(InputMessage<'a>),
    Text(OutputMessage<'a>),
    /// An answer without a server-side ID: it was made by another model, or its reasoning is lost.
    Said(SaidMessage<'a>),
    /// A reasoning item exactly as the server sent it.
    Reasoning(&'a RawValue),
    Call(FunctionCallItem<'a>),
    Result(FunctionResult<'a>),
    /// The server's compacted form of an earlier part of the conversation.
    Shortened(&'a Value),
}

#[derive(Serialize)]
pub(super) struct InputMessage<'a> {
    role: &'static str,
    content: Vec<InputPart<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputPart<'a> {
    InputText {
        text: Cow<'a, str>,
    },
    InputImage {
        detail: &'static str,
        #[serde(serialize_with = "json::data_url")]
        image_url: &'a ImageContent,
    },
}

#[derive(Serialize)]
pub(super) struct OutputMessage<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    id: Cow<'a, str>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Cow<'a, str>>,
    content: [OutputText<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct SaidMessage<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct OutputText<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    annotations: [(); 0],
}

#[derive(Serialize)]
pub(super) struct FunctionCallItem<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    call_id: Cow<'a, str>,
    name: Cow<'a, str>,
    #[serde(serialize_with = "json::json_in_text")]
    arguments: &'a Map<String, Value>,
}

#[derive(Serialize)]
pub(super) struct FunctionResult<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: Cow<'a, str>,
    output: CallOutput<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum CallOutput<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<InputPart<'a>>),
}

pub(super) fn input(request: &Request) -> Vec<InputItem<'_>> {
    let mut items = Items::new(request);
    items.system(&request.system);
    items.conversation(request);
    items.sent
}

/// Returns the input items without the system prompt.
pub(super) fn conversation(request: &Request) -> Vec<InputItem<'_>> {
    let mut items = Items::new(request);
    items.conversation(request);
    items.sent
}

struct Items<'a> {
    model: &'a Model,
    vendor: ServerVendor,
    sent: Vec<InputItem<'a>>,
    /// Images of results for servers that accept only text results; they follow the results.
    images: Vec<&'a ImageContent>,
}

impl<'a> Items<'a> {
    fn new(request: &'a Request) -> Self {
        let model = &*request.model;
        Self { model, vendor: endpoint::vendor(model), sent: Vec::new(), images: Vec::new() }
    }

    fn conversation(&mut self, request: &'a Request) {
        for message in &request.messages {
            match &**message {
                Message::Assistant(answer) => self.answer(answer),
                Message::ToolResult(result) => self.result(result),
                other if let Some((items, beside)) = shortened_items(other, self.model) => {
                    self.shortened(items, beside)
                }
                other => {
                    if let Some(content) = history::input_of(other) {
                        self.input(content);
                    }
                }
            }
        }
        self.flush_images();
    }

    fn system(&mut self, system: &'a str) {
        if system.trim().is_empty() {
            return;
        }
        let set = self.model.compat.get("supportsDeveloperRole").and_then(Value::as_bool);
        let takes_developer = set.unwrap_or(matches!(self.vendor, ServerVendor::OpenAi | ServerVendor::Copilot));
        let role = if takes_developer && self.model.reasoning { "developer" } else { "system" };
        let content = vec![InputPart::InputText { text: Cow::Borrowed(system) }];
        self.sent.push(InputItem::Message(InputMessage { role, content }));
    }

    fn input(&mut self, content: &'a [Content]) {
        self.flush_images();
        let content: Vec<_> = history::inputs(content, self.model).map(part).collect();
        if !content.is_empty() {
            self.sent.push(InputItem::Message(InputMessage { role: "user", content }));
        }
    }

    fn shortened(&mut self, items: &'a [Value], beside: Option<&'a str>) {
        self.flush_images();
        self.sent.extend(items.iter().map(InputItem::Shortened));
        if let Some(text) = beside {
            let content = vec![InputPart::InputText { text: Cow::Borrowed(text) }];
            self.sent.push(InputItem::Message(InputMessage { role: "user", content }));
        }
    }

    fn answer(&mut self, answer: &'a AssistantMessage) {
        self.flush_images();
        // Reasoning must be followed by its output, and an item ID refers to the reasoning before it: both are sent, or
        // neither.
        let mut waiting = Vec::new();
        let mut lost_reasoning = false;
        let own = history::is_own(answer, self.model);
        for piece in history::pieces(answer, self.model) {
            let item = match piece {
                AnswerPiece::Thinking { signature, .. } => {
                    match signature.and_then(|json| self.reasoning(json)) {
                        Some(item) => waiting.push(item),
                        None => lost_reasoning = true,
                    }
                    continue;
                }
                AnswerPiece::RedactedThinking(_) => continue,
                AnswerPiece::Text { text, .. } if text.trim().is_empty() => continue,
                AnswerPiece::Text { text, signature } => output_message(text, signature.filter(|_| !lost_reasoning)),
                AnswerPiece::Call { call, .. } => InputItem::Call(FunctionCallItem {
                    kind: "function_call",
                    id: ids::call_item_id(&call.id).filter(|_| own && !lost_reasoning),
                    call_id: ids::call_id(&call.id),
                    name: history::portable_id(&call.name, NAME_LIMIT),
                    arguments: &call.arguments,
                }),
            };
            self.sent.append(&mut waiting);
            self.sent.push(item);
        }
    }

    /// Returns a reasoning item that the server accepts: encrypted, because nothing is stored there; local servers use plain
    /// text.
    fn reasoning(&self, json: &'a str) -> Option<InputItem<'a>> {
        #[derive(Deserialize)]
        struct Reasoning<'a> {
            #[serde(rename = "type")]
            kind: &'a str,
            #[serde(default)]
            encrypted_content: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            content: Option<Vec<&'a RawValue>>,
        }
        let reasoning: Reasoning = serde_json::from_str(json).ok()?;
        let usable = match self.vendor {
            ServerVendor::Local => reasoning.content.is_some_and(|parts| !parts.is_empty()),
            _ => reasoning.encrypted_content.is_some_and(|content| !content.is_empty()),
        };
        if reasoning.kind != "reasoning" || !usable {
            return None;
        }
        serde_json::from_str(json).ok().map(InputItem::Reasoning)
    }

    fn result(&mut self, result: &'a ToolResultMessage) {
        let (text, images) = history::result_text_and_images(result, self.model);
        let output = if images.is_empty() || self.vendor == ServerVendor::Local {
            self.images.extend(images);
            CallOutput::Text(text)
        } else {
            CallOutput::Parts(with_images(text, images))
        };
        let call_id = ids::call_id(&result.tool_call_id);
        self.sent.push(InputItem::Result(FunctionResult { kind: "function_call_output", call_id, output }));
    }

    fn flush_images(&mut self) {
        if !self.images.is_empty() {
            let content = with_images(Cow::Borrowed(RESULT_IMAGES), std::mem::take(&mut self.images));
            self.sent.push(InputItem::Message(InputMessage { role: "user", content }));
        }
    }
}

fn output_message<'a>(text: &'a str, signature: Option<&'a str>) -> InputItem<'a> {
    let (Some(id), phase) = ids::text_item(signature) else {
        return InputItem::Said(SaidMessage { kind: "message", role: "assistant", content: text });
    };
    let content = [OutputText { kind: "output_text", text, annotations: [] }];
    InputItem::Text(OutputMessage { kind: "message", role: "assistant", id, status: "completed", phase, content })
}

fn with_images<'a>(text: Cow<'a, str>, images: Vec<&'a ImageContent>) -> Vec<InputPart<'a>> {
    let text = InputPart::InputText { text };
    std::iter::once(text).chain(images.into_iter().map(|image| part(InputPiece::Image(image)))).collect()
}

fn part(input: InputPiece<'_>) -> InputPart<'_> {
    match input {
        InputPiece::Text(text) => InputPart::InputText { text: Cow::Borrowed(text) },
        InputPiece::Image(image_url) => InputPart::InputImage { detail: "auto", image_url },
    }
}
