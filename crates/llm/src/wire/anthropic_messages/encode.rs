//! Encodes a request.
//!
//! The body borrows the conversation and is serialized in one pass. Messages come last and cache markers last in their
//! block, so apart from the markers each body is a prefix of the next. The API requires alternating roles and every result
//! right after its call; consecutive messages of one role are therefore merged into one turn, whose earlier blocks do not
//! change when more follow.

use std::borrow::Cow;

use omp_types::{CacheRetention, ImageContent, Message, Model, ModelError, Request, ToolResultMessage, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value};

use super::thinking::{ThinkingParam, ThinkingPlan};
use crate::errors;
use crate::wire::history::{self, AnswerPiece, InputPiece};
use crate::wire::schema;

/// Maximum length of call IDs and names in the API.
const ID_LIMIT: usize = 64;
const NAME_LIMIT: usize = 128;

const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const IMAGE_OF_OTHER_TYPE: &str = "[An image was left out because the API does not take its type.]";
const NO_RESULT: &str = "No result was recorded for this call.";

pub(super) fn body(request: &Request, plan: &ThinkingPlan) -> Result<Vec<u8>, ModelError> {
    let marker = CacheControl::new(request.cache);
    let mut messages = turns(request);
    // The newest turn is written to the cache; the marker on the turn before is where the last request wrote, even if there
    // are more blocks between the two than the server looks back.
    for turn in messages.iter_mut().rev().filter(|turn| turn.role == MessageRole::User).take(2) {
        turn.mark(marker);
    }
    let system = (!request.system.trim().is_empty())
        .then(|| [ContentBlock::Text { text: &request.system, cache_control: Some(marker) }]);
    let mut tools: Vec<_> = request.tools.iter().map(AnthropicTool::new).collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(marker);
    }
    let body = MessagesBody {
        model: plan.model,
        max_tokens: plan.max_tokens,
        stream: true,
        thinking: plan.thinking,
        output_config: plan.effort.map(|effort| OutputConfig { effort }),
        system,
        tool_choice: tool_choice(request),
        tools,
        messages,
    };
    serde_json::to_vec(&body).map_err(|error| errors::protocol(&request.model, format!("no request: {error}")))
}

#[derive(Serialize)]
struct MessagesBody<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingParam>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[ContentBlock<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnthropicTool<'a>>,
    messages: Vec<MessageTurn<'a>>,
}

#[derive(Serialize)]
struct ToolChoice<'a> {
    r#type: &'static str,
    name: Cow<'a, str>,
}

fn tool_choice(request: &Request) -> Option<ToolChoice<'_>> {
    let name = request.terms.tool.as_deref()?;
    Some(ToolChoice { r#type: "tool", name: history::portable_id(name, NAME_LIMIT) })
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    effort: &'a str,
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheControl {
    fn new(retention: CacheRetention) -> Self {
        let ttl = match retention {
            CacheRetention::Short => None,
            CacheRetention::Long => Some("1h"),
        };
        Self { r#type: "ephemeral", ttl }
    }
}

#[derive(Serialize)]
struct AnthropicTool<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

impl<'a> AnthropicTool<'a> {
    fn new(spec: &'a ToolSpec) -> Self {
        Self {
            name: history::portable_id(&spec.name, NAME_LIMIT),
            description: &spec.description,
            input_schema: schema::parameters(spec),
            cache_control: None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum MessageRole {
    User,
    Assistant,
}

#[derive(Serialize)]
struct MessageTurn<'a> {
    role: MessageRole,
    content: Vec<ContentBlock<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: ImageSource<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a Map<String, Value>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<ContentBlock<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

#[derive(Serialize)]
struct ImageSource<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

impl MessageTurn<'_> {
    /// Thinking and calls cannot have a marker, but they never end a user's turn.
    fn mark(&mut self, marker: CacheControl) {
        if let Some(
            ContentBlock::Text { cache_control, .. }
            | ContentBlock::Image { cache_control, .. }
            | ContentBlock::ToolResult { cache_control, .. },
        ) = self.content.last_mut()
        {
            *cache_control = Some(marker);
        }
    }
}

/// Converts the conversation to turns, with exactly one result per call.
fn turns(request: &Request) -> Vec<MessageTurn<'_>> {
    let model = &*request.model;
    let mut turns = MessageTurns { turns: Vec::with_capacity(request.messages.len()), unanswered: Vec::new() };
    for message in &request.messages {
        match &**message {
            Message::ToolResult(result) => turns.answer(result, model),
            Message::Assistant(answer) => {
                turns.answer_the_rest();
                turns.extend(MessageRole::Assistant, history::pieces(answer, model).filter_map(piece_block));
                turns.unanswered.extend(answer.tool_calls().map(|call| call.id.as_str()));
            }
            other => {
                turns.answer_the_rest();
                let content = history::input_of(other).unwrap_or_default();
                turns.extend(MessageRole::User, history::inputs(content, model).map(input_block));
            }
        }
    }
    turns.answer_the_rest();
    turns.turns
}

struct MessageTurns<'a> {
    turns: Vec<MessageTurn<'a>>,
    /// Calls of the last answer that have no result yet.
    unanswered: Vec<&'a str>,
}

impl<'a> MessageTurns<'a> {
    fn extend(&mut self, role: MessageRole, blocks: impl Iterator<Item = ContentBlock<'a>>) {
        let mut blocks = blocks.peekable();
        if blocks.peek().is_none() {
            return;
        }
        match self.turns.last_mut() {
            Some(turn) if turn.role == role => turn.content.extend(blocks),
            _ => self.turns.push(MessageTurn { role, content: blocks.collect() }),
        }
    }

    /// The API refuses a result without a call, so it is left out.
    fn answer(&mut self, result: &'a ToolResultMessage, model: &Model) {
        let Some(position) = self.unanswered.iter().position(|id| *id == result.tool_call_id) else { return };
        self.unanswered.remove(position);
        let content: Vec<_> = history::inputs(&result.content, model).map(input_block).collect();
        // The API accepts an error flag only on text results; with an image, the text has to describe the error.
        let only_text = content.iter().all(|block| matches!(block, ContentBlock::Text { .. }));
        let block = ContentBlock::ToolResult {
            tool_use_id: history::portable_id(&result.tool_call_id, ID_LIMIT),
            content,
            is_error: result.is_error && only_text,
            cache_control: None,
        };
        self.extend(MessageRole::User, std::iter::once(block));
    }

    fn answer_the_rest(&mut self) {
        for id in std::mem::take(&mut self.unanswered) {
            let block = ContentBlock::ToolResult {
                tool_use_id: history::portable_id(id, ID_LIMIT),
                content: vec![ContentBlock::Text { text: NO_RESULT, cache_control: None }],
                is_error: true,
                cache_control: None,
            };
            self.extend(MessageRole::User, std::iter::once(block));
        }
    }
}

/// Thinking is accepted only with its signature, and blank text is not accepted.
fn piece_block(piece: AnswerPiece<'_>) -> Option<ContentBlock<'_>> {
    match piece {
        AnswerPiece::Text { text, .. } if text.trim().is_empty() => None,
        AnswerPiece::Text { text, .. } => Some(ContentBlock::Text { text, cache_control: None }),
        AnswerPiece::Thinking { text, signature } => {
            Some(ContentBlock::Thinking { thinking: text, signature: signature? })
        }
        AnswerPiece::RedactedThinking(data) => Some(ContentBlock::RedactedThinking { data }),
        AnswerPiece::Call { call, .. } => Some(ContentBlock::ToolUse {
            id: history::portable_id(&call.id, ID_LIMIT),
            name: history::portable_id(&call.name, NAME_LIMIT),
            input: &call.arguments,
        }),
    }
}

fn input_block(input: InputPiece<'_>) -> ContentBlock<'_> {
    match input {
        InputPiece::Text(text) => ContentBlock::Text { text, cache_control: None },
        InputPiece::Image(image) if !IMAGE_TYPES.contains(&image.mime_type.as_str()) => {
            ContentBlock::Text { text: IMAGE_OF_OTHER_TYPE, cache_control: None }
        }
        InputPiece::Image(ImageContent { data, mime_type }) => ContentBlock::Image {
            source: ImageSource { r#type: "base64", media_type: mime_type, data },
            cache_control: None,
        },
    }
}
