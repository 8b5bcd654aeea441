//! Prepares an earlier conversation to be sent again: foreign roles become text, lost images are replaced by a note.

use std::sync::Arc;

use omp_types::{Content, CustomMessage, Message, OtherMessage};
use serde_json::Value;

pub(crate) fn prepare(messages: Vec<Message>) -> impl Iterator<Item = Message> {
    messages.into_iter().map(|message| match message {
        Message::Other(other) => as_text(&other).unwrap_or(Message::Other(other)),
        mut known => {
            if let Some(content) = content_of(&mut known) {
                content.iter_mut().for_each(replace_lost_image);
            }
            known
        }
    })
}

/// Whether the last message is a question, or an answer that failed.
pub(crate) fn is_unanswered(messages: &[Arc<Message>]) -> bool {
    let last = messages.iter().rev().find(|message| !matches!(***message, Message::Custom(_) | Message::Other(_)));
    match last.map(|message| &**message) {
        Some(Message::Assistant(answer)) => answer.failed(),
        Some(Message::User(_) | Message::ToolResult(_)) => true,
        _ => false,
    }
}

/// A message in the form in which the model gets it.
pub(crate) fn told(message: &Arc<Message>) -> Arc<Message> {
    match &**message {
        Message::Other(other) => as_text(other).map_or_else(|| message.clone(), Arc::new),
        _ => message.clone(),
    }
}

fn content_of(message: &mut Message) -> Option<&mut Vec<Content>> {
    match message {
        Message::User(user) => Some(&mut user.content),
        Message::ToolResult(result) => Some(&mut result.content),
        Message::Custom(custom) => Some(&mut custom.content),
        Message::Assistant(_) | Message::Other(_) => None,
    }
}

/// An image reference that remains after loading points to a missing blob, which a provider would refuse.
fn replace_lost_image(block: &mut Content) {
    if let Content::Image(image) = block
        && image.data.starts_with("blob:")
    {
        *block = Content::text("[An image was left out here; its file is lost.]");
    }
}

/// Messages with roles that other programs write, converted to text if the model needs them.
fn as_text(other: &OtherMessage) -> Option<Message> {
    let field = |name: &str| other.value.get(name).and_then(Value::as_str).unwrap_or_default();
    if other.value.get("excludeFromContext").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let text = match other.role.as_str() {
        "bashExecution" => format!("The user ran `{}`:\n{}", field("command"), field("output")),
        "pythonExecution" => {
            format!("The user ran this Python code:\n{}\n\nOutput:\n{}", field("code"), field("output"))
        }
        "branchSummary" | "compactionSummary" => field("summary").to_owned(),
        "developer" | "hookMessage" => text_of(other.value.get("content")?),
        _ => return None,
    };
    let timestamp = other.value.get("timestamp").and_then(Value::as_u64).unwrap_or_default();
    Some(Message::Custom(CustomMessage {
        custom_type: other.role.clone(),
        content: vec![Content::text(text)],
        display: false,
        details: None,
        timestamp,
    }))
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expect: &str) {
        let message: Message = serde_json::from_str(json).unwrap();
        let prepared = prepare(vec![message]).next().unwrap();
        let text = match &prepared {
            Message::Custom(custom) => custom.content[0].as_text().unwrap().to_owned(),
            Message::User(user) => user.content[0].as_text().unwrap().to_owned(),
            other => format!("({})", other.role()),
        };
        assert_eq!(text, expect);
    }

    #[test]
    fn foreign_roles_become_text() {
        check(r#"{"role":"bashExecution","command":"ls","output":"a"}"#, "The user ran `ls`:\na");
        check(r#"{"role":"bashExecution","command":"env","output":"k","excludeFromContext":true}"#, "(bashExecution)");
        check(r#"{"role":"compactionSummary","summary":"so far"}"#, "so far");
        check(r#"{"role":"developer","content":[{"type":"text","text":"note"}]}"#, "note");
        check(r#"{"role":"hologram","x":1}"#, "(hologram)");
    }

    #[test]
    fn a_lost_image_says_so() {
        check(
            r#"{"role":"user","content":[{"type":"image","data":"blob:sha256:00","mimeType":"image/png"}]}"#,
            "[An image was left out here; its file is lost.]",
        );
    }
}
