//! Settings by group, by search, and with every kind of value.

use serde_json::json;

use super::super::screen::{both, draw, press, says, type_text};
use super::*;

use SettingKind::{Bool, List, Number as Count, OneOf, Text};

const SOME: &[Setting] = &[
    Setting::new("", "unseen.map", SettingKind::Map, "", "not on the screen"),
    Setting::new("Model", "modelRoles.default", Text, "", "Model to use if --model is not given.")
        .titled("Default model"),
    Setting::new("Model", "modelRoles.smol", Text, "", "Model for quick and cheap work; `pi/smol` refers to it.")
        .titled("Fast model"),
    Setting::new(
        "Model",
        "defaultThinkingLevel",
        OneOf(&["low", "high"]),
        "\"high\"",
        "Thinking level of models that support thinking.",
    )
    .titled("Thinking level"),
    Setting::new("Model", "disabledProviders", List, "", "Providers not to use.").titled("Disabled providers"),
    Setting::new("Appearance", "hideThinkingBlock", Bool, "false", "Do not show the model's thinking.")
        .titled("Hide thinking"),
    Setting::new("Messages", "retry.enabled", Bool, "true", "Retry when a request to the model fails.")
        .titled("Retry failed requests"),
    Setting::new(
        "Messages",
        "retry.maxRetries",
        Count { least: 0.0, most: 100.0 },
        "3",
        "How often to retry a failed request.",
    )
    .titled("Maximum retries"),
    Setting::new("Tools", "calc.enabled", Bool, "false", "Offer the calc tool to the model.").titled("Calculator tool"),
    Setting::new(
        "Tools",
        "tools.approvalMode",
        OneOf(&["auto", "ask-writes", "ask-all"]),
        "\"auto\"",
        "Which calls need your approval.",
    )
    .titled("Approval mode"),
    Setting::new(
        "Files",
        "edit.mode",
        OneOf(&["hashline", "patch"]),
        "",
        "Edit format that models use; by default it depends on the model.",
    )
    .titled("Edit format"),
    Setting::new(
        "Files",
        "edit.fuzzyThreshold",
        Count { least: 0.0, most: 1.0 },
        "0.95",
        "How similar quoted text must be, from 0 to 1.",
    )
    .titled("Fuzzy match threshold"),
    Setting::new("Shell", "shellPath", Text, "", "Shell that runs commands; the default is $SHELL.").titled("Shell"),
];

pub(in crate::dialogs) fn dialog() -> SettingsDialog {
    SettingsDialog::new(SOME, |key| match key {
        "modelRoles.smol" => Some(StoredSetting { value: json!("anthropic/claude-haiku-4-5:low"), from: "user" }),
        "defaultThinkingLevel" => Some(StoredSetting { value: json!("low"), from: "project" }),
        "disabledProviders" => Some(StoredSetting { value: json!(["a", "b"]), from: "user" }),
        _ => None,
    })
}

#[test]
fn settings_of_a_group() {
    insta::assert_snapshot!(both(&mut dialog()), @"
    ╭─ Settings  4 of 12 ──────────────────────────────────────╮
    │ [Model] Appearance Messages Tools Files Shell            │
    │ > type to search all                                     │
    ├──────────────────────────────────────────────────────────┤
    │ ❯ Default model       –                                  │
    │   Fast model          anthropic/claude-haiku-4-5:low     │
    │   Thinking level      low  project                       │
    │   Disabled providers  a, b  user                         │
    ├──────────────────────────────────────────────────────────┤
    │   Model to use if --model is not given.                  │
    │   modelRoles.default                                     │
    ╰─ enter change · tab group · del default · esc close ─────╯
    ------------------------------
    ── Settings  4 of 12 ─────────
    [Model] 1 of 6
    > type to search all
    ❯ Default model    –
      Fast model       anthropic/…
      Thinking level   low
      Disabled provi…  a, b  user
      Model to use if --model is
    not given.
      modelRoles.default
    enter change · tab group
    ");
}

#[test]
fn a_number_that_is_none() {
    let mut dialog = dialog();
    type_text(&mut dialog, "retries");
    press(&mut dialog, "enter x enter");
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Settings  1 of 12 ──────────────────────────────────────╮
    │ [Model] Appearance Messages Tools Files Shell            │
    │ > retries                                                │
    ├──────────────────────────────────────────────────────────┤
    │ ❯ Maximum retries        3                               │
    ├──────────────────────────────────────────────────────────┤
    │   How often to retry a failed request.                   │
    │   retry.maxRetries                                       │
    │ `3x` is not a number from 0 to 100.                      │
    │ Value: 3x                                                │
    ╰─ enter save · esc back ──────────────────────────────────╯
    ------------------------------
    ── Settings  1 of 12 ─────────
    [Model] 1 of 6
    > retries
    ❯ Maximum retries  3
      How often to retry a failed
    request.
      retry.maxRetries
    `3x` is not a number from 0 to
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
        ("approvalmode", "enter", set("tools.approvalMode", "String(\"ask-writes\")")),
        ("approvalmode", "left", set("tools.approvalMode", "String(\"ask-all\")")),
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
fn what_the_model_may_do_is_shown_first_and_set_with_enter() {
    let kind = OneOf(&["workspace-write", "off", "read-only"]);
    let mode = Setting::new("Approval", "containment.mode", kind, "\"workspace-write\"", "").titled("Sandbox");
    let set = |value: &str| format!("Do(SetSetting {{ key: \"containment.mode\", value: String({value:?}) }})");
    for (keys, step) in [
        ("enter", "Redraw".to_owned()),
        ("enter enter", set("off")),
        ("right right enter", set("read-only")),
        ("left enter", set("read-only")),
        ("enter down enter", "Redraw".to_owned()),
    ] {
        let mut dialog = SettingsDialog::new(&[mode], |_| None);
        assert_eq!(says(&mut dialog, keys), step, "{keys}");
    }
    let mut dialog = SettingsDialog::new(&[mode], |_| None);
    press(&mut dialog, "enter");
    assert!(draw(&mut dialog, 60).contains("Sandbox: off? Enter sets it."));
}

#[test]
fn what_was_changed_is_seen_and_what_is_stronger_told() {
    let mut dialog = dialog();
    type_text(&mut dialog, "calc");
    press(&mut dialog, "enter");
    assert!(draw(&mut dialog, 60).contains("true  user"));
    press(&mut dialog, "delete");
    assert!(draw(&mut dialog, 60).contains("false"));
    press(&mut dialog, "escape");
    type_text(&mut dialog, "defaultthinking");
    press(&mut dialog, "enter");
    let screen = draw(&mut dialog, 60);
    assert!(screen.contains("low  project") && screen.contains("overridden here by: project"), "{screen}");
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
fn nothing_to_set_is_no_trouble() {
    let mut dialog = SettingsDialog::new(&[], |_| None);
    assert!(draw(&mut dialog, 60).contains("0 of 0"));
    press(&mut dialog, "tab shift+tab enter right delete");
    assert_eq!(says(&mut dialog, "escape"), "Close(None)");
}
