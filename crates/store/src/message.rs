//! From the text of an entry to the message it puts into the conversation.

use omp_types::{Content, CustomMessage, Message, OtherMessage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::entry::{BranchSummary, Compaction};
use crate::problem::Damage;
use crate::stamp;

/// Custom types of the two summaries.
const COMPACTION: &str = "compactionSummary";
const BRANCH: &str = "branchSummary";

/// Reads the message of a `message` entry. One whose shape is unknown is kept as it is, and said so.
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
        // Version 2 called it hookMessage.
        "custom" | "hookMessage" => typed(raw, Message::Custom),
        _ => return Ok((as_it_is(role, raw)?, None)),
    };
    match read {
        Ok(message) => Ok((message, None)),
        Err(error) => {
            let damage = Damage::UnknownShape { what: format!("a message of role {role}"), why: error.to_string() };
            Ok((as_it_is(role, raw)?, Some(damage)))
        }
    }
}

/// Straight into the type: by way of [`Value`] it would be read twice.
fn typed<T: DeserializeOwned>(raw: &str, wrap: fn(T) -> Message) -> Result<Message, serde_json::Error> {
    serde_json::from_str(raw).map(wrap)
}

fn as_it_is(role: String, raw: &str) -> Result<Message, serde_json::Error> {
    Ok(Message::Other(OtherMessage { role, value: serde_json::from_str(raw)? }))
}

pub(crate) fn of_custom_message(line: &str) -> Result<Message, serde_json::Error> {
    let mut entry: Value = serde_json::from_str(line)?;
    let time = entry.get("timestamp").and_then(Value::as_str).map_or(0, stamp::to_ms);
    if let Some(fields) = entry.as_object_mut() {
        fields.insert("timestamp".into(), time.into());
    }
    serde_json::from_value::<CustomMessage>(entry).map(Message::Custom)
}

pub(crate) fn of_branch_summary(line: &str) -> Result<Message, serde_json::Error> {
    let summary: BranchSummary = serde_json::from_str(line)?;
    let text = format!(
        "The conversation went back to an earlier point. What happened on the branch that was left:\n\n<branch-summary>\n{}\n</branch-summary>",
        summary.summary
    );
    Ok(program_text(BRANCH, text, json!({ "fromId": summary.from_id, "details": summary.details }), time_of(line)))
}

pub(crate) fn of_compaction(compaction: &Compaction, line: &str) -> Message {
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
    program_text(COMPACTION, text, details, time_of(line))
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
