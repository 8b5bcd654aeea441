//! Converts the text of an entry to its conversation message.

use omp_types::{Content, CustomMessage, Message, OtherMessage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::entry::{BranchSummary, Compaction};
use crate::problem::Damage;
use crate::stamp;

/// Custom types of the two kinds of summary.
const COMPACTION: &str = "compactionSummary";
const BRANCH: &str = "branchSummary";

/// Roles of messages that other programs write and that are not sent to the model.
const OTHER_ROLES: [&str; 8] = [
    "bashExecution",
    "pythonExecution",
    "fileMention",
    "branchSummary",
    "compactionSummary",
    "developer",
    "system",
    "advisor",
];

/// Parses the message of a `message` entry. A message of unknown shape is kept unchanged and reported.
pub(crate) fn of_message_entry(line: &str) -> Result<(Message, Option<Damage>), serde_json::Error> {
    #[derive(Deserialize)]
    struct Entry<'a> {
        #[serde(borrow)]
        message: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Role {
        role: String,
    }
    let raw = serde_json::from_str::<Entry<'_>>(line)?.message.get();
    let Role { role } = serde_json::from_str(raw)?;
    let read = match role.as_str() {
        "user" => typed(raw, Message::User),
        "assistant" => typed(raw, Message::Assistant),
        "toolResult" => typed(raw, Message::ToolResult),
        // Version 2 used the name `hookMessage`.
        "custom" | "hookMessage" => typed(raw, Message::Custom),
        _ => {
            let damage = (!OTHER_ROLES.contains(&role.as_str())).then(|| Damage::UnknownShape {
                what: format!("a message of role {role}"),
                why: "unknown role".to_owned(),
            });
            return Ok((as_it_is(role, raw)?, damage));
        }
    };
    match read {
        Ok(message) => {
            let damage = parts_left_out(&message, raw);
            Ok((message, damage))
        }
        Err(error) => {
            let damage = Damage::UnknownShape { what: format!("a message of role {role}"), why: error.to_string() };
            Ok((as_it_is(role, raw)?, Some(damage)))
        }
    }
}

/// Reports blocks of unknown types, which are dropped when reading.
fn parts_left_out(message: &Message, raw: &str) -> Option<Damage> {
    if matches!(message, Message::Assistant(_) | Message::Other(_)) {
        return None;
    }
    let (what, why) = (format!("a part of a message of role {}", message.role()), "its type is unknown".to_owned());
    (blocks_in(raw) > message.content().len()).then_some(Damage::UnknownShape { what, why })
}

fn blocks_in(raw: &str) -> usize {
    #[derive(Deserialize)]
    struct Blocks {
        content: Vec<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Blocks>(raw).map_or(0, |blocks| blocks.content.len())
}

/// Deserializes directly into the type: going through [`Value`] would parse twice.
fn typed<T: DeserializeOwned>(raw: &str, wrap: fn(T) -> Message) -> Result<Message, serde_json::Error> {
    serde_json::from_str(raw).map(wrap)
}

fn as_it_is(role: String, raw: &str) -> Result<Message, serde_json::Error> {
    Ok(Message::Other(OtherMessage { role, value: serde_json::from_str(raw)? }))
}

pub(crate) fn of_custom_message(line: &str) -> Result<(Message, Option<Damage>), serde_json::Error> {
    let mut entry: Value = serde_json::from_str(line)?;
    let time = entry.get("timestamp").and_then(Value::as_str).map_or(0, stamp::to_ms);
    if let Some(fields) = entry.as_object_mut() {
        fields.insert("timestamp".into(), time.into());
    }
    let message = serde_json::from_value::<CustomMessage>(entry).map(Message::Custom)?;
    let damage = parts_left_out(&message, line);
    Ok((message, damage))
}

pub(crate) fn of_branch_summary(line: &str) -> Result<Message, serde_json::Error> {
    let summary: BranchSummary = serde_json::from_str(line)?;
    let text = format!(
        "The conversation went back to an earlier point. What happened on the branch that was left:\n\n<branch-summary>\n{}\n</branch-summary>",
        summary.summary
    );
    Ok(program_text(BRANCH, text, json!({ "fromId": summary.from_id, "details": summary.details }), time_of(line)))
}

impl Compaction {
    /// Returns the message for the model, for a session that exists only in memory.
    pub fn as_message(&self, timestamp: u64) -> Message {
        told(self, timestamp)
    }
}

pub(crate) fn of_compaction(compaction: &Compaction, line: &str) -> Message {
    told(compaction, time_of(line))
}

fn told(compaction: &Compaction, timestamp: u64) -> Message {
    let text = format!(
        "The conversation up to this point was shortened. What happened before the messages that follow:\n\n<summary>\n{}\n</summary>",
        compaction.summary
    );
    let details = json!({
        "shortSummary": compaction.short_summary,
        "tokensBefore": compaction.tokens_before,
        "firstKeptEntryId": compaction.first_kept_entry_id,
        "details": compaction.details,
        "preserveData": compaction.preserve_data,
    });
    program_text(COMPACTION, text, details, timestamp)
}

fn program_text(custom_type: &str, text: String, details: Value, timestamp: u64) -> Message {
    Message::Custom(CustomMessage {
        custom_type: custom_type.to_owned(),
        content: vec![Content::text(text)],
        display: true,
        details: Some(details),
        timestamp,
    })
}

fn time_of(line: &str) -> u64 {
    #[derive(Deserialize)]
    struct Timed {
        #[serde(default)]
        timestamp: String,
    }
    serde_json::from_str::<Timed>(line).map_or(0, |entry| stamp::to_ms(&entry.timestamp))
}
