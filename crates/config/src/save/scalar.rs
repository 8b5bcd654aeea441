//! Keys and values on one line of YAML.

use serde_json::Value;

/// Words that some version of YAML does not read as text.
const NO_TEXT: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];

/// Formats a value on one line: plain if that is safe, otherwise as JSON, which is valid YAML.
pub fn written(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

pub fn written_key(key: &str) -> String {
    if is_plain(key) { key.to_owned() } else { Value::String(key.to_owned()).to_string() }
}

/// Starts with a letter and contains nothing that could end the text or begin another construct.
fn is_plain(text: &str) -> bool {
    let safe = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.' | '/' | ':');
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(safe)
        && !text.ends_with(':')
        && !NO_TEXT.contains(&text.to_ascii_lowercase().as_str())
}

/// Returns the key of a line and the offset of its value; `None` if the line has no key.
pub fn key_of(line: &str) -> Option<(String, usize)> {
    let (key, end) = match line.chars().next()? {
        '"' => {
            let end = 1 + closing(&line[1..], '"')?;
            (serde_json::from_str(&line[..=end]).ok()?, end + 1)
        }
        '\'' => {
            let end = 1 + closing(&line[1..], '\'')?;
            (line[1..end].replace("''", "'"), end + 1)
        }
        '?' | '-' if line[1..].is_empty() || line[1..].starts_with([' ', '\t']) => return None,
        '#' | '&' | '*' | '!' | '{' | '[' | '}' | ']' | '%' | '@' | '`' | '|' | '>' => return None,
        _ => {
            let colon = line.match_indices(':').map(|(at, _)| at).find(|at| ends_key(&line[at + 1..]))?;
            (line[..colon].trim_end().to_owned(), colon)
        }
    };
    let rest = &line[end..];
    let colon = end + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    (line[colon..].starts_with(':') && ends_key(&line[colon + 1..])).then_some((key, colon + 1))
}

fn ends_key(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t'])
}

/// Returns the end of a quoted text.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' if quote == '"' => drop(chars.next()),
            '\'' if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') => drop(chars.next()),
            _ if char == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// Splits the text after a colon into the trimmed value and the comment with its leading spaces.
pub fn value_and_comment(rest: &str) -> (&str, &str) {
    let mut at = 0;
    let mut after_space = true;
    let mut quoted_allowed = true;
    while let Some(char) = rest[at..].chars().next() {
        match char {
            '#' if after_space => {
                let value = rest[..at].trim_end();
                return (value.trim_start(), &rest[value.len()..]);
            }
            // A quote opens a text only at the start of a value.
            '"' | '\'' if quoted_allowed => match closing(&rest[at + 1..], char) {
                Some(end) => at += 1 + end,
                None => return (rest.trim(), ""),
            },
            _ => {}
        }
        after_space = matches!(char, ' ' | '\t');
        quoted_allowed = after_space || matches!(char, '[' | '{' | ',' | ':');
        at += rest[at..].chars().next().map_or(1, char::len_utf8);
    }
    (rest.trim(), "")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_plain_only_where_that_is_safe() {
        for (value, text) in [
            (json!("write"), "write"),
            (json!("anthropic/claude-sonnet-4-5:low"), "anthropic/claude-sonnet-4-5:low"),
            (json!("No"), "\"No\""),
            (json!("1.5"), "\"1.5\""),
            (json!("a: b"), "\"a: b\""),
            (json!("a #b"), "\"a #b\""),
            (json!(""), "\"\""),
            (json!("x:"), "\"x:\""),
            (json!("two\nlines"), "\"two\\nlines\""),
            (json!(0.95), "0.95"),
            (json!(true), "true"),
            (json!(["a", 1]), "[\"a\",1]"),
        ] {
            assert_eq!(written(&value), text);
            assert_eq!(serde_saphyr::from_str::<Value>(&format!("k: {text}")).unwrap()["k"], value, "{text}");
        }
    }

    #[test]
    fn keys_end_with_a_colon() {
        for (line, want) in [
            ("a: 1", Some(("a", 2))),
            ("a.b : 1", Some(("a.b", 5))),
            ("a:", Some(("a", 2))),
            ("http://x: 1", Some(("http://x", 9))),
            ("\"a: b\" : 1", Some(("a: b", 8))),
            ("'it''s': 1", Some(("it's", 8))),
            ("- a: 1", None),
            ("# a: 1", None),
            ("? a", None),
            ("{a: 1}", None),
            ("a:1", None),
            ("\"open: 1", None),
            ("\"a\" b: 1", None),
            ("", None),
        ] {
            let found = key_of(line);
            assert_eq!(found.as_ref().map(|(key, at)| (key.as_str(), *at)), want, "{line}");
        }
    }

    #[test]
    fn comments_are_told_from_what_only_looks_like_one() {
        for (rest, value, comment) in [
            (" 1 # one", "1", " # one"),
            (" a#b", "a#b", ""),
            (" \"a # b\"  # c", "\"a # b\"", "  # c"),
            (" it's # c", "it's", " # c"),
            (" 'it''s # x' # c", "'it''s # x'", " # c"),
            (" [\"#\", 'x # y'] # c", "[\"#\", 'x # y']", " # c"),
            ("  # only", "", "  # only"),
            (" \"open # text", "\"open # text", ""),
            ("", "", ""),
        ] {
            assert_eq!(value_and_comment(rest), (value, comment), "{rest}");
        }
    }
}
