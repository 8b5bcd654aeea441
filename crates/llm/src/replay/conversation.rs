//! Extracts the conversation from a request body and finds the first difference between two of them.
//!
//! Only messages are compared: prompts, tools and options differ between machines and versions without harm. Paths below the
//! working folder and durations count as equal.

use std::fmt;

use serde_json::Value;

/// Placeholder for the working folder.
const FOLDER: &str = "<cwd>";
/// Numbers of characters shown before and after a difference.
const SHOWN_BEFORE: usize = 20;
const SHOWN_AFTER: usize = 50;

#[derive(Debug, PartialEq)]
pub(super) struct Conversation {
    messages: Vec<Value>,
}

impl Conversation {
    /// Returns an empty conversation for a body without one.
    pub fn of(body: &[u8], folders: &[String]) -> Self {
        let mut body: Value = serde_json::from_slice(body).unwrap_or_default();
        let list = ["messages", "input", "contents"].iter().find_map(|key| match body.get_mut(key) {
            Some(Value::Array(list)) => Some(std::mem::take(list)),
            _ => None,
        });
        let said = |message: &Value| !matches!(message["role"].as_str(), Some("system" | "developer"));
        let mut messages: Vec<Value> = list.unwrap_or_default().into_iter().filter(said).collect();
        messages.iter_mut().for_each(|message| settle(message, folders));
        Self { messages }
    }

    /// Returns the first difference between this recorded conversation and `now`; `None` if they are equal.
    pub fn difference(&self, now: &Conversation) -> Option<String> {
        for (number, (recorded, now)) in self.messages.iter().zip(&now.messages).enumerate() {
            if let Some((place, recorded, now)) = part(recorded, now, String::new()) {
                let role = self.messages[number]["role"].as_str().or_else(|| self.messages[number]["type"].as_str());
                let role = role.map(|role| format!(" ({role})")).unwrap_or_default();
                let place = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
                let number = number + 1;
                return Some(format!("message {number}{role}{place}: recorded {recorded}, now {now}"));
            }
        }
        let (recorded, now) = (self.messages.len(), now.messages.len());
        (recorded != now).then(|| format!("the recorded request has {recorded} messages, this one {now}"))
    }
}

impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.messages.iter().try_for_each(|message| writeln!(f, "{message}"))
    }
}

/// Removes parts that may differ without significance.
fn settle(value: &mut Value, folders: &[String]) {
    match value {
        Value::String(text) => *text = settled(text, folders),
        Value::Array(items) => items.iter_mut().for_each(|item| settle(item, folders)),
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(|field| settle(field, folders));
        }
        _ => {}
    }
}

fn settled(text: &str, folders: &[String]) -> String {
    let mut folders: Vec<&str> = folders.iter().map(String::as_str).filter(|folder| folder.len() > 1).collect();
    folders.sort_unstable_by_key(|folder| std::cmp::Reverse(folder.len()));
    let text = folders.iter().fold(text.to_owned(), |text, folder| text.replace(folder, FOLDER));
    without_times(&text)
}

/// Replaces the numbers in `0.25 s`, `12ms` and `3 seconds` by `#`.
fn without_times(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        out.push_str(before);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (digits, after) = number.split_at(end);
        out.push_str(if is_unit(after) { "#" } else { digits });
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_unit(text: &str) -> bool {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    matches!(&text[..end], "s" | "ms" | "second" | "seconds")
}

/// Returns the first difference between two values: its path and both values.
fn part(recorded: &Value, now: &Value, place: String) -> Option<(String, String, String)> {
    match (recorded, now) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            let null = Value::Null;
            keys.into_iter().find_map(|key| {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                part(one.get(key).unwrap_or(&null), other.get(key).unwrap_or(&null), place)
            })
        }
        (Value::Array(one), Value::Array(other)) => {
            let null = Value::Null;
            (0..one.len().max(other.len())).find_map(|at| {
                part(one.get(at).unwrap_or(&null), other.get(at).unwrap_or(&null), format!("{place}[{at}]"))
            })
        }
        (Value::String(one), Value::String(other)) if one != other => {
            let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            Some((place, excerpt(one, same), excerpt(other, same)))
        }
        (one, other) if one != other => Some((place, shown(one), shown(other))),
        _ => None,
    }
}

fn excerpt(text: &str, at: usize) -> String {
    let from = at.saturating_sub(SHOWN_BEFORE);
    let lead = if from > 0 { "…" } else { "" };
    let part: String = text.chars().skip(from).take(SHOWN_BEFORE + SHOWN_AFTER).collect();
    format!("`{lead}{}`", part.escape_debug())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        value => format!("`{}`", value.to_string().chars().take(SHOWN_AFTER).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn conversation(body: Value) -> Conversation {
        Conversation::of(body.to_string().as_bytes(), &["/tmp/then".to_owned(), "/tmp/then/now".to_owned()])
    }

    #[track_caller]
    fn check(recorded: Value, now: Value, expect: Option<&str>) {
        assert_eq!(conversation(recorded).difference(&conversation(now)).as_deref(), expect);
    }

    #[test]
    fn only_what_was_said_counts() {
        let body = |system: &str, text: &str| {
            json!({"model": system, "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": system}}]},
            ]})
        };
        check(body("a", "in /tmp/then/x"), body("b", "in /tmp/then/now/x"), None);
        check(body("a", "Wall time: 0.25 seconds"), body("a", "Wall time: 12 seconds"), None);
        check(body("a", "took 3ms"), body("a", "took 4ms"), None);
        check(
            body("a", "line 3 of it"),
            body("a", "line 4 of it"),
            Some("message 1 (user) at `content[0].text`: recorded `line 3 of it`, now `line 4 of it`"),
        );
    }

    #[test]
    fn every_wire_has_its_list() {
        for key in ["messages", "input", "contents"] {
            let body = |text: &str| json!({ key: [{"role": "user", "x": text}] });
            check(body("a"), body("a"), None);
            check(body("a\n"), body("b\n"), Some("message 1 (user) at `x`: recorded `a\\n`, now `b\\n`"));
        }
        check(
            json!({"messages": [1]}),
            json!({"messages": [1, 2]}),
            Some("the recorded request has 1 messages, this one 2"),
        );
        check(
            json!({"messages": [{"a": 1}]}),
            json!({"messages": [{}]}),
            Some("message 1 at `a`: recorded `1`, now nothing"),
        );
        check(json!("no body"), Value::Null, None);
    }

    #[test]
    fn long_texts_are_shown_around_the_place() {
        let body = |end: &str| json!({"messages": [format!("{}{end}{}", "x".repeat(100), "y".repeat(100))]});
        let told = conversation(body("a")).difference(&conversation(body("b"))).unwrap();
        assert!(told.contains("…xxxxxxxxxxxxxxxxxxxxay") && told.chars().count() < 250, "{told}");
    }
}
