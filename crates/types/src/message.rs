//! The messages of a conversation, as in session files and events.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::content::{Content, ToolCall, text_of};
use crate::error::ModelError;
use crate::model::Api;
use crate::usage::Usage;

/// One message. Unknown roles are kept unchanged in [`Message::Other`].
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    User(UserMessage),
    Assistant(AssistantMessage),
    ToolResult(ToolResultMessage),
    /// Text that the program, not a person, added to the conversation.
    Custom(CustomMessage),
    Other(OtherMessage),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<Content>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
    #[serde(default)]
    pub timestamp: u64,
}

/// The originator of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Attribution {
    User,
    Agent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    pub content: Vec<Content>,
    pub api: Api,
    pub provider: String,
    pub model: String,
    #[serde(default)]
    pub usage: Usage,
    pub stop_reason: StopReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    #[serde(default)]
    pub timestamp: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// Milliseconds from request to end.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "crate::number::option::serialize")]
    pub duration: Option<f64>,
    /// Milliseconds from request to the first token.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "crate::number::option::serialize")]
    pub ttft: Option<f64>,
    /// The classified failure behind `error_message`; not stored.
    #[serde(skip)]
    pub error: Option<ModelError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    Stop,
    Length,
    ToolUse,
    Error,
    Aborted,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    pub tool_call_id: String,
    pub tool_name: String,
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<Content>,
    /// For the file and the screen, never for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(default)]
    pub is_error: bool,
    /// The result is not worth keeping and is among the first to leave the context. Never set for an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub useless: bool,
    #[serde(default)]
    pub timestamp: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomMessage {
    pub custom_type: String,
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<Content>,
    #[serde(default)]
    pub display: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(default)]
    pub timestamp: u64,
}

/// A message with an unknown role, kept verbatim.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherMessage {
    pub role: String,
    pub value: Value,
}

impl UserMessage {
    pub fn new(content: Vec<Content>) -> Self {
        Self { content, attribution: Some(Attribution::User), timestamp: now_ms() }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::text(text)])
    }
}

impl AssistantMessage {
    /// Creates an empty answer of `model` with the current time.
    pub fn empty(api: Api, provider: &str, model: &str) -> Self {
        Self {
            content: Vec::new(),
            api,
            provider: provider.to_owned(),
            model: model.to_owned(),
            usage: Usage::default(),
            stop_reason: StopReason::Stop,
            error_message: None,
            timestamp: now_ms(),
            response_id: None,
            duration: None,
            ttft: None,
            error: None,
        }
    }

    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(Content::as_tool_call)
    }

    /// All text blocks, joined.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    pub fn failed(&self) -> bool {
        matches!(self.stop_reason, StopReason::Error | StopReason::Aborted)
    }
}

impl ToolResultMessage {
    pub fn error(call: &ToolCall, text: impl Into<String>) -> Self {
        Self {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content: vec![Content::text(text)],
            details: None,
            is_error: true,
            useless: false,
            timestamp: now_ms(),
        }
    }
}

impl Message {
    pub fn role(&self) -> &str {
        match self {
            Message::User(_) => "user",
            Message::Assistant(_) => "assistant",
            Message::ToolResult(_) => "toolResult",
            Message::Custom(_) => "custom",
            Message::Other(other) => &other.role,
        }
    }

    /// Returns the content; empty for an unknown role.
    pub fn content(&self) -> &[Content] {
        match self {
            Message::User(message) => &message.content,
            Message::Assistant(message) => &message.content,
            Message::ToolResult(message) => &message.content,
            Message::Custom(message) => &message.content,
            Message::Other(_) => &[],
        }
    }

    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        match self {
            Message::Assistant(message) => Some(message),
            _ => None,
        }
    }
}

/// Milliseconds since the epoch.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as u64)
}

#[derive(Serialize)]
struct TaggedMessage<'a, T> {
    role: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let role = self.role();
        match self {
            Message::User(body) => TaggedMessage { role, body }.serialize(serializer),
            Message::Assistant(body) => TaggedMessage { role, body }.serialize(serializer),
            Message::ToolResult(body) => TaggedMessage { role, body }.serialize(serializer),
            Message::Custom(body) => TaggedMessage { role, body }.serialize(serializer),
            Message::Other(other) => other.value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = Value::deserialize(deserializer)?;
        let role = value.get("role").and_then(Value::as_str).ok_or_else(|| D::Error::missing_field("role"))?.to_owned();
        let message = match role.as_str() {
            "user" => serde_json::from_value(value).map(Message::User),
            "assistant" => serde_json::from_value(value).map(Message::Assistant),
            "toolResult" => serde_json::from_value(value).map(Message::ToolResult),
            "custom" => serde_json::from_value(value).map(Message::Custom),
            _ => Ok(Message::Other(OtherMessage { role, value })),
        };
        message.map_err(D::Error::custom)
    }
}

/// Older files contain a plain string instead of blocks. Blocks of unknown kinds are dropped.
fn text_or_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Content>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Blocks(Vec<Value>),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Text(text) => vec![Content::text(text)],
        Either::Blocks(blocks) => blocks.into_iter().filter_map(|block| serde_json::from_value(block).ok()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(json: &str) {
        let message: Message = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), json);
    }

    #[test]
    fn messages_keep_the_shape_of_the_samples() {
        round_trip(
            r#"{"role":"user","content":[{"type":"text","text":"read it"}],"attribution":"user","timestamp":1794772803263}"#,
        );
        round_trip(
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"look first","thinkingSignature":"s"},{"type":"text","text":"Reading."},{"type":"toolCall","id":"c0","name":"read","arguments":{"path":"a.txt"}}],"api":"openai-completions","provider":"mock","model":"mock-1","usage":{"input":100,"output":20,"cacheRead":0,"cacheWrite":0,"totalTokens":120,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":1794772803319,"responseId":"r","duration":12.5,"ttft":8}"#,
        );
        round_trip(
            r#"{"role":"toolResult","toolCallId":"c0","toolName":"read","content":[{"type":"text","text":"x"}],"details":{"totalLines":3},"isError":false,"timestamp":1}"#,
        );
    }

    #[test]
    fn only_a_useless_result_says_so() {
        round_trip(
            r#"{"role":"toolResult","toolCallId":"c0","toolName":"find","content":[{"type":"text","text":"x"}],"isError":false,"useless":true,"timestamp":1}"#,
        );
    }

    #[test]
    fn unknown_roles_are_kept_to_the_letter() {
        round_trip(r#"{"role":"bashExecution","command":"ls","output":"a\n","exitCode":0}"#);
    }

    #[test]
    fn a_plain_string_is_read_as_one_text_block() {
        let message: Message = serde_json::from_str(r#"{"role":"user","content":"hi","timestamp":1}"#).unwrap();
        let Message::User(user) = message else { panic!("not a user message") };
        assert_eq!(user.content, [Content::text("hi")]);
    }
}
