//! Imports pi: `~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`, an older relative of our format.
//!
//! Entries keep their IDs and parents. Messages are copied verbatim; the reader handles the few differences. Unknown kinds
//! become `custom` entries with the same ID.

use std::collections::HashSet;
use std::sync::Arc;

use omp_types::{Message, OtherMessage};
use serde_json::{Map, Value};

use super::draft::{ImportDraft, kept};
use super::source::{ImportSource, text};
use crate::entry::{EntryBody, ModelChange, OtherEntry};
use crate::problem::Damage;
use crate::scan::ContextEntryKind;

pub(super) fn convert(source: &ImportSource, draft: &mut ImportDraft<'_>) {
    let mut known: HashSet<String> = HashSet::new();
    // Files of the first version have no IDs: entries by position, with the header as number 0.
    let mut in_order: Vec<String> = vec![String::new()];
    for line in &source.lines {
        let value = &line.value;
        draft.at(text(value, "timestamp"));
        if text(value, "type") == "session" {
            draft.cwd = Some(text(value, "cwd").to_owned()).filter(|cwd| !cwd.is_empty()).or_else(|| draft.cwd.take());
            continue;
        }
        let own = text(value, "id");
        let id = if own.is_empty() || known.contains(own) { draft.new_id() } else { own.to_owned() };
        let parent = match value.get("parentId") {
            Some(Value::Null) => None,
            Some(Value::String(parent)) if known.contains(parent) => Some(parent.clone()),
            Some(_) => {
                let why = format!("the parent of entry {id} is missing; it was attached to the previous entry");
                draft.report.add(line.number, Damage::NotImported(why));
                draft.leaf().map(str::to_owned)
            }
            None => draft.leaf().map(str::to_owned),
        };
        let body = body(value, &in_order);
        if let Some(name) = value.get("name").and_then(Value::as_str).filter(|_| text(value, "type") == "session_info")
        {
            draft.title = Some(name.to_owned()).filter(|name| !name.trim().is_empty());
        }
        draft.add_as(&id, parent.as_deref(), &body);
        in_order.push(id.clone());
        known.insert(id);
    }
}

fn body(value: &Value, in_order: &[String]) -> EntryBody {
    let kind = text(value, "type");
    let mut fields: Map<String, Value> = value.as_object().cloned().unwrap_or_default();
    fields.retain(|key, _| !matches!(key.as_str(), "type" | "id" | "parentId" | "timestamp"));
    match kind {
        "message" if value.get("message").is_some_and(Value::is_object) => {
            let message = value["message"].clone();
            let role = text(&message, "role").to_owned();
            EntryBody::Message(Arc::new(Message::Other(OtherMessage { role, value: message })))
        }
        "model_change" if fields.contains_key("modelId") => {
            let model = format!("{}/{}", text(value, "provider"), text(value, "modelId"));
            EntryBody::ModelChange(ModelChange { model, role: None, resolved_model_is_fallback: false })
        }
        _ if ContextEntryKind::named(kind) == ContextEntryKind::Unknown || kind == "message" => {
            kept(if kind.is_empty() { "line" } else { kind }, value)
        }
        _ => {
            // Version 1 refers to entries by number.
            if let Some(index) = fields.remove("firstKeptEntryIndex").and_then(|index| index.as_u64()) {
                let first = in_order.get(index as usize).cloned().unwrap_or_default();
                fields.entry("firstKeptEntryId").or_insert(first.into());
            }
            EntryBody::Other(OtherEntry { kind: kind.to_owned(), fields })
        }
    }
}
