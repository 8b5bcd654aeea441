//! The user's preferences for automatic behavior: when to notify, what a double Esc opens, which filter the tree starts
//! with.

use std::time::Duration;

use omp_types::Setting;
use omp_types::SettingKind::{Bool, OneOf};

const ON_OFF: omp_types::SettingKind = OneOf(&["on", "off"]);

pub const HABIT_SETTINGS: &[Setting] = &[
    Setting::new(
        "Look",
        "completion.notify",
        ON_OFF,
        "\"on\"",
        "Notify you when a run ends and the terminal is not focused.",
    )
    .titled("Notify when done"),
    Setting::new(
        "Look",
        "ask.notify",
        ON_OFF,
        "\"on\"",
        "Notify you when omp asks a question and the terminal is not focused.",
    )
    .titled("Notify on questions"),
    Setting::new("Look", "error.notify", ON_OFF, "\"off\"", "Notify you when a run fails, however short it was.")
        .titled("Notify on errors"),
    Setting::new(
        "Look",
        "doubleEscapeAction",
        OneOf(&["branch", "tree", "none"]),
        "\"branch\"",
        "What pressing Esc twice opens: earlier messages, the session tree, or nothing.",
    )
    .titled("Double Esc"),
    Setting::new(
        "Look",
        "treeFilterMode",
        OneOf(&crate::dialogs::TreeDialog::FILTER_NAMES),
        "\"default\"",
        "Which entries the session tree shows first.",
    )
    .titled("Tree filter"),
    Setting::new("Look", "startup.quiet", Bool, "false", "Show no welcome text when a session starts.")
        .titled("Hide the welcome text"),
    Setting::new("Look", "editor.vimMode", Bool, "false", "Edit the prompt with vim's modes; /vim switches it.")
        .titled("Vim mode"),
];

/// What a second Esc does if nothing runs and nothing is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoubleEscape {
    #[default]
    Branch,
    Tree,
    Nothing,
}

/// When to notify a user who is not looking at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calls {
    pub done: bool,
    pub asked: bool,
    pub failed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Habits {
    /// Work that took longer than this triggers a notification.
    pub long: Duration,
    pub calls: Calls,
    pub double_escape: DoubleEscape,
    /// The name of a filter of the tree.
    pub tree_filter: String,
    pub greets: bool,
    /// Modal editing of the prompt.
    pub vim: bool,
}

impl Habits {
    /// Reads the preferences from settings; `get` returns the value of a key.
    pub fn read(long: Duration, get: impl Fn(&str) -> Option<serde_json::Value>) -> Self {
        let word = |key: &str| -> String {
            let word = get(key).and_then(|value| value.as_str().map(str::to_owned));
            word.unwrap_or_else(|| Setting::default_of(HABIT_SETTINGS, key))
        };
        let is_on = |key: &str| -> bool {
            let value = get(key).and_then(|value| value.as_bool());
            value.unwrap_or_else(|| Setting::default_of(HABIT_SETTINGS, key))
        };
        Self {
            long,
            calls: Calls {
                done: word("completion.notify") != "off",
                asked: word("ask.notify") != "off",
                failed: word("error.notify") == "on",
            },
            double_escape: match word("doubleEscapeAction").as_str() {
                "tree" => DoubleEscape::Tree,
                "none" => DoubleEscape::Nothing,
                _ => DoubleEscape::Branch,
            },
            tree_filter: word("treeFilterMode"),
            greets: !is_on("startup.quiet"),
            vim: is_on("editor.vimMode"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_taken() {
        let read = Habits::read(Duration::ZERO, |key| {
            Some(match key {
                "completion.notify" | "ask.notify" => json!("off"),
                "error.notify" => json!("on"),
                "doubleEscapeAction" => json!("tree"),
                "treeFilterMode" => json!("all"),
                "startup.quiet" | "editor.vimMode" => json!(true),
                _ => return None,
            })
        });
        let expect = Habits {
            long: Duration::ZERO,
            calls: Calls { done: false, asked: false, failed: true },
            double_escape: DoubleEscape::Tree,
            tree_filter: "all".to_owned(),
            greets: false,
            vim: true,
        };
        assert_eq!(read, expect);
    }
}
