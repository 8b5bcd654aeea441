//! Removes invisible content from a tool's output: terminal sequences, control characters, invisible Unicode.
//!
//! Text that is invisible on a screen can still be read by a model. Invisible characters that scripts and emoji need are
//! kept, and the result says how much was removed.

use std::borrow::Cow;

use omp_agent::ToolOutput;
use omp_stdx::escape::{EscapePiece, pieces};
use omp_stdx::sanitize::{reveal_invisible, strip_control};
use omp_types::{Content, Stripped};
use serde_json::{Value, json};

/// The key in the details of a result.
pub const STRIPPED: &str = "stripped";

/// Cleans the text of an output. The model gets the number of invisible characters removed, the details say which.
pub(crate) fn strip(output: &mut ToolOutput) {
    let mut stripped = Stripped::default();
    for content in &mut output.content {
        if let Content::Text(block) = content
            && let Cow::Owned(clean) = strip_text(&block.text, &mut stripped)
        {
            block.text = clean;
        }
    }
    output.details.iter_mut().for_each(|details| strip_value(details, &mut Stripped::default()));
    if stripped.is_empty() {
        return;
    }
    if stripped.invisible > 0 {
        let characters = if stripped.invisible == 1 { "character" } else { "characters" };
        output.content.push(Content::text(format!("\n[{} invisible {characters} removed]", stripped.invisible)));
    }
    match &mut output.details {
        Some(Value::Object(details)) => {
            // The tool may have removed some itself.
            let by_tool = details.get(STRIPPED).and_then(|told| serde_json::from_value(told.clone()).ok());
            stripped.add(by_tool.unwrap_or_default());
            details.insert(STRIPPED.to_owned(), json!(stripped));
        }
        Some(_) => {}
        None => output.details = Some(json!({STRIPPED: stripped})),
    }
}

fn strip_value(value: &mut Value, stripped: &mut Stripped) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = strip_text(text, stripped) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip_value(item, stripped)),
        Value::Object(fields) => fields.values_mut().for_each(|field| strip_value(field, stripped)),
        _ => {}
    }
}

fn strip_text<'a>(text: &'a str, stripped: &mut Stripped) -> Cow<'a, str> {
    let plain = strip_control(text);
    if let Cow::Owned(plain) = &plain {
        // Windows line ends are not reported as invisible characters.
        let ends = text.matches("\r\n").count();
        stripped.control += text.chars().count().saturating_sub(plain.chars().count() + ends) as u64;
        note_sequences(text, stripped);
    }
    match reveal_invisible(&plain) {
        Cow::Borrowed(_) => plain,
        Cow::Owned(revealed) => Cow::Owned(without_marks(&plain, &revealed, stripped)),
    }
}

fn note_sequences(text: &str, stripped: &mut Stripped) {
    for piece in pieces(text) {
        match piece {
            EscapePiece::Escape(escape) => stripped.sequence(escape),
            EscapePiece::Text(text) => {
                let lone = text.char_indices().filter(|(_, char)| char.is_control() && !"\n\r\t".contains(*char));
                lone.for_each(|(at, char)| stripped.sequence(&text[at..at + char.len_utf8()]));
            }
        }
    }
}

/// Compares both texts: where they differ, a character was invisible.
fn without_marks(text: &str, revealed: &str, stripped: &mut Stripped) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = revealed;
    for char in text.chars() {
        if let Some(after) = rest.strip_prefix(char) {
            clean.push(char);
            rest = after;
            continue;
        }
        let mark = format!("<U+{:04X}>", u32::from(char));
        rest = rest.get(mark.len()..).unwrap_or_default();
        stripped.character(char);
    }
    clean
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stripped(text: &str) -> String {
        strip_text(text, &mut Stripped::default()).into_owned()
    }

    #[track_caller]
    fn check(text: &str, expect: &str, details: Option<Value>) {
        let mut output = ToolOutput { content: vec![Content::text(text)], ..ToolOutput::default() };
        strip(&mut output);
        assert_eq!(omp_types::text_of(&output.content), expect);
        assert_eq!(output.details.map(|mut details| details["stripped"].take()), details);
    }

    #[test]
    fn what_cannot_be_seen_is_taken_out_and_counted() {
        check("plain\ttext\n", "plain\ttext\n", None);
        check("a\r\nb", "a\nb", None);
        check(
            "a\u{200b}b\u{200b}\u{202e}",
            "ab\n[3 invisible characters removed]",
            Some(json!({"control": 0, "invisible": 3, "kinds": {"U+200B": 2, "U+202E": 1}})),
        );
        check(
            "hi\u{e0041}",
            "hi\n[1 invisible character removed]",
            Some(json!({"control": 0, "invisible": 1, "kinds": {"U+E0041": 1}})),
        );
        check(
            "\u{1b}[31mred\u{7}",
            "red",
            Some(json!({"control": 6, "invisible": 0, "kinds": {}, "sequences": {"\\e[31m": 1, "\\x07": 1}})),
        );
        for kept in ["👩‍👩‍👧 ❤\u{fe0f}", "می\u{200c}خواهم", "שלום <U+200B>", "🏴\u{e0067}\u{e0062}\u{e007f}"]
        {
            check(kept, kept, None);
        }
    }

    #[test]
    fn what_the_tool_took_out_is_counted_as_well() {
        let details = json!({"exitCode": 1, "stripped": {"control": 5, "sequences": {"\\e[31m": 1}}});
        let mut output =
            ToolOutput { content: vec![Content::text("a\u{200b}")], details: Some(details), ..ToolOutput::default() };
        strip(&mut output);
        let expect = json!({"control": 5, "invisible": 1, "kinds": {"U+200B": 1}, "sequences": {"\\e[31m": 1}});
        assert_eq!(output.details.unwrap(), json!({"exitCode": 1, "stripped": expect}));
    }

    proptest! {
        #[test]
        fn stripping_twice_changes_nothing(text in "(a|é|👩|>|\u{200b}|\u{200d}|\u{fe0f}|\u{e0041}|🏴|\u{202e}|\r|\u{1b}|\\[3|m){0,24}") {
            let once = stripped(&text);
            prop_assert_eq!(stripped(&once), once.clone());
        }

        #[test]
        fn only_hidden_characters_go(text in any::<String>()) {
            let clean = stripped(&text);
            let mut rest = text.chars().map(|char| if char == '\r' { '\n' } else { char });
            prop_assert!(clean.chars().all(|char| rest.any(|other| other == char)), "in order, nothing new");
        }
    }
}
