//! The conversation as chat messages, borrowed from the history.

use std::borrow::Cow;

use omp_types::{AssistantMessage, CacheRetention, Content, ImageContent, Message, Request, ToolResultMessage};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::compat::MessageCompat;
use crate::wire::history::{self, AnswerPiece, InputPiece};
use crate::wire::json;

/// Maximum length of call IDs at OpenAI.
const ID_LIMIT: usize = 40;
const MISTRAL_ID: usize = 9;
pub(super) const NAME_LIMIT: usize = 64;
const BRIDGE: &str = "I have read the tool results.";
const RESULT_IMAGES: &str = "Images from the tool results above:";

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum ChatMessage<'a> {
    System {
        content: ChatContent<'a>,
    },
    Developer {
        content: ChatContent<'a>,
    },
    User {
        content: ChatContent<'a>,
    },
    Assistant(AssistantAnswer<'a>),
    Tool {
        tool_call_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Cow<'a, str>>,
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CompletionsCacheControl>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ChatContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<ChatPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ChatPart<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CompletionsCacheControl>,
    },
    ImageUrl {
        image_url: ImageUrl<'a>,
    },
}

#[derive(Serialize)]
pub(super) struct ImageUrl<'a> {
    #[serde(serialize_with = "json::data_url")]
    url: &'a ImageContent,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct CompletionsCacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

#[derive(Default, Serialize)]
pub(super) struct AssistantAnswer<'a> {
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasoning_details: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallEntry<'a>>,
}

#[derive(Serialize)]
struct CallEntry<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: FunctionEntry<'a>,
}

#[derive(Serialize)]
struct FunctionEntry<'a> {
    name: Cow<'a, str>,
    #[serde(serialize_with = "json::json_in_text")]
    arguments: &'a Map<String, Value>,
}

pub(super) fn messages<'a>(request: &'a Request, compat: &MessageCompat) -> Vec<ChatMessage<'a>> {
    let mut chat = Chat { request, compat: *compat, sent: Vec::new(), images: Vec::new() };
    chat.system();
    for message in &request.messages {
        match &**message {
            Message::Assistant(answer) => chat.answer(answer),
            Message::ToolResult(result) => chat.result(result),
            other => {
                if let Some(content) = history::input_of(other) {
                    chat.input(content);
                }
            }
        }
    }
    chat.flush_images();
    if compat.supports_cache_control {
        mark_last(&mut chat.sent, cache_control(request));
    }
    chat.sent
}

struct Chat<'a> {
    request: &'a Request,
    compat: MessageCompat,
    sent: Vec<ChatMessage<'a>>,
    /// Images of the tool results since the last answer: results hold only text, so the images follow them.
    images: Vec<&'a ImageContent>,
}

impl<'a> Chat<'a> {
    fn system(&mut self) {
        let system = &*self.request.system;
        if system.trim().is_empty() {
            return;
        }
        let content = if self.compat.supports_cache_control {
            let cache_control = Some(cache_control(self.request));
            ChatContent::Parts(vec![ChatPart::Text { text: system, cache_control }])
        } else {
            ChatContent::Text(Cow::Borrowed(system))
        };
        let developer = self.compat.supports_developer_role && self.request.model.reasoning;
        self.sent.push(if developer { ChatMessage::Developer { content } } else { ChatMessage::System { content } });
    }

    fn input(&mut self, content: &'a [Content]) {
        self.flush_images();
        let inputs: Vec<_> = history::inputs(content, &self.request.model).collect();
        if inputs.is_empty() {
            return;
        }
        self.user(self.content_of(&inputs));
    }

    /// Uses a plain string if possible, because many servers accept nothing else.
    fn content_of(&self, inputs: &[InputPiece<'a>]) -> ChatContent<'a> {
        let has_image = inputs.iter().any(|input| matches!(input, InputPiece::Image(_)));
        if has_image || self.compat.supports_cache_control {
            return ChatContent::Parts(inputs.iter().map(|input| part(*input)).collect());
        }
        let texts: Vec<&str> = inputs
            .iter()
            .filter_map(|input| match input {
                InputPiece::Text(text) => Some(*text),
                InputPiece::Image(_) => None,
            })
            .collect();
        ChatContent::Text(history::joined(&texts, "\n"))
    }

    fn user(&mut self, content: ChatContent<'a>) {
        if self.compat.requires_assistant_after_tool_result
            && matches!(self.sent.last(), Some(ChatMessage::Tool { .. }))
        {
            let bridge = AssistantAnswer { content: Some(Cow::Borrowed(BRIDGE)), ..AssistantAnswer::default() };
            self.sent.push(ChatMessage::Assistant(bridge));
        }
        self.sent.push(ChatMessage::User { content });
    }

    fn answer(&mut self, answer: &'a AssistantMessage) {
        self.flush_images();
        let mut entry = AssistantAnswer::default();
        let mut texts: Vec<Cow<'a, str>> = Vec::new();
        for piece in history::pieces(answer, &self.request.model) {
            match piece {
                AnswerPiece::Text { text, .. } if text.trim().is_empty() => {}
                AnswerPiece::Text { text, .. } => texts.push(Cow::Borrowed(text)),
                AnswerPiece::Thinking { text, .. } if self.compat.requires_thinking_as_text => {
                    texts.extend(as_text(text))
                }
                AnswerPiece::Thinking { text, signature } => entry.think(text, signature),
                AnswerPiece::RedactedThinking(_) => {}
                AnswerPiece::Call { call, signature } => {
                    // The signature is an encrypted thought that belongs to the call.
                    entry
                        .reasoning_details
                        .extend(signature.and_then(|json| serde_json::from_str::<&RawValue>(json).ok()));
                    entry.tool_calls.push(CallEntry {
                        id: self.call_id(&call.id),
                        kind: "function",
                        function: FunctionEntry {
                            name: history::portable_id(&call.name, NAME_LIMIT),
                            arguments: &call.arguments,
                        },
                    });
                }
            }
        }
        entry.content = concatenated(texts);
        if entry.content.is_none() && entry.tool_calls.is_empty() {
            return;
        }
        if self.compat.requires_reasoning_content && entry.reasoning_content.is_none() {
            entry.reasoning_content = Some(Cow::Borrowed(""));
        }
        self.sent.push(ChatMessage::Assistant(entry));
    }

    fn result(&mut self, result: &'a ToolResultMessage) {
        let (content, images) = history::result_text_and_images(result, &self.request.model);
        self.images.extend(images);
        let named = self.compat.requires_tool_result_name;
        self.sent.push(ChatMessage::Tool {
            tool_call_id: self.call_id(&result.tool_call_id),
            name: named.then(|| history::portable_id(&result.tool_name, NAME_LIMIT)),
            content,
            cache_control: None,
        });
    }

    fn flush_images(&mut self) {
        if self.images.is_empty() {
            return;
        }
        let images = std::mem::take(&mut self.images);
        let mut parts = vec![ChatPart::Text { text: RESULT_IMAGES, cache_control: None }];
        parts.extend(images.into_iter().map(|url| ChatPart::ImageUrl { image_url: ImageUrl { url } }));
        self.user(ChatContent::Parts(parts));
    }

    fn call_id(&self, id: &'a str) -> Cow<'a, str> {
        if self.compat.requires_mistral_tool_ids {
            let fits = id.len() == MISTRAL_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return if fits { Cow::Borrowed(id) } else { Cow::Owned(history::fingerprint(id, MISTRAL_ID)) };
        }
        // IDs of the Responses API have two halves; chat servers know the first.
        history::portable_id(id.split_once('|').map_or(id, |(call, _)| call), ID_LIMIT)
    }
}

impl<'a> AssistantAnswer<'a> {
    /// Thinking is sent back in its original field, which the signature names.
    fn think(&mut self, text: &'a str, field: Option<&str>) {
        let field = match field {
            Some("reasoning_content") => &mut self.reasoning_content,
            Some("reasoning") => &mut self.reasoning,
            Some("reasoning_text") => &mut self.reasoning_text,
            _ => return,
        };
        match field {
            Some(before) => before.to_mut().push_str(text),
            None => *field = Some(Cow::Borrowed(text)),
        }
    }
}

fn as_text<'a>(thinking: &str) -> Option<Cow<'a, str>> {
    (!thinking.trim().is_empty()).then(|| Cow::Owned(format!("<thinking>\n{thinking}\n</thinking>\n")))
}

fn concatenated(mut texts: Vec<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    match texts.len() {
        0 => None,
        1 => texts.pop(),
        _ => Some(Cow::Owned(texts.concat())),
    }
}

fn part(input: InputPiece<'_>) -> ChatPart<'_> {
    match input {
        InputPiece::Text(text) => ChatPart::Text { text, cache_control: None },
        InputPiece::Image(url) => ChatPart::ImageUrl { image_url: ImageUrl { url } },
    }
}

fn cache_control(request: &Request) -> CompletionsCacheControl {
    CompletionsCacheControl { kind: "ephemeral", ttl: (request.cache == CacheRetention::Long).then_some("1h") }
}

/// Puts the moving cache marker on the newest input or result.
fn mark_last(sent: &mut [ChatMessage<'_>], marker: CompletionsCacheControl) {
    for message in sent.iter_mut().rev() {
        match message {
            ChatMessage::Tool { cache_control, .. } => {
                *cache_control = Some(marker);
                return;
            }
            ChatMessage::User { content: ChatContent::Parts(parts) } => {
                let last_text = parts.iter_mut().rev().find_map(|part| match part {
                    ChatPart::Text { cache_control, .. } => Some(cache_control),
                    ChatPart::ImageUrl { .. } => None,
                });
                if let Some(cache_control) = last_text {
                    *cache_control = Some(marker);
                    return;
                }
            }
            _ => {}
        }
    }
}
