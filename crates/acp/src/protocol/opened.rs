//! What omp answers to the client: itself, sessions with their modes and options, and how a prompt ended.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::SessionId;

/// Returns the answer to `initialize`: what omp is and can do.
pub fn agent(auth_method: &str, auth_description: &str) -> Value {
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": false, "sse": false},
            "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
            "auth": {},
        },
        "authMethods": [{"id": auth_method, "name": "API keys", "description": auth_description}],
        "agentInfo": {"name": "omp", "title": "omp", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// A session that was begun, loaded or resumed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenedSession {
    /// Only for a new session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    pub modes: SessionModes,
    pub config_options: Vec<ConfigOption>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionModes {
    pub current_mode_id: &'static str,
    pub available_modes: Vec<SessionMode>,
}

#[derive(Debug, Serialize)]
pub struct SessionMode {
    pub id: &'static str,
    pub name: &'static str,
    pub description: &'static str,
}

/// An option with one value of a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigOption {
    pub id: &'static str,
    pub name: &'static str,
    pub category: ConfigOptionCategory,
    #[serde(rename = "type")]
    pub kind: ConfigOptionKind,
    pub current_value: String,
    pub options: Vec<ConfigSelectOption>,
}

/// The protocol has other kinds that omp does not use.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigOptionKind {
    Select,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigOptionCategory {
    Mode,
    Model,
    ThoughtLevel,
}

#[derive(Debug, Serialize)]
pub struct ConfigSelectOption {
    pub value: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedSessions {
    pub sessions: Vec<SessionInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    pub session_id: String,
    pub cwd: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptResponse {
    pub stop_reason: StopReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    MaxTokens,
    MaxTurnRequests,
    Refusal,
    Cancelled,
}
