//! Finds the positions of keys in a YAML or JSON text, so that errors can name the line and column.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// Both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    pub line: u64,
    pub column: u64,
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Returns the position and a one-line description of a YAML error. The text is not quoted, because it may contain keys.
pub fn yaml_problem(error: &serde_saphyr::Error) -> (Option<LineColumn>, String) {
    let place = error.location().map(|at| LineColumn { line: at.line(), column: at.column() });
    let place = place.filter(|place| place.line > 0);
    if let Some(why) = plain_words(error.without_snippet()) {
        return (place, why);
    }
    let why = error.without_snippet().to_string();
    let why = why.lines().next().unwrap_or_default();
    // The position precedes the message.
    let said = place.map(|place| format!(" at line {}, column {}", place.line, place.column));
    let why = said.as_deref().and_then(|said| why.strip_suffix(said)).unwrap_or(why);
    let why = if why.contains("recursion limit exceeded") { TOO_LARGE } else { why };
    (place, why.to_owned())
}

const TOO_LARGE: &str = "it is too large, or too much is nested or repeated in it";

/// Replaces parser messages that are meant for programmers.
fn plain_words(error: &serde_saphyr::Error) -> Option<String> {
    use serde_saphyr::Error as E;
    let told = match error {
        E::AliasError { error, .. } => return plain_words(error),
        E::DuplicateMappingKey { key: Some(key), .. } => format!("`{}` is given twice", key.escape_debug()),
        E::DuplicateMappingKey { key: None, .. } => "a key is given twice".to_owned(),
        E::RecursiveReferencesRequireWeakTypes { .. } => "an alias (`*name`) refers to itself".to_owned(),
        E::UnknownAnchor { .. } => {
            "a reference (`*name`) to something that has no `&name` before it; put quotes around a text \
             that begins with `*`"
                .to_owned()
        }
        E::MultipleDocuments { .. } => "there is more than one document in it (`---`)".to_owned(),
        E::Budget { .. }
        | E::AliasReplayCounterOverflow { .. }
        | E::AliasReplayLimitExceeded { .. }
        | E::AliasExpansionLimitExceeded { .. }
        | E::AliasReplayStackDepthExceeded { .. } => TOO_LARGE.to_owned(),
        E::SerdeInvalidType { expected, .. } | E::SerdeInvalidValue { expected, .. } => expected_value(expected),
        _ => return None,
    };
    Some(told)
}

/// Describes the expected value without the names of Rust types that serde uses.
pub fn expected_value(expected: &str) -> String {
    let is_number = |word: &str| {
        word.strip_prefix(['f', 'u', 'i']).is_some_and(|size| matches!(size, "8" | "16" | "32" | "64" | "128" | "size"))
    };
    let told = match expected {
        word if is_number(word) => "a number",
        "a boolean" => "true or false",
        "a string" | "a borrowed string" => "text",
        "a sequence" => "a list",
        "a map" => "a mapping",
        other => other,
    };
    format!("expected {told}")
}

/// The keys of a text by their path. An invalid text has none.
#[derive(Debug, Default)]
pub struct KeyPlaces(KeyNode);

#[derive(Debug, Default)]
enum KeyNode {
    Map(Vec<(String, LineColumn, KeyNode)>),
    List(Vec<(LineColumn, KeyNode)>),
    #[default]
    Leaf,
}

impl KeyPlaces {
    pub fn of(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self(serde_saphyr::from_str(text).unwrap_or_default())
    }

    /// Returns the position of a key, or of its nearest existing ancestor. The path is written `a.b.list[0].c`; a key may
    /// contain dots.
    pub fn nearest(&self, path: &str) -> Option<LineColumn> {
        self.0.deepest(path).map(|(place, _)| place)
    }
}

impl KeyNode {
    /// Returns the position that matches most of the path, and the matched length.
    fn deepest(&self, path: &str) -> Option<(LineColumn, usize)> {
        match self {
            KeyNode::Leaf => None,
            KeyNode::Map(entries) => {
                let found = entries.iter().filter_map(|(key, place, node)| {
                    let rest = path.strip_prefix(key.as_str())?;
                    let below = match rest.strip_prefix('.') {
                        Some(rest) => rest,
                        None if rest.is_empty() || rest.starts_with('[') => rest,
                        None => return None,
                    };
                    Some(node.below(below, *place, path.len() - below.len()))
                });
                found.max_by_key(|(_, used)| *used)
            }
            KeyNode::List(items) => {
                let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
                let (place, node) = items.get(index.parse::<usize>().ok()?)?;
                let below = rest.strip_prefix('.').unwrap_or(rest);
                Some(node.below(below, *place, path.len() - below.len()))
            }
        }
    }

    fn below(&self, rest: &str, place: LineColumn, used: usize) -> (LineColumn, usize) {
        match self.deepest(rest) {
            Some((deeper, more)) => (deeper, used + more),
            None => (place, used),
        }
    }
}

impl<'de> Deserialize<'de> for KeyNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = KeyNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeyNode, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let place = place_of(&key);
            entries.push((key.value, place, map.next_value()?));
        }
        Ok(KeyNode::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<KeyNode, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Spanned<KeyNode>>()? {
            let place = place_of(&item);
            items.push((place, item.value));
        }
        Ok(KeyNode::List(items))
    }

    fn visit_bool<E>(self, _: bool) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_i64<E>(self, _: i64) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_i128<E>(self, _: i128) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_u64<E>(self, _: u64) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_u128<E>(self, _: u128) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_f64<E>(self, _: f64) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_str<E>(self, _: &str) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_none<E>(self) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }

    fn visit_unit<E>(self) -> Result<KeyNode, E> {
        Ok(KeyNode::Leaf)
    }
}

fn place_of<T>(spanned: &Spanned<T>) -> LineColumn {
    LineColumn { line: spanned.referenced.line(), column: spanned.referenced.column() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# a comment
retry:
  maxRetries: three # words
tools.approvalMode: 3
\"quoted key\": {inner: [1, {deep: x}]}
providers:
  llama.cpp:
    models:
      - id: a
        maxTokens: many
      - id: b
umlaut: {ä: 1, b: 2}
5: number
";

    #[track_caller]
    fn check(text: &str, path: &str, expect: Option<&str>) {
        let place = KeyPlaces::of(text).nearest(path).map(|place| place.to_string());
        assert_eq!(place.as_deref(), expect, "{path}");
    }

    #[test]
    fn keys_are_found_by_their_path() {
        for (path, expect) in [
            ("retry", "2:1"),
            ("retry.maxRetries", "3:3"),
            ("tools.approvalMode", "4:1"),
            ("quoted key.inner", "5:16"),
            ("quoted key.inner[1].deep", "5:28"),
            ("providers.llama.cpp", "7:3"),
            ("providers.llama.cpp.models[0].maxTokens", "10:9"),
            ("providers.llama.cpp.models[1]", "11:9"),
            ("umlaut.b", "12:16"),
            ("5", "13:1"),
        ] {
            check(TEXT, path, Some(expect));
        }
    }

    #[test]
    fn what_is_not_there_has_the_place_of_what_is_above_it() {
        check(TEXT, "retry.missing", Some("2:1"));
        check(TEXT, "providers.llama.cpp.baseUrl", Some("7:3"));
        check(TEXT, "providers.llama.cpp.models[7].id", Some("8:5"));
        check(TEXT, "retries", None);
        check(TEXT, "", None);
    }

    #[test]
    fn a_text_that_is_no_yaml_has_a_place_and_a_reason() {
        for (text, expect) in [("a: 1\nb: [1, 2\nc: 3\n", "3:2"), ("a: 'x\n", "2:1"), ("a: 1\nb: *x\n", "2:4")] {
            let error = serde_saphyr::from_str::<KeyNode>(text).unwrap_err();
            let (place, why) = yaml_problem(&error);
            assert_eq!(place.map(|place| place.to_string()).as_deref(), Some(expect), "{why}");
            assert!(!why.is_empty() && !why.contains(" at line") && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn the_reason_is_in_plain_words() {
        let deep = format!("a: {}1{}\n", "[".repeat(5000), "]".repeat(5000));
        for (text, expect) in [
            ("theme: a\nx: 1\ntheme: b\n", "`theme` is given twice"),
            ("a: &x\n  b: *x\n", "an alias (`*name`) refers to itself"),
            (
                "a: *x\n",
                "a reference (`*name`) to something that has no `&name` before it; put quotes around a text that begins with `*`",
            ),
            ("a: 1\n---\nb: 2\n", "there is more than one document in it (`---`)"),
            (&deep, "it is too large, or too much is nested or repeated in it"),
        ] {
            let error = serde_saphyr::from_str::<KeyNode>(text).unwrap_err();
            assert_eq!(yaml_problem(&error).1, expect, "{error}");
        }
        let error = serde_saphyr::from_str::<std::collections::BTreeMap<String, f64>>("a: []\n").unwrap_err();
        assert!(!yaml_problem(&error).1.contains("f64"), "{error}");
        for (rust, plain) in
            [("f64", "a number"), ("usize", "a number"), ("a sequence", "a list"), ("a mapping", "a mapping")]
        {
            assert_eq!(expected_value(rust), format!("expected {plain}"));
        }
    }

    #[test]
    fn json_is_read_as_well_and_what_cannot_be_read_has_no_places() {
        check("{\n  \"a\": {\n    \"b\": null\n  }\n}\n", "a.b", Some("3:5"));
        check("\u{feff}a: 1\n", "a", Some("1:1"));
        check("a: [1, 2", "a", None);
        check("just text", "a", None);
        check("", "a", None);
    }
}
