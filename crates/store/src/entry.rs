//! The entries of a session and the line each becomes.
//!
//! Names, order of keys and which keys are left out are those of files in the wild (see `docs/session-format.md`):
//! most entries have `id`, `parentId` and `timestamp` before their own fields, `custom` and `custom_message` after.

use std::fmt;
use std::sync::Arc;

use omp_types::{Attribution, Content, Message};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::title::TitleSource;

/// Names an entry within its session: eight hex digits when written by this program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryId(Box<str>);

/// What an entry says; id, parent and time are given when it is appended.
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
    /// Context starts anew after this entry.
    ResetBoundary,
    Other(OtherEntry),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelChange {
    /// `provider/model`.
    pub model: String,
    /// Absent means the default role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default)]
    pub resolved_model_is_fallback: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThinkingLevelChange {
    pub thinking_level: Option<String>,
    /// What the user asked for: a level, or `auto`.
    pub configured: Option<String>,
}

/// How urgent requests are from here on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceTierChange {
    /// A tier for each family of models, one tier for all in older files, or `null`.
    pub service_tier: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Compaction {
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_summary: Option<String>,
    /// Entries from this one on stay in the context.
    pub first_kept_entry_id: String,
    #[serde(deserialize_with = "rounded")]
    pub tokens_before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_extension: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_data: Option<Value>,
    /// Why compaction could do no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BranchSummary {
    /// Where the abandoned branch left, or `root`.
    pub from_id: String,
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_extension: Option<bool>,
}

/// Data for the program, never for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Custom {
    pub custom_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Text for the model that no person wrote.
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
    /// Absent takes the label away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeChange {
    /// `none` when a mode ends.
    pub mode: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// What a sub-agent was started with.
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

/// Which tools of MCP servers are offered; written by versions before 17.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct McpToolSelection {
    pub selected_tool_names: Vec<String>,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Which account answered, as a hash: its prompt cache is of use to no other.
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

/// A kind of entry unknown here.
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

    /// Adds this entry's line, newline included, to `out`.
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

/// Where an entry stands in the tree and in time.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryPosition<'a> {
    pub id: &'a str,
    pub parent_id: Option<&'a str>,
    pub timestamp: &'a str,
}

/// Writes an object's members, each after a comma, without its braces.
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

/// Estimates in files of other programs may have a fraction.
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
