//! Imports Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.
//!
//! Lines are `{timestamp, type, payload}`. Model input and output are `response_item`s, one per block, so all output items
//! between two inputs form one answer. Older files hold the items without a wrapper.

use omp_types::{
    Api, AssistantMessage, Attribution, Content, ImageContent, Message, StopReason, ThinkingContent, ToolCall, Usage,
    UserMessage,
};
use serde_json::{Map, Value, json};

use super::draft::ImportDraft;
use super::source::{ImportSource, number, text};
use crate::entry::{Compaction, EntryBody};

/// Events that repeat the content of a response item.
const ECHOES: [&str; 9] = [
    "user_message",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "item_completed",
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
];
/// Prefixes of messages that Codex adds in the user's name. They concern that run of Codex and are not sent to a model here.
const HARNESS: [&str; 7] = [
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill>",
    "# AGENTS.md instructions",
];

pub(super) fn convert(source: &ImportSource, draft: &mut ImportDraft<'_>) {
    let mut convert = CodexConvert {
        draft,
        content: Vec::new(),
        usage: Usage::default(),
        provider: "openai".into(),
        model: String::new(),
    };
    for line in &source.lines {
        let value = &line.value;
        convert.draft.at(text(value, "timestamp"));
        match (text(value, "type"), value.get("payload")) {
            (kind, Some(payload)) => convert.take(kind, payload, line.number, value),
            ("", None) => convert.first_line(value),
            (_, None) => convert.item(value, line.number, value),
        }
    }
    convert.finish_answer();
}

struct CodexConvert<'a, 'b> {
    draft: &'a mut ImportDraft<'b>,
    /// Content of the answer that is being assembled.
    content: Vec<Content>,
    usage: Usage,
    provider: String,
    model: String,
}

impl CodexConvert<'_, '_> {
    fn take(&mut self, kind: &str, payload: &Value, number: u32, line: &Value) {
        match kind {
            "session_meta" => self.first_line(payload),
            "turn_context" => {
                if !text(payload, "model").is_empty() && text(payload, "model") != self.model {
                    self.finish_answer();
                    self.model = text(payload, "model").to_owned();
                    self.draft.uses(&format!("{}/{}", self.provider, self.model));
                }
                self.keep(line);
            }
            "response_item" => self.item(payload, number, line),
            "compacted" => self.compacted(payload),
            "event_msg" => self.event(payload, line),
            "token_usage_record" => {
                self.used(payload.get("usage"));
                self.keep(line);
            }
            _ => self.keep(line),
        }
    }

    fn first_line(&mut self, meta: &Value) {
        let cwd = text(meta, "cwd");
        if self.draft.cwd.is_none() && !cwd.is_empty() {
            self.draft.cwd = Some(cwd.to_owned());
        }
        if !text(meta, "model_provider").is_empty() {
            self.provider = text(meta, "model_provider").to_owned();
        }
        self.draft.at(text(meta, "timestamp"));
        self.draft.keep("session_meta", meta);
    }

    fn event(&mut self, event: &Value, line: &Value) {
        match text(event, "type") {
            // It may come after the results, when its answer is already complete.
            "token_count" if self.content.is_empty() => {}
            "token_count" => self.used(event.pointer("/info/last_token_usage")),
            "thread_name_updated" if !text(event, "thread_name").is_empty() => {
                self.draft.title = Some(text(event, "thread_name").to_owned());
            }
            kind if ECHOES.contains(&kind) => {}
            _ => self.keep(line),
        }
    }

    fn used(&mut self, used: Option<&Value>) {
        let used = used.unwrap_or(&Value::Null);
        let cached = number(used, "cached_input_tokens");
        self.usage = Usage {
            input: number(used, "input_tokens").saturating_sub(cached),
            output: number(used, "output_tokens"),
            cache_read: cached,
            total_tokens: number(used, "total_tokens"),
            ..Usage::default()
        };
    }

    fn item(&mut self, item: &Value, number: u32, line: &Value) {
        match text(item, "type") {
            "message" => self.message(item, line),
            "reasoning" => {
                let thinking = joined(item.get("summary")).or_else(|| joined(item.get("content"))).unwrap_or_default();
                // Encrypted blocks are sent back unchanged; a block without encrypted content has nothing to send back.
                let sealed = item.get("encrypted_content").is_some_and(Value::is_string);
                let thinking_signature = sealed.then(|| sent_back(item).to_string());
                self.content.push(Content::Thinking(ThinkingContent { thinking, thinking_signature }));
            }
            "function_call" => {
                let raw = text(item, "arguments");
                let parsed = serde_json::from_str::<Map<String, Value>>(raw);
                let invalid_arguments = parsed.is_err().then(|| raw.to_owned());
                self.call(item, parsed.unwrap_or_default(), invalid_arguments);
            }
            "custom_tool_call" => {
                self.call(item, Map::from_iter([("input".to_owned(), json!(text(item, "input")))]), None);
            }
            "local_shell_call" => {
                let action = item.get("action").and_then(Value::as_object).cloned().unwrap_or_default();
                let item = json!({"name": "local_shell", "call_id": item.get("call_id").or(item.get("id"))});
                self.call(&item, action, None);
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                self.finish_answer();
                let (content, failed) = output(item.get("output").unwrap_or(&Value::Null));
                self.draft.result(number, text(item, "call_id"), content, failed);
            }
            _ => self.keep(line),
        }
    }

    fn call(&mut self, item: &Value, arguments: Map<String, Value>, invalid_arguments: Option<String>) {
        let (id, name) = (text(item, "call_id").to_owned(), text(item, "name").to_owned());
        self.content.push(Content::ToolCall(ToolCall {
            id,
            name,
            arguments,
            invalid_arguments,
            ..ToolCall::default()
        }));
    }

    fn message(&mut self, item: &Value, line: &Value) {
        let parts = item.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
        let content: Vec<Content> = parts.iter().filter_map(part).collect();
        let said = omp_types::text_of(&content);
        let lost = content.len() < parts.len();
        match text(item, "role") {
            "assistant" => self.content.extend(content),
            "user" if !is_harness(item, &said) && !content.is_empty() => {
                self.finish_answer();
                let timestamp = self.draft.now_ms();
                let attribution = Some(Attribution::User);
                self.draft.say(Message::User(UserMessage { content, attribution, timestamp }));
            }
            _ => return self.keep(line),
        }
        if lost {
            self.keep(line);
        }
    }

    fn compacted(&mut self, payload: &Value) {
        self.finish_answer();
        let mut summary = text(payload, "message").to_owned();
        if summary.is_empty() {
            let history = payload.get("replacement_history").and_then(Value::as_array).cloned().unwrap_or_default();
            let texts = history.iter().filter_map(|item| joined(item.get("content")));
            summary = texts
                .filter(|text| !HARNESS.iter().any(|start| text.starts_with(start)))
                .collect::<Vec<_>>()
                .join("\n\n");
        }
        let id = self.draft.new_id();
        let parent = self.draft.leaf().map(str::to_owned);
        let compaction = Compaction { summary, first_kept_entry_id: id.clone(), ..Compaction::default() };
        self.draft.add_as(&id, parent.as_deref(), &EntryBody::Compaction(compaction));
    }

    fn keep(&mut self, line: &Value) {
        let what = text(line, "type").to_owned();
        self.draft.keep(if what.is_empty() { "line" } else { &what }, line);
    }

    fn finish_answer(&mut self) {
        if self.content.is_empty() {
            return;
        }
        let content = std::mem::take(&mut self.content);
        let calls = content.iter().any(|block| block.as_tool_call().is_some());
        let model = if self.model.is_empty() { "unknown" } else { &self.model };
        let answer = AssistantMessage {
            content,
            usage: std::mem::take(&mut self.usage),
            stop_reason: if calls { StopReason::ToolUse } else { StopReason::Stop },
            timestamp: self.draft.now_ms(),
            ..AssistantMessage::empty(Api::OpenaiResponses, &self.provider, model)
        };
        self.draft.answer(answer);
    }
}

/// Newer files name the source of a message; in older ones it is recognized by its text.
fn is_harness(item: &Value, said: &str) -> bool {
    let provenance =
        item.pointer("/internal_chat_message_metadata_passthrough/content_item_metadata/0/provenance/type");
    provenance.and_then(Value::as_str) == Some("harness")
        || HARNESS.iter().any(|start| said.trim_start().starts_with(start))
}

fn part(part: &Value) -> Option<Content> {
    match text(part, "type") {
        "input_text" | "output_text" | "text" => Some(Content::text(text(part, "text"))),
        "input_image" => {
            let (mime_type, data) = text(part, "image_url").strip_prefix("data:")?.split_once(";base64,")?;
            Some(Content::Image(ImageContent { data: data.to_owned(), mime_type: mime_type.to_owned() }))
        }
        _ => None,
    }
}

/// Returns the texts of all parts; `None` if there are none.
fn joined(parts: Option<&Value>) -> Option<String> {
    let texts: Vec<_> =
        parts?.as_array()?.iter().map(|part| text(part, "text")).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn sent_back(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        fields.retain(|key, _| matches!(key.as_str(), "type" | "id" | "summary" | "encrypted_content"));
    }
    item
}

/// Parses a text, a list of parts, or an object around either with a success flag. Some texts contain such an object as
/// JSON.
fn output(output: &Value) -> (Vec<Content>, bool) {
    match output {
        Value::String(raw) => match serde_json::from_str::<Value>(raw) {
            Ok(inner) if inner.get("output").is_some_and(Value::is_string) => {
                let code = inner.pointer("/metadata/exit_code").and_then(Value::as_i64).unwrap_or(0);
                (vec![Content::text(text(&inner, "output"))], code != 0)
            }
            _ => (vec![Content::text(raw.clone())], false),
        },
        Value::Array(parts) => (parts.iter().filter_map(part).collect(), false),
        Value::Object(fields) => {
            let failed = fields.get("success") == Some(&Value::Bool(false));
            let inner = fields.get("content").or_else(|| fields.get("content_items")).unwrap_or(&Value::Null);
            let content = match inner {
                Value::String(text) => vec![Content::text(text.clone())],
                Value::Array(parts) => parts.iter().filter_map(part).collect(),
                _ => vec![Content::text(output.to_string())],
            };
            (content, failed)
        }
        _ => (Vec::new(), false),
    }
}
