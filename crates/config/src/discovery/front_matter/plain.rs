//! Parses common front matter without a YAML parser, so that three hundred files take only milliseconds.
//!
//! Accepts `key: value` lines with unambiguous values and declines everything else.

use serde_json::{Map, Value};

/// Words that some version of YAML does not read as text.
const NOT_TEXT: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Returns the same as a YAML parser, or `None` if a parser is needed.
pub(super) fn parse(block: &str) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    for line in block.lines() {
        if line.is_empty() {
            continue;
        }
        let (key, value) = line.split_once(": ")?;
        let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic()) && is_text(key) && !key.contains([' ', ',']);
        if !is_key || fields.insert(key.to_owned(), scalar_or_list(value.trim_matches(' '))?).is_some() {
            return None;
        }
    }
    Some(fields)
}

fn scalar_or_list(value: &str) -> Option<Value> {
    let Some(inner) = value.strip_prefix('[') else { return scalar(value) };
    let inner = inner.strip_suffix(']')?;
    let items = inner.split(',').map(|item| {
        let item = item.trim_matches(' ');
        let is_plain = item.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c));
        if is_plain || quoted(item).is_some() { scalar(item) } else { None }
    });
    items.collect::<Option<Vec<Value>>>().map(Value::Array)
}

fn scalar(value: &str) -> Option<Value> {
    match value {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ if is_text(value) => Some(Value::String(value.to_owned())),
        _ => quoted(value).map(|inner| Value::String(inner.to_owned())),
    }
}

/// Unquoted text: begins with a letter and contains nothing that could end it or change its type.
fn is_text(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_alphabetic())
        && !value.ends_with(':')
        && !value.contains(": ")
        && !value.contains(" #")
        && !value.chars().any(|c| c.is_control() || !c.is_ascii() && !c.is_alphanumeric())
        && !NOT_TEXT.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Returns the text between quotes if it contains no escapes.
fn quoted(value: &str) -> Option<&str> {
    let inner = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))?;
    let plain =
        |c: char| !c.is_control() && !['"', '\'', '\\', ','].contains(&c) && (c.is_ascii() || c.is_alphanumeric());
    inner.chars().all(plain).then_some(inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_lines_are_understood() {
        let block = "name: pdf\ndescription: Reads it's files, page by page\nalwaysApply: true\nglobs: ['*.rs', \"a/b\", c.x]\n";
        let fields = json!({"name": "pdf", "description": "Reads it's files, page by page", "alwaysApply": true, "globs": ["*.rs", "a/b", "c.x"]});
        assert_eq!(parse(block).map(Value::Object), Some(fields));
    }

    #[test]
    fn what_takes_a_parser_is_declined() {
        for block in [
            "a: 1",
            "a: null",
            "a: Yes",
            "a:",
            "a: b: c",
            "a: b #c",
            "a: *x",
            "a: |\n  x",
            "- a",
            "a: x\n  y",
            "a: x\na: y",
            "a: \"\\n\"",
            "a: {b: c}",
            "a: [b, [c]]",
            "a: b:",
            "a: ~",
            "a: 2024-01-01",
            "a: \tb",
            "# x",
            "a: [b",
            "a: ''''",
        ] {
            assert_eq!(parse(block), None, "{block:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn it_never_disagrees_with_yaml(block in "([a-c]{1,2}: {1,2}[a-zA-Z0-9_.,:#'\"*&!|>%@~=\\[\\]{}\\\\ é-]{0,12}\n){1,3}") {
            if let Some(fields) = parse(&block) {
                let yaml = serde_saphyr::from_str::<Value>(&block).map_err(|error| error.to_string());
                proptest::prop_assert_eq!(yaml, Ok(Value::Object(fields)));
            }
        }

        #[test]
        fn nor_about_values_that_look_plain(block in "(k[a-c]: ('[a-z*/ .]{0,6}'|\"[a-z*/ .]{0,6}\"|\\[[a-z0-9'\"., -]{0,10}\\]|[a-zA-Z][a-z0-9'\" ,.-]{0,8})\n){1,3}") {
            if let Some(fields) = parse(&block) {
                let yaml = serde_saphyr::from_str::<Value>(&block).map_err(|error| error.to_string());
                proptest::prop_assert_eq!(yaml, Ok(Value::Object(fields)));
            }
        }
    }
}
