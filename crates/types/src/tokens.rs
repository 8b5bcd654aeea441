//! How many tokens a text will cost, before a provider has counted it: an estimate that needs no vocabulary.

use crate::content::Content;
use crate::message::Message;

/// What a picture is taken to cost.
const IMAGE: u64 = 1_200;
/// Roles, ids and separators around a message.
const FRAME: u64 = 4;

/// About four bytes of Latin text or code make a token; a character of other scripts makes about one.
pub fn estimate_tokens(text: &str) -> u64 {
    let (mut ascii, mut other) = (0_u64, 0_u64);
    for char in text.chars() {
        match char.len_utf8() {
            1 => ascii += 1,
            2 => other += 1,
            _ => other += 2,
        }
    }
    (ascii + 2 * other).div_ceil(4)
}

/// What a message will cost when it is sent. Thinking counts: providers that want it back bill it.
pub fn estimate_message_tokens(message: &Message) -> u64 {
    FRAME + message.content().iter().map(of_block).sum::<u64>()
}

fn of_block(block: &Content) -> u64 {
    match block {
        Content::Text(text) => estimate_tokens(&text.text),
        Content::Thinking(thinking) => estimate_tokens(&thinking.thinking),
        Content::RedactedThinking(redacted) => estimate_tokens(&redacted.data),
        Content::Image(_) => IMAGE,
        Content::ToolCall(call) => {
            estimate_tokens(&call.name) + estimate_tokens(&serde_json::to_string(&call.arguments).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: u64) {
        assert_eq!(estimate_tokens(text), expect, "{text:?}");
    }

    #[test]
    fn texts_of_many_scripts_are_near_what_providers_count() {
        check("", 0);
        check("word", 1);
        check("fn main() {}", 3);
        check("日本語", 3);
        check("привет", 3);
    }
}
