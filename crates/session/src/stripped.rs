//! Takes out of a tool's output what nobody can see: terminal sequences, control characters, invisible Unicode.
//!
//! What reads as nothing on a screen can still say something to a model. Scripts and emoji keep what they need, and how
//! much was taken out is told with the result.

use std::borrow::Cow;
use std::collections::BTreeMap;

use omp_agent::ToolOutput;
use omp_stdx::sanitize::{reveal_invisible, strip_control};
use omp_types::Content;
use serde_json::{Value, json};

/// Kinds of characters that are named in the details.
const MOST_KINDS: usize = 32;

/// What was taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stripped {
    control: usize,
    /// By code point, such as `U+200B`.
    invisible: BTreeMap<String, usize>,
}

/// Cleans the text of an output; the model is told how many invisible characters are gone, the details say which.
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
    if stripped == Stripped::default() {
        return;
    }
    let invisible: usize = stripped.invisible.values().sum();
    if invisible > 0 {
        let characters = if invisible == 1 { "character" } else { "characters" };
        output.content.push(Content::text(format!("\n[{invisible} invisible {characters} removed]")));
    }
    let kinds: BTreeMap<_, _> = stripped.invisible.into_iter().take(MOST_KINDS).collect();
    let told = json!({"control": stripped.control, "invisible": invisible, "kinds": kinds});
    match &mut output.details {
        Some(Value::Object(details)) => drop(details.insert("stripped".to_owned(), told)),
        Some(_) => {}
        None => output.details = Some(json!({"stripped": told})),
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
    // Line ends of other systems are no secret message.
    let ends = text.matches("\r\n").count();
    stripped.control += text.chars().count().saturating_sub(plain.chars().count() + ends);
    match reveal_invisible(&plain) {
        Cow::Borrowed(_) => plain,
        Cow::Owned(revealed) => Cow::Owned(without_marks(&plain, &revealed, stripped)),
    }
}

/// Goes through both texts side by side: where they differ, a character was invisible.
fn without_marks(text: &str, revealed: &str, stripped: &mut Stripped) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = revealed;
    for char in text.chars() {
        if let Some(after) = rest.strip_prefix(char) {
            clean.push(char);
            rest = after;
            continue;
        }
        let name = format!("U+{:04X}", u32::from(char));
        rest = rest.get(name.len() + 2..).unwrap_or_default();
        *stripped.invisible.entry(name).or_default() += 1;
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
        check("\u{1b}[31mred\u{7}", "red", Some(json!({"control": 6, "invisible": 0, "kinds": {}})));
        for kept in ["👩‍👩‍👧 ❤\u{fe0f}", "می\u{200c}خواهم", "שלום <U+200B>", "🏴\u{e0067}\u{e0062}\u{e007f}"]
        {
            check(kept, kept, None);
        }
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
