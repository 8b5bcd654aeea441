//! The fields of requests, and the client's answers to questions.

use std::path::PathBuf;

use omp_types::{Content, ImageContent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `prompt`, `steer`, `follow_up`, `abort_and_prompt`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    pub message: String,
    #[serde(default)]
    pub images: Vec<ImageContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming_behavior: Option<StreamingBehavior>,
}

/// What to do with a prompt that arrives while the model works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamingBehavior {
    Steer,
    FollowUp,
}

/// `bash`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BashRequest {
    pub command: String,
}

/// `new_session`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSessionRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
}

/// `switch_session`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SwitchSessionRequest {
    pub session_path: PathBuf,
}

/// `branch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchRequest {
    pub entry_id: String,
}

/// `set_session_name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionNameRequest {
    pub name: String,
}

/// `export_html`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_path: Option<PathBuf>,
}

/// `compact` and `handoff`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
}

/// `get_messages_page`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessagesPageRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// `set_todos`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetTodosRequest {
    pub phases: Value,
}

/// `set_steering_mode` and `set_follow_up_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueModeRequest {
    pub mode: QueueTaking,
}

/// How many queued messages are taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueTaking {
    All,
    OneAtATime,
}

/// `set_interrupt_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptModeRequest {
    pub mode: InterruptWhen,
}

/// Whether steering messages wait for running calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptWhen {
    Immediate,
    Wait,
}

/// `set_auto_retry`, `set_auto_compaction`, `set_fast_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnabledRequest {
    pub enabled: bool,
}

/// `set_model`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetModelRequest {
    pub provider: String,
    pub model_id: String,
}

/// `set_thinking_level`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkingRequest {
    pub level: String,
}

/// `negotiate_protocol`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NegotiateRequest {
    pub protocol_version: Value,
}

/// `set_subagent_subscription`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubagentSubscriptionRequest {
    pub level: Value,
}

/// `get_subagent_messages`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentMessagesRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
}

/// `login`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginRequest {
    pub provider_id: String,
}

/// `set_host_tools`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetHostToolsRequest {
    pub tools: Vec<HostToolDefinition>,
}

/// A tool as the client describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "struct Definition")]
pub struct HostToolDefinition {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub label: Option<String>,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub parameters: Value,
    #[serde(default)]
    pub hidden: bool,
}

/// `host_tool_update` and `host_tool_result`: partial or final output of a call, as the client sends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostToolResult {
    pub id: String,
    #[serde(alias = "partialResult")]
    pub result: HostToolBody,
    #[serde(default)]
    pub is_error: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "struct Body")]
pub struct HostToolBody {
    pub content: Vec<Content>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// `set_host_uri_schemes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetHostUrisRequest {
    pub schemes: Vec<HostUriScheme>,
}

/// A scheme as the client describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "struct Scheme")]
pub struct HostUriScheme {
    #[serde(default)]
    pub scheme: String,
    #[serde(default)]
    pub writable: bool,
}

/// `host_uri_result`: the content or the error of the client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostUriResult {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub is_error: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `extension_ui_response`: the client's response to a dialog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DialogResponse {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<bool>,
    #[serde(default)]
    pub cancelled: bool,
    #[serde(default)]
    pub timed_out: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_read_as_a_client_writes_it() {
        let request = PromptRequest {
            message: "hi".to_owned(),
            images: Vec::new(),
            streaming_behavior: Some(StreamingBehavior::FollowUp),
        };
        let written = serde_json::to_value(&request).unwrap();
        assert_eq!(written, json!({"message": "hi", "images": [], "streamingBehavior": "followUp"}));
        assert_eq!(PromptRequest::deserialize(&written).unwrap(), request);
        let mode = QueueModeRequest { mode: QueueTaking::OneAtATime };
        assert_eq!(serde_json::to_value(mode).unwrap(), json!({"mode": "one-at-a-time"}));
    }

    #[test]
    fn what_is_wrong_is_told_in_the_words_that_clients_know() {
        let told = |problem: serde_json::Error| problem.to_string();
        let tools = SetHostToolsRequest::deserialize(&json!({"tools": [5]})).map_err(told);
        assert_eq!(tools.unwrap_err(), "invalid type: integer `5`, expected struct Definition");
        let schemes = SetHostUrisRequest::deserialize(&json!({"schemes": ["x"]})).map_err(told);
        assert_eq!(schemes.unwrap_err(), "invalid type: string \"x\", expected struct Scheme");
        let result = HostToolResult::deserialize(&json!({"id": "1", "result": 5})).map_err(told);
        assert_eq!(result.unwrap_err(), "invalid type: integer `5`, expected struct Body");
    }
}
