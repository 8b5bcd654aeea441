//! `/stripped`: lists invisible characters that were removed from the output of calls.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{STRIPPED, Session, SlashCommand, SlashReply};
use omp_types::{Message, Stripped, ToolResultMessage};

/// Caps the calls shown, the newest of them.
const MOST_CALLS: usize = 50;

pub struct StrippedCommand;

impl SlashCommand for StrippedCommand {
    fn name(&self) -> &str {
        "stripped"
    }

    fn description(&self) -> &str {
        "Show invisible characters removed from tool output"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[calls]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move { Ok(SlashReply::Text(told(&session.messages(), wanted(arguments)?))) }.boxed()
    }
}

fn wanted(arguments: &str) -> Result<usize, String> {
    let hint = format!("hint: usage: /stripped [calls], with a number from 1 to {MOST_CALLS}");
    match arguments.trim() {
        "" => Ok(MOST_CALLS),
        number => match number.parse() {
            Ok(calls @ 1..=MOST_CALLS) => Ok(calls),
            _ => Err(format!("`{number}` is not a number of calls\n{hint}")),
        },
    }
}

fn told(messages: &[Arc<Message>], most: usize) -> String {
    let results = messages.iter().filter_map(|message| match &**message {
        Message::ToolResult(result) => Some((result, stripped(result)?)),
        _ => None,
    });
    let found: Vec<(&ToolResultMessage, Stripped)> = results.collect();
    let mut text = String::new();
    for (result, stripped) in found.iter().skip(found.len().saturating_sub(most)) {
        let _ = writeln!(text, "{} ({})", result.tool_name, result.tool_call_id);
        let kinds = stripped.kinds.iter().map(|(code, count)| (named(code), *count)).collect();
        text.push_str(&line("control", stripped.control, &stripped.sequences));
        text.push_str(&line("invisible", stripped.invisible, &kinds));
    }
    match text.is_empty() {
        true => "nothing was removed from tool output in this session".to_owned(),
        false => text,
    }
}

fn stripped(result: &ToolResultMessage) -> Option<Stripped> {
    let told = result.details.as_ref()?.get(STRIPPED)?;
    serde_json::from_value(told.clone()).ok().filter(|stripped: &Stripped| !stripped.is_empty())
}

fn line(what: &str, count: u64, which: &BTreeMap<String, u64>) -> String {
    let characters = if count == 1 { "character" } else { "characters" };
    let each = which.iter().map(|(name, count)| match count {
        1 => name.clone(),
        count => format!("{name} ×{count}"),
    });
    match count {
        0 => String::new(),
        _ => format!("  {count} {what} {characters}: {}\n", each.collect::<Vec<_>>().join(", ")),
    }
}

/// Returns a code point with its name if that is known.
fn named(code: &str) -> String {
    let number = code.strip_prefix("U+").and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default();
    let name = match number {
        0xad => "soft hyphen",
        0x34f => "combining grapheme joiner",
        0x61c => "Arabic letter mark",
        0x115f | 0x1160 | 0x3164 | 0xffa0 => "Hangul filler",
        0x180e => "Mongolian vowel separator",
        0x200b => "zero width space",
        0x200c => "zero width non-joiner",
        0x200d => "zero width joiner",
        0x200e => "left-to-right mark",
        0x200f => "right-to-left mark",
        0x202a => "left-to-right embedding",
        0x202b => "right-to-left embedding",
        0x202c => "pop directional formatting",
        0x202d => "left-to-right override",
        0x202e => "right-to-left override",
        0x2060 => "word joiner",
        0x2061..=0x2064 => "invisible operator",
        0x2066 => "left-to-right isolate",
        0x2067 => "right-to-left isolate",
        0x2068 => "first strong isolate",
        0x2069 => "pop directional isolate",
        0xfe00..=0xfe0f | 0xe0100..=0xe01ef => "variation selector",
        0xfeff => "byte order mark",
        tag @ 0xe0020..=0xe007e => return format!("{code} tag `{}`", char::from_u32(tag - 0xe0000).unwrap_or('?')),
        0xe0000..=0xe007f => "tag",
        _ => return code.to_owned(),
    };
    format!("{code} {name}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(details: serde_json::Value) -> Arc<Message> {
        let result = ToolResultMessage {
            tool_call_id: "c1".into(),
            tool_name: "bash".into(),
            content: Vec::new(),
            details: Some(details),
            is_error: false,
            useless: false,
            timestamp: 0,
        };
        Arc::new(Message::ToolResult(result))
    }

    #[test]
    fn each_call_is_told_with_names_and_counts() {
        let stripped = json!({"control": 11, "invisible": 3, "kinds": {"U+200B": 2, "U+E0041": 1}, "sequences": {"\\e[31m": 2, "\\x07": 1}});
        let messages = [result(json!({"stripped": stripped})), result(json!({"exitCode": 1}))];
        let expect = "bash (c1)\n  11 control characters: \\e[31m ×2, \\x07\n  3 invisible characters: U+200B zero width \
                      space ×2, U+E0041 tag `A`\n";
        assert_eq!(told(&messages, 50), expect);
        assert_eq!(told(&messages[1..], 50), "nothing was removed from tool output in this session");
        let both = [messages[0].clone(), messages[0].clone()];
        assert_eq!(told(&both, 1), expect);
        assert_eq!(named("U+1D173"), "U+1D173");
    }

    #[test]
    fn what_is_no_number_is_told() {
        for bad in ["0", "51", "x", "-1"] {
            let problem = wanted(bad).unwrap_err();
            assert!(problem.contains("hint: usage: /stripped [calls]"), "{problem}");
        }
        assert_eq!(wanted(" 3 "), Ok(3));
    }
}
