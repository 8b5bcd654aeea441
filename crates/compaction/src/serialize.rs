//! Serializes the conversation to one text for the summarizing model.
//!
//! Tool output makes up most of a conversation but matters least, so it is shortened; messages of users and models are not.
//! Calls that found nothing are left out with their results.

use std::collections::HashSet;
use std::sync::Arc;

use omp_types::{Content, Message, ToolCall};
use serde_json::Value;

use crate::shorten::middle_out;

/// Maximum number of characters of one result.
const RESULT: usize = 2_000;
/// Maximum number of characters of the thinking before one answer.
const THINKING: usize = 2_000;
/// Maximum numbers of characters of one argument, and of all arguments of a call.
const ARGUMENT: usize = 500;
const ARGUMENTS: usize = 2_000;

/// Writes one paragraph per message. A tag that would close the surrounding `<conversation>` is escaped.
pub(crate) fn serialize(messages: &[Arc<Message>]) -> String {
    let useless = useless_calls(messages);
    let mut text = String::new();
    for message in messages {
        tell(message, &useless, &mut text);
    }
    text.truncate(text.trim_end().len());
    if text.contains("</conversation") { text.replace("</conversation", "<\\/conversation") } else { text }
}

fn useless_calls(messages: &[Arc<Message>]) -> HashSet<&str> {
    let useless = messages.iter().filter_map(|message| match &**message {
        Message::ToolResult(result) if result.useless && !result.is_error => Some(result.tool_call_id.as_str()),
        _ => None,
    });
    useless.collect()
}

fn tell(message: &Message, useless: &HashSet<&str>, out: &mut String) {
    match message {
        Message::User(user) => paragraph("User", &shown(&user.content), out),
        Message::Assistant(answer) => {
            for block in &answer.content {
                match block {
                    Content::Text(text) => paragraph("Assistant", &text.text, out),
                    Content::Thinking(thinking) => {
                        paragraph("Assistant thinking", &shortened(&thinking.thinking, THINKING), out);
                    }
                    Content::ToolCall(call) if !useless.contains(call.id.as_str()) => {
                        paragraph(&format!("Call of {}", call.name), &arguments(call), out);
                    }
                    Content::ToolCall(_) | Content::RedactedThinking(_) | Content::Image(_) => {}
                }
            }
            if let Some(error) = &answer.error_message {
                paragraph("Assistant failed", &shortened(error, RESULT), out);
            }
        }
        Message::ToolResult(result) if useless.contains(result.tool_call_id.as_str()) => {}
        Message::ToolResult(result) => {
            let failed = if result.is_error { ", failed" } else { "" };
            let text = shown(&result.content);
            paragraph(&format!("Result of {}{failed}", result.tool_name), &shortened(&text, RESULT), out);
        }
        Message::Custom(custom) => paragraph(&custom.custom_type, &shown(&custom.content), out),
        Message::Other(other) => told_by_others(&other.role, &other.value, out),
    }
}

/// Commands run by the user are included; other roles are not sent to the model.
fn told_by_others(role: &str, value: &Value, out: &mut String) {
    let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let hidden = value.get("excludeFromContext").and_then(Value::as_bool) == Some(true);
    let ran = match role {
        "bashExecution" => field("command"),
        "pythonExecution" => field("code"),
        _ => return,
    };
    if !hidden {
        let output = shortened(field("output"), RESULT);
        paragraph("User ran", &format!("{ran}\n{output}"), out);
    }
}

fn paragraph(who: &str, text: &str, out: &mut String) {
    let text = text.trim();
    if !text.is_empty() {
        out.extend(["[", who, "]\n", text, "\n\n"]);
    }
}

fn shown(content: &[Content]) -> String {
    let parts = content.iter().filter_map(|block| match block {
        Content::Text(text) => Some(text.text.clone()),
        Content::Image(image) => Some(format!("({} image)", image.mime_type)),
        Content::Thinking(_) | Content::RedactedThinking(_) | Content::ToolCall(_) => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn arguments(call: &ToolCall) -> String {
    let told = call.arguments.iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => shortened(text, ARGUMENT).into_owned(),
            other => shortened(&other.to_string(), ARGUMENT).into_owned(),
        };
        format!("{name}: {value}")
    });
    shortened(&told.collect::<Vec<_>>().join("\n"), ARGUMENTS).into_owned()
}

fn shortened(text: &str, longest: usize) -> std::borrow::Cow<'_, str> {
    middle_out(text, longest, |missing| format!("\n[… {missing} characters left out …]\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Line, messages, result};
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_conversation_as_text() {
        let mut lines = vec![Line::User("Fix </conversation> it.".into()), Line::Thought("Where is it?".into())];
        lines.extend(Line::read("1", "a.rs", "fn a() {}"));
        lines.push(Line::Note("Mind the style.".into()));
        lines.push(Line::Bash("a.rs".into()));
        insta::assert_snapshot!(serialize(&messages(&lines)), @r"
        [User]
        Fix <\/conversation> it.

        [Assistant thinking]
        Where is it?

        [Assistant]
        so

        [Call of read]
        path: a.rs

        [Result of read]
        fn a() {}

        [note]
        Mind the style.

        [User ran]
        ls
        a.rs
        ");
    }

    #[test]
    fn calls_that_found_nothing_are_left_out_with_their_results() {
        let mut said = messages(&[Line::Call("1".into(), "search".into(), json!({"pattern": "x"}))]);
        let mut nothing = result("1", "search", "No matches found", 0);
        nothing.useless = true;
        said.push(Arc::new(Message::ToolResult(nothing.clone())));
        assert_eq!(serialize(&said), "");
        nothing.is_error = true;
        said[1] = Arc::new(Message::ToolResult(nothing));
        assert_eq!(serialize(&said), "[Call of search]\npattern: x\n\n[Result of search, failed]\nNo matches found");
    }

    #[test]
    fn long_output_and_long_arguments_keep_their_ends_and_say_what_is_missing() {
        let long = format!("begin{}end", "x".repeat(10_000));
        let text = serialize(&messages(&[
            Line::Call("1".into(), "write".into(), json!({"content": long, "path": "a"})),
            Line::Result("1".into(), "write".into(), long.clone()),
        ]));
        for part in ["content: begin", "[… 9508 characters left out …]", "path: a", "[… 8008 characters left out …]"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.ends_with("xend") && text.len() < 3_000, "{}", text.len());
    }

    proptest! {
        #[test]
        fn the_text_grows_with_the_number_of_messages_not_with_their_output(shape in "[uacrnb]{0,40}", times in 1_usize..6) {
            let once = messages(&Line::shape(&shape));
            let many: Vec<_> = std::iter::repeat_n(once.clone(), times).flatten().collect();
            let (one, all) = (serialize(&once), serialize(&many));
            // Each part except the last is followed by an empty line.
            prop_assert_eq!(all.len(), if one.is_empty() { 0 } else { (one.len() + 2) * times - 2 });
        }
    }
}
