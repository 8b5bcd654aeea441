//! What the client asks of omp.

use std::path::PathBuf;

use omp_jsonrpc::RpcError;
use serde::Deserialize;
use serde_json::Value;

use super::{PromptBlock, SessionId, lenient, list, parameters};

/// The only version of the protocol that omp speaks.
const VERSION: u16 = 1;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeRequest {
    #[serde(default, deserialize_with = "lenient")]
    pub client_capabilities: ClientCapabilities,
}

impl InitializeRequest {
    /// A client of a later version names its capabilities otherwise, and may use those that both versions have.
    pub fn read(mut params: Value) -> Result<Self, RpcError> {
        let version =
            params.get("protocolVersion").and_then(Value::as_u64).filter(|version| *version <= u16::MAX.into());
        let Some(version) = version else {
            let why = "initialize.protocolVersion must be a valid ACP protocol version";
            return Err(RpcError::new(RpcError::INVALID_PARAMS, "Invalid params").with_data(why));
        };
        if version <= VERSION.into() {
            return parameters(params);
        }
        let elicitation = params.pointer_mut("/capabilities/elicitation").map(Value::take).unwrap_or_default();
        let elicitation = serde_json::from_value(elicitation).unwrap_or_default();
        Ok(Self { client_capabilities: ClientCapabilities { elicitation, ..ClientCapabilities::default() } })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientCapabilities {
    #[serde(default, deserialize_with = "lenient")]
    pub fs: FileSystemCapabilities,
    #[serde(default, deserialize_with = "lenient")]
    pub terminal: bool,
    #[serde(default, deserialize_with = "lenient")]
    session: Option<SessionCapabilities>,
    #[serde(default, deserialize_with = "lenient")]
    elicitation: Option<ElicitationCapabilities>,
}

impl ClientCapabilities {
    pub fn has_notices(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.notices.is_some())
    }

    pub fn has_forms(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|elicitation| elicitation.form.is_some())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileSystemCapabilities {
    #[serde(default, deserialize_with = "lenient")]
    pub read_text_file: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub write_text_file: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct SessionCapabilities {
    #[serde(default, deserialize_with = "lenient")]
    notices: Option<Offered>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct ElicitationCapabilities {
    #[serde(default, deserialize_with = "lenient")]
    form: Option<Offered>,
}

/// An object whose presence is what counts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Offered {}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticateRequest {
    pub method_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSessionRequest {
    pub cwd: PathBuf,
    #[serde(deserialize_with = "list")]
    pub mcp_servers: Vec<McpServer>,
}

/// Loads or resumes a session. A client that resumes one may leave the servers out.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSessionRequest {
    pub session_id: SessionId,
    pub cwd: PathBuf,
    #[serde(default, deserialize_with = "list")]
    pub mcp_servers: Vec<McpServer>,
}

#[derive(Debug, Deserialize)]
pub struct McpServer {
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
pub struct ListSessionsRequest {
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Closes, deletes or cancels a session.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRequest {
    pub session_id: SessionId,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetModeRequest {
    pub session_id: SessionId,
    pub mode_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetOptionRequest {
    pub session_id: SessionId,
    pub config_id: String,
    /// Text for all options of omp; clients may also send `true` or `false`.
    pub value: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    pub session_id: SessionId,
    pub prompt: Vec<PromptBlock>,
}
