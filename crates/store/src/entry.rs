//! The entries of a session and their serialization.
//!
//! Names, key order and omitted keys match existing files (see `docs/session-format.md`): most entries have `id`, `parentId`
//! and `timestamp` before their own fields, `custom` and `custom_message` after.

use std::fmt;
use std::sync::Arc;

use omp_types::{Attribution, Content, Message};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::title::TitleSource;

/// Identifies an entry within its session: eight hex digits if written by this program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryId(Box<str>);

/// The content of an entry; ID, parent and time are assigned when it is appended.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryBody {
    Message(Arc<Message>),
    ModelChange(ModelChange),
    ThinkingLevelChange(ThinkingLevelChange),
    ServiceTierChange(ServiceTierChange),
    Compaction(Compaction),
    BranchSummary(BranchSummary),
    Custom(Custom),
    CustomMessage(CustomMessageEntry),
    Label(Label),
    ModeChange(ModeChange),
    SessionInit(SessionInit),
    TtsrInjection(TtsrInjection),
    McpToolSelection(McpToolSelection),
    CredentialPin(CredentialPin),
    TitleChange(TitleChange),
    /// The context starts over after this entry.
    ResetBoundary,
    Other(OtherEntry),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelChange {
    /// `provider/model`.
    pub model: String,
    /// `None` means the default role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default)]
    pub resolved_model_is_fallback: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThinkingLevelChange {
    pub thinking_level: Option<String>,
    /// The level requested by the user, or `auto`.
    pub configured: Option<String>,
}

/// A change of the service tier for later requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceTierChange {
    /// A tier per model family, a single tier in older files, or `null`.
    pub service_tier: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Compaction {
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_summary: Option<String>,
    /// Entries starting with this one stay in the context.
    pub first_kept_entry_id: String,
    #[serde(deserialize_with = "rounded")]
    pub tokens_before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_extension: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_data: Option<Value>,
    /// Why the compaction could not reduce more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BranchSummary {
    /// The entry at which the abandoned branch started, or `root`.
    pub from_id: String,
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_extension: Option<bool>,
}

/// Data for the program, never sent to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Custom {
    pub custom_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Text for the model that was not written by the user.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomMessageEntry {
    pub custom_type: String,
    pub content: Vec<Content>,
    pub display: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Label {
    pub target_id: String,
    /// `None` removes the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeChange {
    /// `none` if a mode ends.
    pub mode: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// The start parameters of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionInit {
    pub system_prompt: String,
    pub task: String,
    pub tools: Vec<String>,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TtsrInjection {
    pub injected_rules: Vec<String>,
}

/// The selected tools of MCP servers; written by versions before 17.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct McpToolSelection {
    pub selected_tool_names: Vec<String>,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Hash of the account that answered: its prompt cache is useless for other accounts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CredentialPin {
    pub provider: String,
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TitleChange {
    pub title: String,
    pub source: TitleSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
}

/// An entry of an unknown kind.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherEntry {
    pub kind: String,
    pub fields: Map<String, Value>,
}

impl EntryBody {
    pub fn kind(&self) -> &str {
        match self {
            EntryBody::Message(_) => "message",
            EntryBody::ModelChange(_) => "model_change",
            EntryBody::ThinkingLevelChange(_) => "thinking_level_change",
            EntryBody::ServiceTierChange(_) => "service_tier_change",
            EntryBody::Compaction(_) => "compaction",
            EntryBody::BranchSummary(_) => "branch_summary",
            EntryBody::Custom(_) => "custom",
            EntryBody::CustomMessage(_) => "custom_message",
            EntryBody::Label(_) => "label",
            EntryBody::ModeChange(_) => "mode_change",
            EntryBody::SessionInit(_) => "session_init",
            EntryBody::TtsrInjection(_) => "ttsr_injection",
            EntryBody::McpToolSelection(_) => "mcp_tool_selection",
            EntryBody::CredentialPin(_) => "credential_pin",
            EntryBody::TitleChange(_) => "title_change",
            EntryBody::ResetBoundary => "reset_boundary",
            EntryBody::Other(other) => &other.kind,
        }
    }

    /// Appends this entry's line to `out`, including the newline.
    pub(crate) fn write_line(&self, out: &mut Vec<u8>, place: &EntryPosition<'_>) -> serde_json::Result<()> {
        out.extend_from_slice(br#"{"type":"#);
        serde_json::to_writer(&mut *out, self.kind())?;
        if matches!(self, EntryBody::Custom(_) | EntryBody::CustomMessage(_)) {
            self.write_fields(out)?;
            write_members(out, place)?;
        } else {
            write_members(out, place)?;
            self.write_fields(out)?;
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }

    fn write_fields(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match self {
            EntryBody::Message(message) => {
                out.extend_from_slice(br#","message":"#);
                serde_json::to_writer(out, &**message)
            }
            EntryBody::ModelChange(fields) => write_members(out, fields),
            EntryBody::ThinkingLevelChange(fields) => write_members(out, fields),
            EntryBody::ServiceTierChange(fields) => write_members(out, fields),
            EntryBody::Compaction(fields) => write_members(out, fields),
            EntryBody::BranchSummary(fields) => write_members(out, fields),
            EntryBody::Custom(fields) => write_members(out, fields),
            EntryBody::CustomMessage(fields) => write_members(out, fields),
            EntryBody::Label(fields) => write_members(out, fields),
            EntryBody::ModeChange(fields) => write_members(out, fields),
            EntryBody::SessionInit(fields) => write_members(out, fields),
            EntryBody::TtsrInjection(fields) => write_members(out, fields),
            EntryBody::McpToolSelection(fields) => write_members(out, fields),
            EntryBody::CredentialPin(fields) => write_members(out, fields),
            EntryBody::TitleChange(fields) => write_members(out, fields),
            EntryBody::ResetBoundary => Ok(()),
            EntryBody::Other(other) => write_members(out, &other.fields),
        }
    }
}

/// Position of an entry in the tree, and its time.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryPosition<'a> {
    pub id: &'a str,
    pub parent_id: Option<&'a str>,
    pub timestamp: &'a str,
}

/// Writes the members of an object, each preceded by a comma, without braces.
fn write_members(out: &mut Vec<u8>, object: &impl Serialize) -> serde_json::Result<()> {
    let start = out.len();
    serde_json::to_writer(&mut *out, object)?;
    if out.len() == start + 2 {
        out.truncate(start);
    } else {
        out[start] = b',';
        out.pop();
    }
    Ok(())
}

/// Estimates in files of other programs may be fractional.
fn rounded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    f64::deserialize(deserializer).map(|number| number.round() as u64)
}

impl EntryId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for EntryId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl From<String> for EntryId {
    fn from(id: String) -> Self {
        Self(id.into())
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
