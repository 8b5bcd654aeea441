//! JSON as editors write it: comments and trailing commas are accepted.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Parses JSON, or reports the position of the error.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain(text))).map_err(|error| error.to_string())
}

/// Parses an object but keeps only the values at these paths, which is fast if the rest is long.
pub(crate) fn parse_parts(text: &str, parts: &[&[&str]]) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let told = |error: serde_json::Error| error.to_string();
    let value = Parts(parts.to_vec()).deserialize(&mut reader).map_err(told)?;
    reader.end().map_err(told)?;
    Ok(value)
}

struct Parts<'a>(Vec<&'a [&'a str]>);

impl<'de> DeserializeSeed<'de> for Parts<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

/// A value that is not an object has no parts.
impl<'de> Visitor<'de> for Parts<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            let below = self.0.iter().filter_map(|part| part.split_first().filter(|(first, _)| **first == key));
            let below: Vec<&[&str]> = below.map(|(_, rest)| rest).collect();
            if below.is_empty() {
                entries.next_value::<IgnoredAny>()?;
            } else if below.iter().any(|rest| rest.is_empty()) {
                kept.insert(key.into_owned(), entries.next_value()?);
            } else {
                kept.insert(key.into_owned(), entries.next_value_seed(Parts(below))?);
            }
        }
        Ok(Value::Object(kept))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(Vec::new()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

/// Replaces comments and trailing commas by spaces, so that positions stay valid.
fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    let mut last_comma = None;
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied();
        match (byte, next) {
            (b'"', _) => {
                at = end_of_string(&bytes, at);
                last_comma = None;
            }
            (b'/', Some(b'/')) => at = blank(&mut bytes, at, |rest| rest.iter().position(|byte| *byte == b'\n')),
            (b'/', Some(b'*')) => {
                let end = |rest: &[u8]| rest.windows(2).skip(2).position(|pair| pair == b"*/").map(|found| found + 4);
                at = blank(&mut bytes, at, end);
            }
            (b']' | b'}', _) => {
                if let Some(comma) = last_comma.take() {
                    bytes[comma] = b' ';
                }
                at += 1;
            }
            (b',', _) => {
                last_comma = Some(at);
                at += 1;
            }
            (byte, _) => {
                if !byte.is_ascii_whitespace() {
                    last_comma = None;
                }
                at += 1;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn blank(bytes: &mut [u8], start: usize, end: impl Fn(&[u8]) -> Option<usize>) -> usize {
    let end = bytes.get(start..).and_then(end).map_or(bytes.len(), |length| start + length);
    for byte in bytes.iter_mut().take(end).skip(start).filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
    end
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_let_through() {
        for (text, value) in [
            ("{\"a\": 1}", json!({"a": 1})),
            ("\u{feff}{}", json!({})),
            ("// first\n{\"a\": 1, /* ü */ \"b\": [1, 2,],\n}", json!({"a": 1, "b": [1, 2]})),
            ("{\"url\": \"http://x/*not*/\", // why\n}", json!({"url": "http://x/*not*/"})),
            ("{\"a\": \"\\\"//\",}", json!({"a": "\"//"})),
        ] {
            assert_eq!(parse(text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn only_some_parts_are_kept() {
        let text = "{\"history\": [{\"a\": [1]}], \"servers\": {\"x\": 1}, \"more\": null,
            \"projects\": {\"/a\": {\"servers\": {\"y\": 2}, \"history\": []}, \"/b\": {\"servers\": 1}, \"/c\": []}}";
        let parts: &[&[&str]] = &[&["servers"], &["projects", "/a", "servers"], &["projects", "/c", "servers"]];
        let kept = json!({"servers": {"x": 1}, "projects": {"/a": {"servers": {"y": 2}}, "/c": []}});
        assert_eq!(parse_parts(text, parts).unwrap(), kept);
        for (text, kept) in [("{}", json!({})), ("{\"projects\": null}", json!({"projects": null})), ("3", json!(3))] {
            assert_eq!(parse_parts(text, parts).unwrap(), kept);
        }
        for broken in ["{", "{\"a\": }", "", "{} {}"] {
            assert!(parse_parts(broken, parts).is_err(), "{broken}");
        }
    }

    #[test]
    fn what_is_broken_is_told() {
        for text in ["", "{", "[1,,]", "/*", "\"", "\"\\", &"[".repeat(100_000)] {
            assert!(parse(text).is_err(), "{text:.20}");
        }
    }
}
