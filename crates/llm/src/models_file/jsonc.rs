//! Converts JSON with comments and trailing commas to JSON of the same length, so that line numbers stay correct.

/// Replaces comments and trailing commas with blanks; strings are left alone.
pub(super) fn to_json(text: &str) -> String {
    let mut out = blank_comments(text);
    blank_trailing_commas(&mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn blank_comments(text: &str) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while at < out.len() {
        let end = match (out[at], out.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(&out, at);
                continue;
            }
            (b'/', Some(b'/')) => find(&out, at, b"\n").unwrap_or(out.len()),
            (b'/', Some(b'*')) => find(&out, at + 2, b"*/").map_or(out.len(), |end| end + 2),
            _ => {
                at += 1;
                continue;
            }
        };
        out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    out
}

fn blank_trailing_commas(json: &mut [u8]) {
    let mut at = 0;
    let mut comma = None;
    while at < json.len() {
        match json[at] {
            b'"' => {
                comma = None;
                at = end_of_string(json, at);
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    json[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
}

/// Returns the position after the closing quote of the string that opens at `start`.
fn end_of_string(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < json.len() {
        match json[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    json.len()
}

fn find(text: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.windows(needle.len()).position(|window| window == needle).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(jsonc: &str, expect: &str) {
        let json = to_json(jsonc);
        assert_eq!(json.split_whitespace().collect::<String>(), expect);
        assert_eq!(json.lines().count(), jsonc.lines().count());
    }

    #[test]
    fn only_comments_and_trailing_commas_go() {
        check("{\"a\": 1, // one\n \"b\": [1, 2,], /* two\n lines */ }", r#"{"a":1,"b":[1,2]}"#);
        check(r#"{"url": "http://x/*y*/", "q": "\"//,}"}"#, r#"{"url":"http://x/*y*/","q":"\"//,}"}"#);
        check("[1, // c\n]", "[1]");
        check("/* open", "");
        check("\"open \\", "\"open\\");
        check("// only", "");
    }
}
