//! JSON as editors write it: comments and a comma too many are let through.

use serde_json::Value;

/// Reads JSON, or says where it is broken.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain(text))).map_err(|error| error.to_string())
}

/// The same text with spaces where comments and trailing commas were, so that positions stay.
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
    fn what_is_broken_is_told() {
        for text in ["", "{", "[1,,]", "/*", "\"", "\"\\", &"[".repeat(100_000)] {
            assert!(parse(text).is_err(), "{text:.20}");
        }
    }
}
