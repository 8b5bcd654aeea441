//! The data of responses.

use std::borrow::Cow;
use std::sync::Arc;

use omp_types::{ContainMode, Message, Model, NetworkMode, ThinkingLevel};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::frame::AvailableCommand;

/// `get_state`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateReply<'a> {
    pub model: Cow<'a, Model>,
    pub thinking_level: Cow<'a, str>,
    pub is_streaming: bool,
    pub is_compacting: bool,
    pub steering_mode: Cow<'a, str>,
    pub follow_up_mode: Cow<'a, str>,
    pub interrupt_mode: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    pub session_id: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<Cow<'a, str>>,
    pub auto_compaction_enabled: bool,
    pub queued_message_count: usize,
    pub todo_phases: Value,
    pub fast_mode_enabled: bool,
    pub tokens_per_second: Option<f64>,
    pub fast_mode_active: bool,
    pub message_count: usize,
    pub system_prompt: [Cow<'a, str>; 1],
    /// The tool definitions that the model receives.
    pub dump_tools: Cow<'a, RawValue>,
    pub context_usage: ContextUsageBody,
    /// `None` if the host has not set the sandbox state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<ContainmentBody<'a>>,
    /// Whether the project's own hooks, servers and commands may run.
    pub trusted: bool,
    pub undo: UndoBody,
}

/// How full the model's context window is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsageBody {
    pub tokens: u64,
    pub context_window: u64,
    pub percent: f64,
}

/// The sandbox of commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainmentBody<'a> {
    pub mode: ContainMode,
    pub network: NetworkMode,
    /// The mechanism of this system.
    pub rung: Cow<'a, str>,
    /// Protections of the mode that this system does not provide, with the reason.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub missing: Cow<'a, [String]>,
    /// Why no command can run at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Cow<'a, str>>,
}

/// Whether changes to files can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoBody {
    pub enabled: bool,
}

/// `bash`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BashReply<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub cancelled: bool,
    pub working_dir: Cow<'a, str>,
    pub output: Cow<'a, str>,
    pub truncated: bool,
    pub total_lines: u64,
    pub total_bytes: u64,
    pub output_lines: u64,
    pub output_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<Cow<'a, str>>,
    /// omp only: additional notices for the user.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub notices: Cow<'a, [String]>,
}

/// `get_messages`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagesReply<'a> {
    pub messages: Cow<'a, [Arc<Message>]>,
}

/// `get_messages_page`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagesPageReply {
    pub messages: Vec<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    pub total_messages: usize,
}

/// `get_last_assistant_text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextReply {
    pub text: Option<String>,
}

/// `new_session` and `switch_session`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelledReply {
    pub cancelled: bool,
}

/// `branch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchReply {
    /// The text of the user's message.
    pub text: String,
    pub cancelled: bool,
}

/// `get_branch_messages`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchMessagesReply {
    pub messages: Vec<BranchMessage>,
}

/// A message of the user from which the conversation can branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchMessage {
    pub entry_id: String,
    pub text: String,
}

/// `export_html`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathReply {
    pub path: String,
}

/// `prompt`, if a slash command has answered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptReply {
    pub agent_invoked: bool,
}

/// `get_available_models`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelsReply {
    pub models: Vec<Arc<Model>>,
}

/// `cycle_model`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CycledModelReply<'a> {
    pub model: Cow<'a, Model>,
    pub thinking_level: Cow<'a, str>,
    pub is_scoped: bool,
}

/// `cycle_thinking_level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelReply {
    pub level: ThinkingLevel,
}

/// `set_fast_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FastModeReply {
    pub enabled: bool,
    pub active: bool,
}

/// `set_todos`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodosReply {
    pub todo_phases: Value,
}

/// `get_available_commands`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandsReply {
    pub commands: Vec<AvailableCommand>,
}

/// `set_host_tools`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolNamesReply {
    pub tool_names: Vec<String>,
}

/// `set_host_uri_schemes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UriSchemesReply {
    pub schemes: Vec<String>,
}

/// `negotiate_protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtocolReply {
    pub protocol_version: u32,
}
