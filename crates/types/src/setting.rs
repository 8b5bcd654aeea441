//! Declarations of settings by the crates that own them. `omp` collects the lists; files, screens, `omp config` and the JSON
//! Schema are derived from them.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The type of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    Bool,
    OneOf(&'static [&'static str]),
    Number {
        least: f64,
        most: f64,
    },
    Text,
    List,
    /// A list with values of one type.
    ListOf(ListItem),
    /// Names with arbitrary values, such as `modelRoles`.
    Map,
    /// Names with one of a few words each, such as `tools.approval`.
    MapOf(&'static [&'static str]),
}

/// The type of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListItem {
    Text,
    /// Starts at the root or the home folder: a relative path would depend on the folder in which omp is started.
    Path,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a path as above.
    WordOrPath(&'static [&'static str]),
}

/// Whether a project's files may change a setting, because a repository is not the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    #[default]
    Anyone,
    /// A setting that the user has turned off stays off.
    OffStays,
    /// Only the user's own files and flags may change it.
    User,
}

/// One setting, declared once, by the crate that reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Dotted, such as `retry.maxRetries`.
    pub key: &'static str,
    pub kind: SettingKind,
    /// The default as JSON; empty if there is none.
    pub default: &'static str,
    /// A short name for people, such as `Maximum retries`.
    pub title: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// The group on the settings screen; empty if it is not shown there.
    pub tab: &'static str,
    pub reach: Reach,
    /// Words of earlier versions that are still accepted but not offered, and how they are shown.
    pub former: &'static [(&'static str, &'static str)],
}

impl Setting {
    pub const fn new(
        tab: &'static str,
        key: &'static str,
        kind: SettingKind,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { key, kind, default, title: "", about, tab, reach: Reach::Anyone, former: &[] }
    }

    /// The name that people see.
    pub const fn titled(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// A project's files cannot set it.
    pub const fn by_user(mut self) -> Self {
        self.reach = Reach::User;
        self
    }

    /// A project's files cannot turn on what the user has turned off.
    pub const fn off_stays(mut self) -> Self {
        self.reach = Reach::OffStays;
        self
    }

    /// These words of earlier versions stay valid.
    pub const fn formerly(mut self, words: &'static [(&'static str, &'static str)]) -> Self {
        self.former = words;
        self
    }

    /// Returns today's name of a value that was written by an earlier version.
    pub fn current_word(&self, value: &Value) -> Option<&'static str> {
        let (_, current) = self.former.iter().find(|(old, _)| value == old)?;
        Some(current)
    }

    /// Returns null if there is no default.
    pub fn default_value(&self) -> Value {
        serde_json::from_str(self.default).unwrap_or_default()
    }

    /// Returns the default of a declared setting, which is defined only there.
    pub fn default_of<T: DeserializeOwned + Default>(declared: &[Setting], key: &str) -> T {
        let setting = declared.iter().find(|setting| setting.key == key);
        debug_assert!(setting.is_some(), "{key} is not declared in this list");
        setting.and_then(|setting| serde_json::from_str(setting.default).ok()).unwrap_or_default()
    }

    /// Checks a value; the error describes the expected value.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if self.current_word(value).is_some() || self.kind.accepts(value) { Ok(()) } else { Err(self.kind.expected()) }
    }
}

impl SettingKind {
    /// Returns the intended word if a file has an unquoted `off` or `on`, which older YAML rules read as a boolean.
    pub fn meant(&self, value: &Value) -> Option<Value> {
        let SettingKind::OneOf(words) = self else { return None };
        let spellings = if value.as_bool()? { ["on", "yes", "true"] } else { ["off", "no", "false"] };
        spellings.into_iter().find(|word| words.contains(word)).map(Value::from)
    }

    pub fn accepts(&self, value: &Value) -> bool {
        let is_word = |words: &[&str], value: &Value| value.as_str().is_some_and(|text| words.contains(&text));
        match self {
            SettingKind::Bool => value.is_boolean(),
            SettingKind::OneOf(words) => is_word(words, value),
            SettingKind::Number { least, most } => value.as_f64().is_some_and(|n| (*least..=*most).contains(&n)),
            SettingKind::Text => value.is_string(),
            SettingKind::List => value.is_array(),
            SettingKind::ListOf(_) => value.is_array() && self.wrong_item(value).is_none(),
            SettingKind::Map => value.is_object(),
            SettingKind::MapOf(words) => {
                value.as_object().is_some_and(|fields| fields.values().all(|value| is_word(words, value)))
            }
        }
    }

    /// Describes the expected value for users.
    pub fn expected(&self) -> String {
        match self {
            SettingKind::Bool => "true or false".to_owned(),
            SettingKind::OneOf(words) => format!("one of {}", words.join(", ")),
            SettingKind::Number { least, most } => format!("a number from {least} to {most}"),
            SettingKind::Text => "text".to_owned(),
            SettingKind::List | SettingKind::ListOf(ListItem::Text) => "a list such as [a, b]".to_owned(),
            SettingKind::ListOf(item) => format!("a list, each value {}", item.expected()),
            SettingKind::Map => "a map such as {name: value}".to_owned(),
            SettingKind::MapOf(words) => format!("a map with values from {}", words.join(", ")),
        }
    }

    /// Returns the index of the first invalid item of a list, and the expected value.
    pub fn wrong_item(&self, list: &Value) -> Option<(usize, String)> {
        let SettingKind::ListOf(item) = self else { return None };
        let at = list.as_array()?.iter().position(|value| !item.accepts(value))?;
        Some((at, item.expected()))
    }

    pub fn is_list(&self) -> bool {
        matches!(self, SettingKind::List | SettingKind::ListOf(_))
    }

    pub fn is_map(&self) -> bool {
        matches!(self, SettingKind::Map | SettingKind::MapOf(_))
    }

    /// Returns the type of a map's entries.
    pub fn entry(&self) -> Option<SettingKind> {
        match self {
            SettingKind::MapOf(words) => Some(SettingKind::OneOf(words)),
            _ => None,
        }
    }
}

impl ListItem {
    pub fn accepts(&self, value: &Value) -> bool {
        let is_path = |text: &str| text.starts_with("~/") || Path::new(text).is_absolute();
        value.as_str().is_some_and(|text| match self {
            ListItem::Text => true,
            ListItem::Path => is_path(text),
            ListItem::Word(words) => words.contains(&text),
            ListItem::WordOrPath(words) => words.contains(&text) || is_path(text),
        })
    }

    fn expected(&self) -> String {
        match self {
            ListItem::Text => "text".to_owned(),
            ListItem::Path => "a path that starts with / or ~/".to_owned(),
            ListItem::Word(words) => format!("one of {}", words.join(", ")),
            ListItem::WordOrPath(words) => format!("one of {}, or a path that starts with / or ~/", words.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: SettingKind, good: &[Value], bad: &[Value], expected: &str) {
        let setting = Setting::new("", "a.b", kind, "", "");
        for value in good {
            assert_eq!(setting.check(value), Ok(()), "{value}");
        }
        for value in bad {
            assert_eq!(setting.check(value), Err(expected.to_owned()), "{value}");
        }
    }

    #[test]
    fn values_are_of_their_kind() {
        check(SettingKind::Bool, &[json!(true)], &[json!("true"), json!(1), Value::Null], "true or false");
        check(SettingKind::OneOf(&["a", "b"]), &[json!("a")], &[json!("c"), json!(true)], "one of a, b");
        let number = SettingKind::Number { least: 0.0, most: 1.5 };
        check(number, &[json!(0), json!(1.5)], &[json!(-1), json!(2), json!("1")], "a number from 0 to 1.5");
        check(SettingKind::Text, &[json!("")], &[json!(1)], "text");
        check(SettingKind::List, &[json!([])], &[json!("a")], "a list such as [a, b]");
        let texts = SettingKind::ListOf(ListItem::Text);
        check(texts, &[json!([]), json!(["a", ""])], &[json!("a"), json!(["a", 3])], "a list such as [a, b]");
        check(
            SettingKind::ListOf(ListItem::Word(&["a", "b"])),
            &[json!([]), json!(["b", "a"])],
            &[json!("a"), json!(["c"]), json!([1])],
            "a list, each value one of a, b",
        );
        check(
            SettingKind::ListOf(ListItem::Path),
            &[json!([]), json!(["/x", "~/y", "~/"])],
            &[json!("/x"), json!(["x"]), json!(["/x", "./x"]), json!(["~u/x"]), json!([""]), json!(["~"]), json!([3])],
            "a list, each value a path that starts with / or ~/",
        );
        check(
            SettingKind::ListOf(ListItem::WordOrPath(&["a", "b"])),
            &[json!(["a", "/x"])],
            &[json!(["c"]), json!(["a", null])],
            "a list, each value one of a, b, or a path that starts with / or ~/",
        );
        let map = SettingKind::MapOf(&["x"]);
        check(map, &[json!({}), json!({"a": "x"})], &[json!({"a": 1}), json!([])], "a map with values from x");
    }
}
