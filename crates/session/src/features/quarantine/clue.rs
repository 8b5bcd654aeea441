//! Finds out which block a provider's refusal is about: from a path into the request, a call id, or a word.
//!
//! Every provider writes paths in its own way (`messages.3.content.1.image`, `input[2].content[0]`,
//! `contents[3].parts[1]`), but all of them point into the request as it was sent. So the path is resolved in that request,
//! and the value found there is searched for in the conversation.

use omp_types::Content;
use serde_json::Value;

use super::suspect::{Kind, Suspect};

/// Members of a request that a path may start with, in any of the wire formats. The last two contain no blocks of the
/// conversation, so a refusal that points there is about none of them.
const ROOTS: [&str; 5] = ["messages", "contents", "input", "tools", "system"];
/// A shorter call id could be part of any word.
const SHORTEST_ID: usize = 4;
/// Signatures are long; shorter text may occur in them by accident.
const SHORTEST_SIGNATURE: usize = 16;

const IMAGE_WORDS: [&str; 7] = ["image", "media", "base64", "inline_data", "inlinedata", "mime", "pixel"];
const THINKING_WORDS: [&str; 5] = ["thinking", "signature", "reasoning", "thought", "encrypted"];
const CALL_WORDS: [&str; 9] = [
    "tool_use",
    "tool_result",
    "tool_call",
    "tool call",
    "tool message",
    "'tool'",
    "function call",
    "function_call",
    "function response",
];

#[derive(Debug, Default, PartialEq)]
pub(super) struct Clues {
    /// The kinds of blocks that the refusal mentions.
    pub kinds: Vec<Kind>,
    paths: Vec<Vec<Step>>,
    text: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    Index(usize),
}

impl Clues {
    pub fn read(refusal: &str) -> Self {
        let lower = refusal.to_lowercase();
        let speaks_of = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let kinds = [
            (Kind::Image, speaks_of(&IMAGE_WORDS)),
            (Kind::Thinking, speaks_of(&THINKING_WORDS)),
            (Kind::Call, speaks_of(&CALL_WORDS)),
        ];
        let kinds = kinds.into_iter().filter(|(_, named)| *named).map(|(kind, _)| kind).collect();
        Self { kinds, paths: paths(refusal), text: refusal.to_owned() }
    }

    pub fn names_a_place(&self) -> bool {
        !self.paths.is_empty()
    }

    /// Whether the refusal names this block.
    pub fn name(&self, suspect: &Suspect<'_>) -> bool {
        match suspect.block {
            Content::ToolCall(call) => call.id.len() >= SHORTEST_ID && names(&self.text, &call.id),
            _ => false,
        }
    }

    /// Whether the refusal points to a part of the sent request that contains this block.
    pub fn point_at(&self, suspect: &Suspect<'_>, written: Option<&Value>) -> bool {
        self.places(written).any(|place| holds(place, suspect.block))
    }

    fn places<'a>(&'a self, written: Option<&'a Value>) -> impl Iterator<Item = &'a Value> {
        self.paths.iter().filter_map(move |path| follow(written?, path))
    }
}

/// Whether a text contains the id as a whole word.
fn names(text: &str, id: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.match_indices(id).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + id.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

fn paths(refusal: &str) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for root in ROOTS {
        for (at, _) in refusal.match_indices(root) {
            let whole_word = !refusal[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
            let mut path = vec![Step::Name(root.to_owned())];
            path.extend(steps(&refusal[at + root.len()..]));
            if whole_word && matches!(path.get(1), Some(Step::Index(_))) {
                found.push(path);
            }
        }
    }
    found
}

/// Parses path steps such as `[3].content[1]` or `.3.content.1`, up to the first character that fits neither form.
fn steps(mut rest: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    loop {
        let (word, after) = if let Some(inside) = rest.strip_prefix('[') {
            let Some((word, after)) = inside.split_once(']') else { return steps };
            (word.trim_matches(['\'', '"']), after)
        } else if let Some(word) = rest.strip_prefix('.') {
            word.split_at(word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len()))
        } else {
            return steps;
        };
        match word.parse() {
            Ok(index) => steps.push(Step::Index(index)),
            Err(_) if word.is_empty() => return steps,
            Err(_) => steps.push(Step::Name(word.to_owned())),
        }
        rest = after;
    }
}

/// Resolves a path. Missing member names are skipped, because some providers put the type of a block into the path. `None`
/// if an index does not exist.
fn follow<'a>(written: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(written, |place, step| match step {
        Step::Index(index) => place.get(*index),
        Step::Name(name) => Some(place.get(name).unwrap_or(place)),
    })
}

/// Whether a part of the request contains the content of a block.
fn holds(place: &Value, block: &Content) -> bool {
    let any_text = |is_it: &dyn Fn(&str) -> bool| any_string(place, is_it);
    match block {
        Content::Image(image) => !image.data.is_empty() && any_text(&|text| text.ends_with(&image.data)),
        Content::Thinking(thinking) => {
            let signature = thinking.thinking_signature.as_deref().unwrap_or_default();
            any_text(&|text| text.len() >= SHORTEST_SIGNATURE && signature.contains(text))
                || (!thinking.thinking.is_empty() && any_text(&|text| text == thinking.thinking))
        }
        Content::RedactedThinking(thinking) => any_text(&|text| text == thinking.data),
        Content::ToolCall(call) => any_text(&|text| !text.is_empty() && call.id.split('|').any(|part| part == text)),
        Content::Text(text) => !text.text.trim().is_empty() && any_text(&|found| found == text.text),
    }
}

fn any_string(value: &Value, is_it: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_it(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, is_it)),
        Value::Object(members) => members.values().any(|member| any_string(member, is_it)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(refusal: &str, kinds: &[Kind], paths: &str) {
        let clues = Clues::read(refusal);
        assert_eq!(clues.kinds, kinds, "{refusal}");
        let step = |step: &Step| match step {
            Step::Name(name) => name.clone(),
            Step::Index(index) => index.to_string(),
        };
        let shown = |path: &Vec<Step>| path.iter().map(step).collect::<Vec<_>>().join("/");
        assert_eq!(clues.paths.iter().map(shown).collect::<Vec<_>>().join(" "), paths, "{refusal}");
    }

    #[test]
    fn refusals_in_the_words_of_each_provider() {
        use Kind::{Call, Image, Thinking};
        check(
            "messages.3.content.1.image.source.base64: The image data is not valid",
            &[Image],
            "messages/3/content/1/image/source/base64",
        );
        check("Invalid 'messages[3].content[1].image_url.url'.", &[Image], "messages/3/content/1/image_url/url");
        check("Invalid 'input[2].content[0].image_url'. Expected a URL", &[Image], "input/2/content/0/image_url");
        check("Unable to submit request: contents[3].parts[1] is bad", &[], "contents/3/parts/1");
        check("messages.5: `tool_use` ids were found without `tool_result` blocks: toolu_1", &[Call], "messages/5");
        check("messages.1.content.0: Invalid `signature` in `thinking` block", &[Thinking], "messages/1/content/0");
        check("image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", &[Image], "");
        check("Could not process image", &[Image], "");
        check("Invalid base64 image_url.", &[Image], "");
        check("No tool call found for function call output with call_id call_7.", &[Call], "");
        check("Request contains an invalid argument.", &[], "");
        check("my.messages.3 and messages and input.text", &[], "");
        check("tools.0.custom.input_schema: not valid", &[], "tools/0/custom/input_schema");
        check("messages[", &[], "");
        check("messages[x].content and messages.3.", &[], "messages/3");
    }

    #[test]
    fn an_id_is_named_as_a_whole_word_only() {
        for (text, expect) in [("ids: call_1.", true), ("call_12", false), ("xcall_1", false), ("`call_1`", true)] {
            assert_eq!(names(text, "call_1"), expect, "{text}");
        }
    }

    #[test]
    fn a_path_is_followed_past_names_that_are_not_there() {
        let written = serde_json::json!({"messages": [{"content": [{"type": "text"}, {"source": {"data": "AAAA"}}]}]});
        let place = |path: &str| follow(&written, &paths(path)[0]).cloned();
        assert_eq!(place("messages.0.content.1.image.source.data"), Some("AAAA".into()));
        assert_eq!(place("messages.0.content.7"), None);
    }
}
