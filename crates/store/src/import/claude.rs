//! Imports Claude Code: `~/.claude/projects/<folder>/<id>.jsonl`.
//!
//! Lines form a tree by `uuid` and `parentUuid`. One answer of the model is split into several lines, one per block, that
//! share `message.id`; results of parallel calls are children of different ones. Both are merged here: the answer is one
//! message, followed by its results.

use std::collections::HashMap;

use omp_types::{
    Api, AssistantMessage, Attribution, Content, ImageContent, Message, RedactedThinking, StopReason, ThinkingContent,
    ToolCall, Usage, UserMessage,
};
use serde_json::{Map, Value};

use super::draft::ImportDraft;
use super::source::{ImportSource, SourceLine, number, text};
use crate::entry::{Compaction, CustomMessageEntry, EntryBody};

/// Model name of answers that Claude Code generated itself, such as service errors.
const NOBODY: &str = "<synthetic>";

pub(super) fn convert(source: &ImportSource, draft: &mut ImportDraft<'_>) {
    let mut convert = Convert { draft, ends: Vec::new(), places: HashMap::new(), answers: HashMap::new() };
    for (at, line) in source.lines.iter().enumerate() {
        convert.take(line, &source.lines[at + 1..]);
    }
    convert.draft.title = title(source);
}

/// Returns the user's title, else the generated one, else the summary of this conversation.
fn title(source: &ImportSource) -> Option<String> {
    let last = |kind: &str, key: &str| {
        let lines = source.lines.iter().rev().filter(|line| text(&line.value, "type") == kind);
        lines.map(|line| text(&line.value, key)).find(|title| !title.is_empty()).map(str::to_owned)
    };
    let summary = || {
        let here = |uuid: &str| source.lines.iter().any(|line| text(&line.value, "uuid") == uuid);
        let mut lines = source.lines.iter().rev().map(|line| &line.value);
        let found = lines.find(|line| text(line, "type") == "summary" && here(text(line, "leafUuid")))?;
        Some(text(found, "summary").to_owned())
    };
    last("custom-title", "customTitle").or_else(|| last("ai-title", "aiTitle")).or_else(summary)
}

struct Convert<'a, 'b> {
    draft: &'a mut ImportDraft<'b>,
    /// The newest entry at each node of the source tree: an answer with its results is one node.
    ends: Vec<String>,
    places: HashMap<String, usize>,
    /// Node indexes of answers by `message.id`.
    answers: HashMap<String, usize>,
}

impl Convert<'_, '_> {
    fn take(&mut self, line: &SourceLine, later: &[SourceLine]) {
        let value = &line.value;
        self.draft.at(text(value, "timestamp"));
        if self.draft.cwd.is_none() && !text(value, "cwd").is_empty() {
            self.draft.cwd = Some(text(value, "cwd").to_owned());
        }
        // Messages of sub-agents are not part of the conversation.
        if value.get("isSidechain") == Some(&Value::Bool(true)) {
            self.keep("sidechain", value);
            return;
        }
        match text(value, "type") {
            "user" => self.user(line),
            "assistant" => self.assistant(value, later),
            "system" if text(value, "subtype") == "compact_boundary" => self.place(value, |convert| {
                convert.draft.keep("compact_boundary", value);
            }),
            kind => {
                let kind = if kind.is_empty() { "line" } else { kind }.to_owned();
                self.place(value, |convert| {
                    convert.draft.keep(&kind, value);
                });
            }
        }
    }

    fn user(&mut self, line: &SourceLine) {
        let value = &line.value;
        let message = value.get("message").unwrap_or(&Value::Null);
        let mut unknown = Vec::new();
        let mut said = Vec::new();
        let mut results = Vec::new();
        for block in blocks(message.get("content")) {
            match text(&block, "type") {
                "tool_result" => results.push(block),
                _ => said.extend(content(block, &mut unknown)),
            }
        }
        let first_result = results.first().map(|result| text(result, "tool_use_id").to_owned());
        self.place_of(value, first_result.is_some(), |convert| {
            for result in results {
                let mut parts = Vec::new();
                for block in blocks(result.get("content")) {
                    parts.extend(content(block, &mut unknown));
                }
                let failed = result.get("is_error") == Some(&Value::Bool(true));
                convert.draft.result(line.number, text(&result, "tool_use_id"), parts, failed);
            }
            if !said.is_empty() {
                convert.say(value, said);
            }
            for block in unknown {
                convert.draft.keep("block", &block);
            }
        });
    }

    fn say(&mut self, line: &Value, content: Vec<Content>) {
        let is = |key: &str| line.get(key) == Some(&Value::Bool(true));
        if is("isCompactSummary") {
            let id = self.draft.new_id();
            let summary = omp_types::text_of(&content);
            let compaction = Compaction { summary, first_kept_entry_id: id.clone(), ..Compaction::default() };
            let parent = self.draft.leaf().map(str::to_owned);
            self.draft.add_as(&id, parent.as_deref(), &EntryBody::Compaction(compaction));
        } else if is("isMeta") {
            let entry = CustomMessageEntry {
                custom_type: "import.meta".to_owned(),
                content,
                display: false,
                details: None,
                attribution: Some(Attribution::Agent),
            };
            self.draft.add(&EntryBody::CustomMessage(entry));
        } else {
            let timestamp = self.draft.now_ms();
            self.draft.say(Message::User(UserMessage { content, attribution: Some(Attribution::User), timestamp }));
        }
    }

    /// The first line of an answer collects the blocks of all its lines.
    fn assistant(&mut self, value: &Value, later: &[SourceLine]) {
        let message = value.get("message").unwrap_or(&Value::Null);
        let id = text(message, "id");
        if let Some(place) = self.answers.get(id).copied().filter(|_| !id.is_empty()) {
            self.places.insert(text(value, "uuid").to_owned(), place);
            return;
        }
        let mut last = message;
        let mut parts = blocks(message.get("content"));
        for other in later.iter().map(|line| &line.value).filter(|_| !id.is_empty()) {
            let message = other.get("message").unwrap_or(&Value::Null);
            if text(other, "type") == "assistant" && text(message, "id") == id {
                parts.extend(blocks(message.get("content")));
                last = message;
            }
        }
        let mut unknown = Vec::new();
        let content: Vec<_> = parts.into_iter().filter_map(|block| content(block, &mut unknown)).collect();
        let timestamp = self.draft.now_ms();
        let answer = answer(last, content, timestamp);
        self.place(value, |convert| {
            convert.draft.answer(answer);
            for block in unknown {
                convert.draft.keep("block", &block);
            }
        });
        if let (false, Some(place)) = (id.is_empty(), self.places.get(text(value, "uuid"))) {
            self.answers.insert(id.to_owned(), *place);
        }
    }

    fn keep(&mut self, what: &str, value: &Value) {
        self.draft.keep(what, value);
    }

    fn place(&mut self, line: &Value, add: impl FnOnce(&mut Self)) {
        self.place_of(line, false, add);
    }

    /// Moves to the parent that the line names, adds its content, and records the new node. Results stay at the node of
    /// their answer. A line without an ID belongs to the newest node.
    fn place_of(&mut self, line: &Value, stays: bool, add: impl FnOnce(&mut Self)) {
        let parent =
            ["parentUuid", "logicalParentUuid"].into_iter().find_map(|key| self.places.get(text(line, key)).copied());
        let newest = self.ends.len().checked_sub(1);
        if let Some(place) = parent
            && Some(place) != newest
        {
            let end = self.ends[place].clone();
            self.draft.go_to(end);
        }
        add(self);
        let Some(leaf) = self.draft.leaf().map(str::to_owned) else { return };
        let uuid = text(line, "uuid");
        let place = match (parent, uuid.is_empty()) {
            (Some(parent), _) if stays => parent,
            (_, true) if newest.is_some() => newest.unwrap_or_default(),
            _ => {
                self.ends.push(leaf.clone());
                self.ends.len() - 1
            }
        };
        self.ends[place] = leaf;
        if !uuid.is_empty() {
            self.places.insert(uuid.to_owned(), place);
        }
    }
}

/// A plain text counts as one block.
fn blocks(content: Option<&Value>) -> Vec<Value> {
    match content {
        Some(Value::String(text)) => vec![serde_json::json!({"type": "text", "text": text})],
        Some(Value::Array(blocks)) => blocks.clone(),
        _ => Vec::new(),
    }
}

fn content(block: Value, unknown: &mut Vec<Value>) -> Option<Content> {
    let owned = |key: &str| text(&block, key).to_owned();
    match text(&block, "type") {
        "text" => Some(Content::text(owned("text"))),
        "thinking" => {
            let signature = Some(owned("signature")).filter(|signature| !signature.is_empty());
            Some(Content::Thinking(ThinkingContent { thinking: owned("thinking"), thinking_signature: signature }))
        }
        "redacted_thinking" => Some(Content::RedactedThinking(RedactedThinking { data: owned("data") })),
        "tool_use" => {
            let arguments = block.get("input").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
            Some(Content::ToolCall(ToolCall { id: owned("id"), name: owned("name"), arguments, ..ToolCall::default() }))
        }
        "image" if block.pointer("/source/type").and_then(Value::as_str) == Some("base64") => {
            let source = block.get("source")?;
            let (data, mime_type) = (text(source, "data").to_owned(), text(source, "media_type").to_owned());
            Some(Content::Image(ImageContent { data, mime_type }))
        }
        _ => {
            unknown.push(block);
            None
        }
    }
}

fn answer(message: &Value, content: Vec<Content>, timestamp: u64) -> AssistantMessage {
    let model = text(message, "model");
    let usage = message.get("usage").unwrap_or(&Value::Null);
    let mut usage = Usage {
        input: number(usage, "input_tokens"),
        output: number(usage, "output_tokens"),
        cache_read: number(usage, "cache_read_input_tokens"),
        cache_write: number(usage, "cache_creation_input_tokens"),
        ..Usage::default()
    };
    usage.total_tokens = usage.prompt_tokens() + usage.output;
    let calls = content.iter().any(|block| block.as_tool_call().is_some());
    let stop_reason = match text(message, "stop_reason") {
        _ if model == NOBODY => StopReason::Error,
        _ if calls => StopReason::ToolUse,
        "max_tokens" => StopReason::Length,
        _ => StopReason::Stop,
    };
    let error_message = (model == NOBODY).then(|| omp_types::text_of(&content));
    AssistantMessage {
        content,
        usage,
        stop_reason,
        error_message,
        timestamp,
        response_id: Some(text(message, "id").to_owned()).filter(|id| !id.is_empty()),
        ..AssistantMessage::empty(Api::AnthropicMessages, "anthropic", model)
    }
}
