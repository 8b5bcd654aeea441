//! Parses the line of an entry. Unknown or malformed entries are kept with all their fields.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use omp_types::{Attribution, CustomMessage};

use crate::context::read_line;
use crate::entry::{CustomMessageEntry, EntryBody, EntryId, OtherEntry};
use crate::ids::hash;
use crate::message;
use crate::open::LoadedSession;
use crate::scan::implied_id;
use crate::window::Window;

/// Keys for the position of an entry; the others are its own fields.
const PLACE: [&str; 4] = ["type", "id", "parentId", "timestamp"];

/// An entry as stored in the file, with images as references.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub id: EntryId,
    /// The parent in the tree, which may differ from that in a damaged line.
    pub parent: Option<EntryId>,
    /// Empty if the file has none.
    pub timestamp: String,
    pub body: EntryBody,
}

impl LoadedSession {
    /// Returns an entry by ID, or `None` if it does not exist or its line cannot be read.
    pub fn typed_entry(&self, id: &EntryId) -> Option<Entry> {
        self.entry_at(self.scan.ids.position(hash(id.as_str()))?, &mut Window::new(&self.file))
    }

    /// Iterates over all entries in file order and skips unreadable lines. Only one entry is in memory at a time.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        let mut window = Window::new(&self.file);
        (0..self.scan.spots.len() as u32).filter_map(move |position| self.entry_at(position, &mut window))
    }

    pub(crate) fn entry_at(&self, position: u32, window: &mut Window<'_>) -> Option<Entry> {
        let spot = &self.scan.spots[position as usize];
        let (line, _) = read_line(window, spot).ok()?;
        let (id, timestamp, body) = read_entry(&line, position)?;
        let parent = spot.parent().and_then(|parent| self.id_at(parent, window));
        Some(Entry { id, parent, timestamp, body })
    }

    pub(crate) fn id_at(&self, position: u32, window: &mut Window<'_>) -> Option<EntryId> {
        let (line, _) = read_line(window, &self.scan.spots[position as usize]).ok()?;
        Some(crate::context::id_in(&line, position))
    }
}

/// Returns ID, time and content of an entry; `None` if the line is not JSON.
pub(crate) fn read_entry(line: &str, position: u32) -> Option<(EntryId, String, EntryBody)> {
    #[derive(Deserialize)]
    struct Place {
        r#type: String,
        id: Option<String>,
        #[serde(default)]
        timestamp: Value,
    }
    let place: Place = serde_json::from_str(line).ok()?;
    let id = place.id.unwrap_or_else(|| implied_id(position)).into();
    let timestamp = place.timestamp.as_str().unwrap_or_default().to_owned();
    let body = read_body(&place.r#type, line).or_else(|| other(place.r#type, line))?;
    Some((id, timestamp, body))
}

fn read_body(kind: &str, line: &str) -> Option<EntryBody> {
    match kind {
        "message" => message::of_message_entry(line).ok().map(|(message, _)| EntryBody::Message(message.into())),
        "model_change" => typed(line, EntryBody::ModelChange),
        "thinking_level_change" => typed(line, EntryBody::ThinkingLevelChange),
        "service_tier_change" => typed(line, EntryBody::ServiceTierChange),
        "compaction" => typed(line, EntryBody::Compaction),
        "branch_summary" => typed(line, EntryBody::BranchSummary),
        "custom" => typed(line, EntryBody::Custom),
        "custom_message" => custom_message(line),
        "label" => typed(line, EntryBody::Label),
        "mode_change" => typed(line, EntryBody::ModeChange),
        "session_init" => typed(line, |mut init: crate::SessionInit| {
            init.more.retain(|key, _| !PLACE.contains(&key.as_str()));
            EntryBody::SessionInit(init)
        }),
        "ttsr_injection" => typed(line, EntryBody::TtsrInjection),
        "mcp_tool_selection" => typed(line, |mut selection: crate::McpToolSelection| {
            selection.more.retain(|key, _| !PLACE.contains(&key.as_str()));
            EntryBody::McpToolSelection(selection)
        }),
        "credential_pin" => typed(line, EntryBody::CredentialPin),
        "title_change" => typed(line, EntryBody::TitleChange),
        "reset_boundary" => Some(EntryBody::ResetBoundary),
        _ => None,
    }
}

fn typed<T: DeserializeOwned>(line: &str, wrap: impl FnOnce(T) -> EntryBody) -> Option<EntryBody> {
    serde_json::from_str(line).ok().map(wrap)
}

fn custom_message(line: &str) -> Option<EntryBody> {
    #[derive(Deserialize)]
    struct By {
        attribution: Option<Attribution>,
    }
    let omp_types::Message::Custom(message) = message::of_custom_message(line).ok()?.0 else { return None };
    let CustomMessage { custom_type, content, display, details, .. } = message;
    let attribution = serde_json::from_str::<By>(line).ok().and_then(|by| by.attribution);
    Some(EntryBody::CustomMessage(CustomMessageEntry { custom_type, content, display, details, attribution }))
}

fn other(kind: String, line: &str) -> Option<EntryBody> {
    let mut fields: Map<String, Value> = serde_json::from_str(line).ok()?;
    fields.retain(|key, _| !PLACE.contains(&key.as_str()));
    Some(EntryBody::Other(OtherEntry { kind, fields }))
}
