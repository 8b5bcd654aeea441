//! The frames that only RPC has.

use std::borrow::Cow;
use std::sync::Arc;

use omp_types::{Message, StreamEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The maximum bytes of a line, including its end.
pub const MAX_FRAME: usize = 1 << 20;
/// The maximum bytes of a frame that is sent in chunks.
pub const MAX_REASSEMBLED: usize = 64 << 20;

/// The first line: clients wait for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "ready", rename_all = "camelCase")]
pub struct ReadyFrame {
    pub protocol_version: u32,
    pub supported_protocol_versions: [u32; 2],
    pub max_frame_bytes: usize,
    pub max_reassembled_frame_bytes: usize,
}

impl Default for ReadyFrame {
    fn default() -> Self {
        Self {
            protocol_version: 1,
            supported_protocol_versions: [1, 2],
            max_frame_bytes: MAX_FRAME,
            max_reassembled_frame_bytes: MAX_REASSEMBLED,
        }
    }
}

/// A part of a frame that is too long for a line, in base64. Sent by version 2 of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "rpc_chunk", rename_all = "camelCase")]
pub struct ChunkFrame<'a> {
    pub chunk_id: Cow<'a, str>,
    pub index: usize,
    pub count: usize,
    /// The length of the whole frame.
    pub byte_length: usize,
    pub data: Cow<'a, str>,
}

/// The response to a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResponseFrame<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Cow<'a, Value>>,
    pub r#type: ResponseTag,
    pub command: Cow<'a, str>,
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Cow<'a, RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, str>>,
    /// A machine-readable reason, if the message is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseTag {
    #[default]
    Response,
}

/// A delta of an answer, as in JSON mode's `message_update`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "message_update", rename_all = "camelCase")]
pub struct MessageUpdateFrame<'a> {
    pub assistant_message_event: Cow<'a, StreamEvent>,
}

/// Frames were lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "rpc_frame_error")]
pub struct FrameErrorFrame<'a> {
    pub error: Cow<'a, str>,
}

/// Frames that are not responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum NewsFrame<'a> {
    AvailableCommandsUpdate {
        commands: Cow<'a, [AvailableCommand]>,
    },
    /// The reply of a slash command.
    CommandOutput {
        text: Cow<'a, str>,
    },
    /// The title has changed.
    SessionInfoUpdate {
        title: Cow<'a, str>,
        session_id: Cow<'a, str>,
    },
    ThinkingLevelChanged {
        thinking_level: Cow<'a, str>,
    },
    ModelChanged,
    Notice {
        level: Cow<'a, str>,
        message: Cow<'a, str>,
        source: Cow<'a, str>,
    },
    /// The end of a run whose first messages were sent before.
    AgentEnd {
        messages: Cow<'a, [Arc<Message>]>,
        is_terminal: bool,
        message_count: usize,
    },
}

/// A slash command that can be sent as a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AvailableCommand {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<CommandHint>,
    pub source: Cow<'static, str>,
}

/// The arguments that may follow the name of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandHint {
    pub hint: String,
}

/// The model calls a tool of the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum HostToolFrame<'a> {
    HostToolCall { id: Cow<'a, str>, tool_call_id: Cow<'a, str>, tool_name: Cow<'a, str>, arguments: Cow<'a, Value> },
    HostToolCancel { id: Cow<'a, str>, target_id: Cow<'a, str> },
}

/// The model reads or writes an address of the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum HostUriFrame<'a> {
    HostUriRequest {
        id: Cow<'a, str>,
        operation: Cow<'a, str>,
        url: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Cow<'a, str>>,
    },
    HostUriCancel {
        id: Cow<'a, str>,
        target_id: Cow<'a, str>,
    },
}

/// A question for the client's user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "extension_ui_request")]
pub struct DialogFrame<'a> {
    pub id: Cow<'a, str>,
    #[serde(flatten)]
    pub method: DialogMethod<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DialogMethod<'a> {
    Select { title: Cow<'a, str>, options: Vec<String> },
    Input { title: Cow<'a, str> },
    Cancel { target_id: Cow<'a, str> },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<'a, T: Serialize + Deserialize<'a>>(frame: &T, expect: &'a str) {
        assert_eq!(serde_json::to_string(frame).unwrap(), expect);
        let read: T = serde_json::from_str(expect).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), expect);
    }

    #[test]
    fn frames_stand_on_the_wire_as_clients_know_them() {
        check(
            &ReadyFrame::default(),
            r#"{"type":"ready","protocolVersion":1,"supportedProtocolVersions":[1,2],"maxFrameBytes":1048576,"maxReassembledFrameBytes":67108864}"#,
        );
        let data = serde_json::value::to_raw_value(&serde_json::json!({"text": null})).unwrap();
        let response = ResponseFrame {
            id: Some(Cow::Owned("7".into())),
            r#type: ResponseTag::Response,
            command: "get_last_assistant_text".into(),
            success: true,
            data: Some(Cow::Owned(data)),
            error: None,
            code: None,
        };
        check(
            &response,
            r#"{"id":"7","type":"response","command":"get_last_assistant_text","success":true,"data":{"text":null}}"#,
        );
        let method = DialogMethod::Select { title: "bash".into(), options: vec!["Approve".to_owned()] };
        check(
            &DialogFrame { id: "d1".into(), method },
            r#"{"type":"extension_ui_request","id":"d1","method":"select","title":"bash","options":["Approve"]}"#,
        );
        let chunk = ChunkFrame { chunk_id: "rpc-1".into(), index: 0, count: 2, byte_length: 9, data: "eA==".into() };
        check(&chunk, r#"{"type":"rpc_chunk","chunkId":"rpc-1","index":0,"count":2,"byteLength":9,"data":"eA=="}"#);
        check(&FrameErrorFrame { error: "lost".into() }, r#"{"type":"rpc_frame_error","error":"lost"}"#);
        check(&NewsFrame::ModelChanged, r#"{"type":"model_changed"}"#);
        check(
            &HostUriFrame::HostUriRequest {
                id: "u".into(),
                operation: "read".into(),
                url: "db://x".into(),
                content: None,
            },
            r#"{"type":"host_uri_request","id":"u","operation":"read","url":"db://x"}"#,
        );
    }
}
