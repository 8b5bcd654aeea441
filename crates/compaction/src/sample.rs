//! Test conversations.

use std::sync::Arc;

use omp_types::{
    Api, AssistantMessage, CallFactSource, CallFactSources, CallFacts, Content, CustomMessage, Message, OtherMessage,
    ShownContent, ThinkingContent, ToolCall, ToolResultMessage, TouchedFiles, Transcript, UserMessage, estimate_tokens,
};
use serde_json::{Value, json};

use crate::cut::ConversationEntry;

/// Knows the tools of these conversations. Details of `read` say how much it shows.
pub(crate) fn facts() -> CallFactSources {
    CallFactSources(vec![Arc::new(SampleTools)])
}

struct SampleTools;

impl CallFactSource for SampleTools {
    fn facts(&self, call: &ToolCall, details: Option<&Value>) -> Option<CallFacts> {
        let path = call.arguments.get("path").and_then(Value::as_str).map(without_lines);
        let shown = match details.and_then(|details| details["shown"].as_str()) {
            Some("all") => ShownContent::All,
            Some("outline") => ShownContent::Outline,
            _ => ShownContent::Part,
        };
        let has_instructions = call.name == "skill" || path.is_some_and(|path| path.starts_with("skill://"));
        match call.name.as_str() {
            "read" => Some(CallFacts { files: TouchedFiles::read(path), shown, has_instructions }),
            "write" => Some(TouchedFiles::modified(path).into()),
            "count" => Some(TouchedFiles::read(path).into()),
            "skill" => Some(CallFacts { has_instructions, ..CallFacts::default() }),
            _ => None,
        }
    }
}

fn without_lines(path: &str) -> &str {
    path.rsplit_once(':').filter(|(_, rest)| !rest.starts_with("//")).map_or(path, |(path, _)| path)
}

/// Returns a text with this estimated number of tokens.
pub(crate) fn text_of(tokens: usize) -> String {
    let enough = |words: &usize| estimate_tokens(&"word ".repeat(*words)) >= tokens as u64;
    "word ".repeat((tokens * 16 / 17..).find(enough).unwrap_or_default())
}

/// A message to create.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    User(String),
    Answer(String),
    Thought(String),
    /// Id, tool, arguments.
    Call(String, String, Value),
    /// Id, tool, text.
    Result(String, String, String),
    Note(String),
    Bash(String),
}

impl Line {
    /// One letter per message of about 100 tokens; a result answers the latest unanswered call.
    pub fn shape(letters: &str) -> Vec<Self> {
        let text = || text_of(96);
        let (mut calls, mut open) = (0, Vec::new());
        let mut lines = Vec::new();
        for letter in letters.chars() {
            lines.push(match letter {
                'u' => Line::User(text()),
                'a' => Line::Answer(text()),
                'n' => Line::Note(text()),
                'b' => Line::Bash(text()),
                'c' => {
                    calls += 1;
                    open.push(format!("call{calls}"));
                    Line::Call(format!("call{calls}"), "bash".into(), json!({"command": text()}))
                }
                _ => {
                    let id = open.last().cloned().unwrap_or_else(|| "stray".into());
                    Line::Result(id, "bash".into(), text())
                }
            });
        }
        lines
    }

    pub fn read(id: &str, path: &str, text: &str) -> [Self; 2] {
        [
            Line::Call(id.into(), "read".into(), json!({"path": path})),
            Line::Result(id.into(), "read".into(), text.into()),
        ]
    }

    pub fn message(&self, timestamp: u64) -> Message {
        match self {
            Line::User(text) => Message::User(UserMessage { timestamp, ..UserMessage::text(text) }),
            Line::Answer(text) => answer(vec![Content::text(text)], timestamp),
            Line::Thought(text) => {
                let thinking = ThinkingContent { thinking: text.clone(), thinking_signature: Some("signed".into()) };
                answer(vec![Content::Thinking(thinking), Content::text("so")], timestamp)
            }
            Line::Call(id, name, arguments) => {
                let arguments = arguments.as_object().cloned().unwrap_or_default();
                let call = ToolCall { id: id.clone(), name: name.clone(), arguments, ..ToolCall::default() };
                answer(vec![Content::ToolCall(call)], timestamp)
            }
            Line::Result(id, name, text) => Message::ToolResult(result(id, name, text, timestamp)),
            Line::Note(text) => Message::Custom(CustomMessage {
                custom_type: "note".into(),
                content: vec![Content::text(text)],
                display: false,
                details: None,
                timestamp,
            }),
            Line::Bash(text) => Message::Other(OtherMessage {
                role: "bashExecution".into(),
                value: json!({"role": "bashExecution", "command": "ls", "output": text}),
            }),
        }
    }
}

/// Creates entries named `00000000`, `00000001`, …
pub(crate) fn entries(lines: &[Line]) -> Vec<ConversationEntry> {
    let entry = |(at, line): (usize, &Line)| ConversationEntry {
        id: format!("{at:08x}").into(),
        message: Arc::new(line.message(at as u64)),
        typed: None,
    };
    lines.iter().enumerate().map(entry).collect()
}

pub(crate) fn messages(lines: &[Line]) -> Vec<Arc<Message>> {
    entries(lines).into_iter().map(|entry| entry.message).collect()
}

pub(crate) fn transcript(lines: &[Line]) -> Transcript {
    Transcript::repair(lines.iter().enumerate().map(|(at, line)| line.message(at as u64)))
}

pub(crate) fn result(id: &str, name: &str, text: &str, timestamp: u64) -> ToolResultMessage {
    let call = ToolCall { id: id.into(), name: name.into(), ..ToolCall::default() };
    ToolResultMessage { is_error: false, timestamp, ..ToolResultMessage::error(&call, text) }
}

fn answer(content: Vec<Content>, timestamp: u64) -> Message {
    Message::Assistant(AssistantMessage { content, timestamp, ..AssistantMessage::empty(Api::Demo, "p", "m") })
}
