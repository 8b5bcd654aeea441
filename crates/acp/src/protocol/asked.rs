//! What omp asks of the client, and what it answers: permissions, forms, files and terminals.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{SessionId, ToolCallUpdate, lenient};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    pub session_id: SessionId,
    pub tool_call: ToolCallUpdate,
    pub options: Vec<PermissionOption>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    pub option_id: String,
    pub name: String,
    pub kind: PermissionOptionKind,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionOptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
}

#[derive(Debug, Deserialize)]
pub struct PermissionResponse {
    pub outcome: PermissionOutcome,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PermissionOutcome {
    Cancelled,
    Selected { option_id: String },
}

/// A form for the user, within a session.
#[derive(Debug, Serialize)]
#[serde(tag = "mode", rename = "form", rename_all = "camelCase")]
pub struct CreateElicitationRequest {
    pub session_id: SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// A JSON schema of the fields.
    pub requested_schema: Value,
    pub message: String,
}

#[derive(Debug, Deserialize)]
pub struct ElicitationResponse {
    pub action: ElicitationAction,
    #[serde(default)]
    pub content: Option<Map<String, Value>>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElicitationAction {
    Accept,
    Decline,
    Cancel,
    #[serde(other)]
    Other,
}

/// Reads a file, or writes it if there is content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileRequest {
    pub session_id: SessionId,
    pub path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct ReadText {
    pub content: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateTerminalRequest {
    pub session_id: SessionId,
    pub command: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVariable>,
    pub cwd: PathBuf,
    pub output_byte_limit: u64,
}

#[derive(Debug, Serialize)]
pub struct EnvVariable {
    pub name: String,
    pub value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedTerminal {
    pub terminal_id: String,
}

/// Asks for the output or the end of a terminal, kills or releases it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalRequest {
    pub session_id: SessionId,
    pub terminal_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalOutput {
    pub output: String,
    pub truncated: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub exit_status: Option<TerminalExitStatus>,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalExitStatus {
    #[serde(default, deserialize_with = "lenient")]
    pub exit_code: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    pub signal: Option<String>,
}
