//! Parses the YAML block at the start of Markdown files leniently: files of other programs often contain invalid YAML.
//!
//! Cursor writes `globs: *.ts`, which YAML reads as an alias; people write `description: Use: this`. A block that is not
//! valid YAML is parsed line by line, so that one bad value does not lose the others.

mod plain;

use serde_json::{Map, Value};

/// A parsed file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Document {
    /// Keys in camel case, however they were written.
    pub fields: Map<String, Value>,
    /// The text without the front matter, or the whole text if there is none.
    pub body: String,
    /// Lines of the block that could not be parsed.
    pub lost_lines: usize,
}

/// Parses a file. Never fails: anything that is not front matter is text.
pub(crate) fn parse(text: &str) -> Document {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let Some((block, body)) = split(without_leading_comments(&text)) else {
        return Document { body: text, ..Document::default() };
    };
    let body = body.trim().to_owned();
    let yaml = match plain::parse(block) {
        Some(fields) => Ok(Value::Object(fields)),
        None => serde_saphyr::from_str::<Value>(block),
    };
    match yaml {
        Ok(Value::Object(fields)) => Document { fields: in_camel_case(fields), body, lost_lines: 0 },
        Ok(Value::Null) => Document { body, ..Document::default() },
        Ok(_) => Document { body, lost_lines: block.lines().count(), ..Document::default() },
        Err(_) => {
            let (fields, lost_lines) = line_by_line(block);
            Document { fields: in_camel_case(fields), body, lost_lines }
        }
    }
}

impl Document {
    /// There are few fields, so comparing is faster than hashing.
    fn field(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Returns a trimmed text field.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.field(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Accepts only `true` or the text "true".
    pub fn is_true(&self, key: &str) -> bool {
        match self.field(key) {
            Some(Value::Bool(value)) => *value,
            Some(Value::String(word)) => word.trim().eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// Returns a text or a list of texts; other list items are dropped.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let texts: Vec<&str> = match self.field(key) {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut unique: Vec<String> = Vec::new();
        for text in texts.into_iter().map(str::trim).filter(|text| !text.is_empty()) {
            if !unique.iter().any(|known| known == text) {
                unique.push(text.to_owned());
            }
        }
        unique
    }
}

/// Splits off the block between the two `---` lines.
fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let end = rest.find("\n---")?;
    let block = rest.get(..end)?;
    let block = block.split_once('\n').map_or("", |(_, lines)| lines);
    Some((block, rest.get(end + 4..)?))
}

/// Skips comments such as a licence note before the front matter.
fn without_leading_comments(text: &str) -> &str {
    let mut rest = text;
    while let Some(comment) = rest.trim_start().strip_prefix("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { return text };
        rest = after.trim_start();
    }
    if rest.starts_with("---") { rest } else { text }
}

/// Parses `key: value` lines and the `- item` lines below a key without a value; each value is parsed separately.
fn line_by_line(block: &str) -> (Map<String, Value>, usize) {
    let mut fields = Map::new();
    let mut lost = 0;
    let mut list: Option<String> = None;
    for line in block.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        if let Some(item) = line.trim_start().strip_prefix("- ")
            && let Some(key) = &list
        {
            if let Some(Value::Array(items)) = fields.get_mut(key) {
                items.push(scalar(item.trim()));
            }
            continue;
        }
        match line.split_once(':').filter(|(key, _)| is_key(key)) {
            Some((key, value)) if value.trim().is_empty() => {
                fields.insert(key.to_owned(), Value::Array(Vec::new()));
                list = Some(key.to_owned());
            }
            Some((key, value)) => {
                fields.insert(key.to_owned(), scalar(value.trim()));
                list = None;
            }
            None => lost += 1,
        }
    }
    (fields, lost)
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn scalar(text: &str) -> Value {
    match serde_saphyr::from_str::<Value>(text) {
        Ok(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

fn in_camel_case(fields: Map<String, Value>) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (camel_case(&key), value)).collect()
}

/// Converts `argument-hint` to `argumentHint`; names with underscores stay.
fn camel_case(key: &str) -> String {
    let mut words = key.split('-');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, fields: Value, body: &str) {
        let document = parse(text);
        assert_eq!(Value::Object(document.fields), fields, "{text:?}");
        assert_eq!(document.body, body, "{text:?}");
    }

    #[test]
    fn a_block_is_told_from_text() {
        check("plain", json!({}), "plain");
        check("---\nno end", json!({}), "---\nno end");
        check("---\na: 1\n---\n\n  body \n", json!({"a": 1}), "body");
        check("\u{feff}---\r\na: x\r\n---\r\nbody\r\n", json!({"a": "x"}), "body");
        check("<!-- licence -->\n---\na: x\n---\nbody", json!({"a": "x"}), "body");
        check("---\n---\nbody", json!({}), "body");
        check("---\n- just\n- a list\n---\nbody", json!({}), "body");
        check("text first\n---\na: 1\n---\n", json!({}), "text first\n---\na: 1\n---\n");
    }

    #[test]
    fn keys_are_in_camel_case() {
        check(
            "---\ndisable-model-invocation: true\nttsr_trigger: x\n---\n",
            json!({"disableModelInvocation": true, "ttsr_trigger": "x"}),
            "",
        );
    }

    #[test]
    fn what_is_no_yaml_is_read_line_by_line() {
        check(
            "---\nglobs: *.ts,*.tsx\nalwaysApply: false\ndescription: Use: this\n---\nbody",
            json!({"globs": "*.ts,*.tsx", "alwaysApply": false, "description": "Use: this"}),
            "body",
        );
        check(
            "---\nglobs:\n  - *.ts\n  - \"src/**\"\ncondition: 'x'\n---\nbody",
            json!({"globs": ["*.ts", "src/**"], "condition": "x"}),
            "body",
        );
        check("---\nscope: \"text\",\"thinking\"\n---\n", json!({"scope": "\"text\",\"thinking\""}), "");
        assert_eq!(parse("---\na: [1\n&&& what\n---\n").lost_lines, 1);
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_fail(text in "(---\n)?[-a-z:*\\[\\]{}&!|>\"'#% \n]{0,80}(\n---)?[a-z\n]{0,20}") {
            parse(&text);
        }
    }
}
