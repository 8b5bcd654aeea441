//! The messages of the Agent Client Protocol, version 1, that omp sends and reads.
//!
//! Every type has only the fields that omp uses: what a client sends beyond them is ignored. Optional fields that a client
//! fills wrongly count as absent, as the protocol asks. The tests compare all of them with the types of the official library.

mod asked;
mod content;
mod dialect;
mod opened;
mod requests;
mod updates;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use omp_jsonrpc::RpcError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

pub use asked::{
    CreateElicitationRequest, CreateTerminalRequest, CreatedTerminal, ElicitationAction, ElicitationResponse,
    EnvVariable, FileRequest, PermissionOption, PermissionOptionKind, PermissionOutcome, PermissionRequest,
    PermissionResponse, ReadText, TerminalExitStatus, TerminalOutput, TerminalRequest,
};
pub use content::{
    ContentBlock, EmbeddedResource, PromptBlock, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolKind,
};
pub use dialect::protocol;
pub use opened::{
    ConfigOption, ConfigOptionCategory, ConfigOptionKind, ConfigSelectOption, ListedSessions, OpenedSession,
    PromptResponse, SessionInfo, SessionMode, SessionModes, StopReason, agent,
};
pub use requests::{
    AuthenticateRequest, ClientCapabilities, FileSystemCapabilities, InitializeRequest, ListSessionsRequest, McpServer,
    NewSessionRequest, PromptRequest, SessionRequest, SetModeRequest, SetOptionRequest, StoredSessionRequest,
};
pub use updates::{
    AvailableCommand, CommandInput, Cost, NoticeSeverity, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    SessionNotification, SessionUpdate, ShownCall, ToolCallUpdate,
};

/// The client has to authenticate first.
pub const AUTH_REQUIRED: i64 = -32_000;
pub const RESOURCE_NOT_FOUND: i64 = -32_002;

/// Parameters of a request up to this size are sent back with the reason why they cannot be read.
const MAX_ECHO: usize = 16 * 1024;

/// The id of a session. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub Arc<str>);

impl SessionId {
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads the parameters of a request.
pub fn parameters<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    T::deserialize(&params).map_err(|error| unreadable(&error, params))
}

fn unreadable(error: &serde_json::Error, params: Value) -> RpcError {
    let mut data = json!({"error": error.to_string()});
    if params.to_string().len() <= MAX_ECHO {
        data["json"] = params;
    }
    data["phase"] = json!("deserialization");
    RpcError::new(RpcError::INVALID_PARAMS, "Invalid params").with_data(data)
}

/// A wrong value counts as absent.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(deserializer: D) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(T::deserialize(value).unwrap_or_default())
}

/// `null` is an empty list.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
