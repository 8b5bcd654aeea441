//! Settings by group, by search, and with every kind of value.

use serde_json::json;

use super::super::screen::{both, draw, press, says, type_text};
use super::*;

pub(in crate::dialogs) fn dialog() -> SettingsDialog {
    SettingsDialog::new(|key| match key {
        "modelRoles.smol" => Some(StoredSetting { value: json!("anthropic/claude-haiku-4-5:low"), from: "user" }),
        "defaultThinkingLevel" => Some(StoredSetting { value: json!("low"), from: "project" }),
        "disabledProviders" => Some(StoredSetting { value: json!(["a", "b"]), from: "user" }),
        _ => None,
    })
}

#[test]
fn settings_of_a_group() {
    insta::assert_snapshot!(both(&mut dialog()), @"
    Settings  9 of 56
    [Model] Look Approval Messages Tools Files Shell
    > type to search all
    ❯ modelRoles.default                              –
      modelRoles.smol                anthropic/claude-haiku-4-5…
      modelRoles.slow                                 –
      modelRoles.plan                                 –
      modelRoles.commit                               –
      defaultThinkingLevel                          low  project
      serviceTier                                  none
      modelProviderOrder                              –
      model used when --model is not given
    enter change · tab group · del default · esc close
    ------------------------------
    Settings  9 of 56
    [Model] 1 of 7
    > type to search all
    ❯ modelRoles.defa…  –
      modelRoles.sm…  anthropic/c…
      modelRoles.slow   –
      modelRoles.plan   –
      modelRoles.comm…  –
      defaultThinki…  low  project
      serviceTier    none
      modelProviderOr…  –
      model used when --model is
    not given
    enter change · tab group
    ");
}

#[test]
fn a_number_that_is_none() {
    let mut dialog = dialog();
    type_text(&mut dialog, "retries");
    press(&mut dialog, "enter x enter");
    insta::assert_snapshot!(both(&mut dialog), @"
    Settings  1 of 56
    [Model] Look Approval Messages Tools Files Shell
    > retries
    ❯ retry.maxRetries                                3
      how often
    `3x` is no number from 0 to 100.
    Value: 3x
    enter save · esc back
    ------------------------------
    Settings  1 of 56
    [Model] 1 of 7
    > retries
    ❯ retry.maxRetries  3
      how often
    `3x` is no number from 0 to
    100.
    Value: 3x
    enter save · esc back
    ");
}

#[test]
fn keys_change_settings() {
    let set = |key: &str, value: &str| format!("Do(SetSetting {{ key: {key:?}, value: {value} }})");
    for (search, keys, step) in [
        ("retry.enabled", "enter", set("retry.enabled", "Bool(false)")),
        ("calc", "right", set("calc.enabled", "Bool(true)")),
        ("approvalmode", "enter", set("tools.approvalMode", "String(\"always-ask\")")),
        ("approvalmode", "left", set("tools.approvalMode", "String(\"write\")")),
        ("edit.mode", "left", set("edit.mode", "String(\"hashline\")")),
        ("maxretries", "enter ctrl+u 7 enter", set("retry.maxRetries", "Number(7)")),
        ("fuzzythreshold", "enter backspace enter", set("edit.fuzzyThreshold", "Number(0.9)")),
        ("maxretries", "enter ctrl+u enter", set("retry.maxRetries", "Null")),
        ("shellpath", "enter / x enter", set("shellPath", "String(\"/x\")")),
        (
            "disabledprov",
            "enter , c enter",
            set("disabledProviders", "Array [String(\"a\"), String(\"b\"), String(\"c\")]"),
        ),
        ("disabledprov", "delete", set("disabledProviders", "Null")),
        ("maxretries", "enter 9 9 9 9 enter", "Redraw".to_owned()),
        ("maxretries", "enter x escape", "Redraw".to_owned()),
        ("shellpath", "left", "Ignored".to_owned()),
        ("nosuchthing", "enter", "Ignored".to_owned()),
        ("", "escape", "Close(None)".to_owned()),
        ("x", "escape", "Redraw".to_owned()),
    ] {
        let mut dialog = dialog();
        type_text(&mut dialog, search);
        assert_eq!(says(&mut dialog, keys), step, "{search} {keys}");
    }
}

#[test]
fn what_was_changed_is_seen_and_what_is_stronger_told() {
    let mut dialog = dialog();
    type_text(&mut dialog, "calc");
    press(&mut dialog, "enter");
    assert!(draw(&mut dialog, 60).contains("true     user"));
    press(&mut dialog, "delete");
    assert!(draw(&mut dialog, 60).contains("false"));
    press(&mut dialog, "escape");
    type_text(&mut dialog, "defaultthinking");
    press(&mut dialog, "enter");
    let screen = draw(&mut dialog, 60);
    assert!(screen.contains("low  project") && screen.contains("comes from: project"), "{screen}");
}

#[test]
fn groups_go_round() {
    let mut dialog = dialog();
    for (keys, row) in [("tab", "hideThinkingBlock"), ("shift+tab", "modelRoles.default"), ("shift+tab", "shellPath")] {
        press(&mut dialog, keys);
        assert!(draw(&mut dialog, 60).contains(row), "{keys}");
    }
}

#[test]
fn every_setting_has_a_default_of_its_kind_and_is_documented() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md")).unwrap();
    let documented = documented(&page);
    for setting in SETTINGS {
        let default = setting.default_value();
        let fits = match setting.kind {
            Kind::Bool => default.is_boolean(),
            Kind::OneOf(values) => default.is_null() || values.iter().any(|value| default == *value),
            Kind::Number { .. } => setting.read(setting.default) == Ok(default),
            Kind::Text | Kind::List => default.is_null(),
        };
        assert!(fits && (setting.default.is_empty() == setting.default_value().is_null()), "{}", setting.key);
        assert!(documented.iter().any(|key| key == setting.key), "{} is not in docs/settings.md", setting.key);
    }
}

/// The keys of the table, `.second` spelt out after `group.first`.
fn documented(page: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cell = row.split('|').nth(1).unwrap();
        let mut group = String::new();
        for name in cell.split('`').skip(1).step_by(2) {
            match name.strip_prefix('.') {
                Some(rest) => keys.push(format!("{group}.{rest}")),
                None => {
                    group = name.rsplit_once('.').map_or(String::new(), |(group, _)| group.to_owned());
                    keys.push(name.to_owned());
                }
            }
        }
    }
    keys
}
