//! Converts settings of older (and newer) versions to the current form. Files are not changed.

use serde_json::{Map, Value, json};

/// Old names and their replacements.
pub const RENAMED: &[(&str, &str)] = &[
    ("queueMode", "steeringMode"),
    ("todo.reminders.max", "todo.remindersMax"),
    // Newer releases of the program that omp follows call the tools `grep` and `glob`.
    ("grep.enabled", "search.enabled"),
    ("grep.contextBefore", "search.contextBefore"),
    ("grep.contextAfter", "search.contextAfter"),
    ("glob.enabled", "find.enabled"),
];

/// Old values and their replacements.
const REPLACED: &[(&str, &str, &str)] = &[
    ("edit.mode", "atom", "hashline"),
    ("edit.mode", "vim", "hashline"),
    ("task.isolation.mode", "worktree", "rcopy"),
    ("task.isolation.mode", "fuse-overlay", "overlayfs"),
    ("task.isolation.mode", "fuse-projfs", "projfs"),
    ("compaction.strategy", "shake-summary", "shake"),
];

/// Returns the same settings with nested names, without empty values, with current names and values.
pub fn migrate(settings: Value) -> Value {
    let mut settings = nested(settings);
    drop_nulls(&mut settings);
    for (old, new) in RENAMED {
        if let Some(value) = take(&mut settings, old) {
            put_if_free(&mut settings, new, value);
        }
    }
    for (key, old, new) in REPLACED {
        if let Some(value) = at(&mut settings, key).filter(|value| value == old) {
            *value = json!(new);
        }
    }
    ask_timeout(&mut settings);
    flat_theme(&mut settings);
    isolation_switch(&mut settings);
    edit_variants(&mut settings);
    plan_segment(&mut settings);
    memory_switch(&mut settings);
    hindsight_names(&mut settings);
    settings
}

/// `tools.approvalMode: x` becomes `tools: {approvalMode: x}`, unless another value is in the way.
fn nested(settings: Value) -> Value {
    let Value::Object(fields) = settings else { return settings };
    let (dotted, plain): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(key, _)| key.contains('.'));
    let mut settings = Value::Object(plain.into_iter().collect());
    for (key, value) in dotted {
        let renamed = RENAMED.iter().find(|(old, _)| *old == key).map(|(_, new)| *new);
        match renamed {
            Some(new) => put_if_free(&mut settings, new, value),
            None if put(&mut settings, &key, &value) => {}
            None => settings[key] = value,
        }
    }
    settings
}

/// A key without a value counts as unset.
fn drop_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(drop_nulls);
    }
}

fn at<'a>(settings: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    key.split('.').try_fold(settings, |value, part| value.get_mut(part))
}

fn take(settings: &mut Value, key: &str) -> Option<Value> {
    match key.rsplit_once('.') {
        Some((group, name)) => at(settings, group)?.as_object_mut()?.shift_remove(name),
        None => settings.as_object_mut()?.shift_remove(key),
    }
    .inspect(|_| drop_empty_group(settings, key))
}

/// Removes a group that became empty.
fn drop_empty_group(settings: &mut Value, key: &str) {
    let Some((group, _)) = key.rsplit_once('.') else { return };
    if at(settings, group).is_some_and(|value| value.as_object().is_some_and(Map::is_empty)) {
        take(settings, group);
    }
}

/// Returns `false` if a value is where a group should be.
fn put(settings: &mut Value, key: &str, value: &Value) -> bool {
    let mut place = settings;
    for part in key.split('.') {
        if place.is_null() {
            *place = json!({});
        }
        let Value::Object(fields) = place else { return false };
        place = fields.entry(part).or_insert(Value::Null);
    }
    *place = value.clone();
    true
}

fn put_if_free(settings: &mut Value, key: &str, value: Value) {
    if at(settings, key).is_none() {
        put(settings, key, &value);
    }
}

/// The value was once in milliseconds; a large number is therefore converted.
fn ask_timeout(settings: &mut Value) {
    if let Some(value) = at(settings, "ask.timeout")
        && let Some(old) = value.as_f64().filter(|old| *old > 1000.0)
    {
        *value = json!((old / 1000.0).round() as u64);
    }
}

/// There was once one theme for every background. `dark` and `light` are the defaults anyway.
fn flat_theme(settings: &mut Value) {
    let Some(theme) = settings.get("theme").and_then(Value::as_str).map(str::to_owned) else { return };
    match theme.as_str() {
        "dark" | "light" => drop(take(settings, "theme")),
        theme => settings["theme"] = json!({"dark": theme, "light": theme}),
    }
}

fn isolation_switch(settings: &mut Value) {
    if let Some(switch) = take(settings, "task.isolation.enabled")
        && let Some(on) = switch.as_bool()
    {
        put(settings, "task.isolation.mode", &json!(if on { "auto" } else { "none" }));
    }
}

fn edit_variants(settings: &mut Value) {
    let Some(Value::Object(variants)) = at(settings, "edit.modelVariants") else { return };
    for mode in variants.values_mut().filter(|mode| *mode == "atom" || *mode == "vim") {
        *mode = json!("hashline");
    }
}

fn plan_segment(settings: &mut Value) {
    for key in ["statusLine.leftSegments", "statusLine.rightSegments"] {
        let Some(Value::Array(segments)) = at(settings, key) else { continue };
        segments.iter_mut().filter(|segment| *segment == "plan_mode").for_each(|segment| *segment = json!("mode"));
    }
    if let Some(options) = take(settings, "statusLine.segmentOptions.plan_mode") {
        put_if_free(settings, "statusLine.segmentOptions.mode", options);
    }
}

fn memory_switch(settings: &mut Value) {
    let Some(on) = at(settings, "memories.enabled").and_then(|switch| switch.as_bool()) else { return };
    put_if_free(settings, "memory.backend", json!(if on { "local" } else { "off" }));
}

fn hindsight_names(settings: &mut Value) {
    if take(settings, "hindsight.dynamicBankId") == Some(json!(true)) {
        put_if_free(settings, "hindsight.scoping", json!("per-project"));
    }
    if let Some(Value::String(name)) = take(settings, "hindsight.agentName")
        && !name.trim().is_empty()
        && name != "omp"
    {
        put_if_free(settings, "hindsight.bankId", json!(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: Value, new: Value) {
        let migrated = migrate(old.clone());
        assert_eq!(migrated, new, "{old}");
        assert_eq!(migrate(migrated.clone()), migrated, "the second time nothing changes");
    }

    #[test]
    fn what_is_not_known_stays() {
        for value in [json!({}), json!({"a": {"b": [1, null]}, "x": "y"}), json!([1]), json!("text")] {
            check(value.clone(), value);
        }
    }

    #[test]
    fn names_are_nested_and_what_is_empty_is_not_set() {
        check(json!({"a.b": 1, "a": {"c": 2}}), json!({"a": {"c": 2, "b": 1}}));
        check(json!({"a.b": 1, "a": {"b": 2}}), json!({"a": {"b": 1}}));
        check(json!({"a.b": 1, "a": 5}), json!({"a": 5, "a.b": 1}));
        check(json!({"a": {"gpt-5.1": 1}}), json!({"a": {"gpt-5.1": 1}}));
        check(json!({"tools": null, "b": {"c": null, "d": 1}}), json!({"b": {"d": 1}}));
    }

    #[test]
    fn names_and_values_that_were_given_up() {
        check(json!({"queueMode": "all"}), json!({"steeringMode": "all"}));
        check(json!({"queueMode": "all", "steeringMode": "x"}), json!({"steeringMode": "x"}));
        check(json!({"grep": {"enabled": false}}), json!({"search": {"enabled": false}}));
        check(
            json!({"grep": {"enabled": false, "z": 1}, "search": {"enabled": true}}),
            json!({"grep": {"z": 1}, "search": {"enabled": true}}),
        );
        check(
            json!({"todo.reminders.max": 7, "todo.reminders": true}),
            json!({"todo": {"remindersMax": 7, "reminders": true}}),
        );
        check(json!({"todo": {"reminders": {"max": 7}}}), json!({"todo": {"remindersMax": 7}}));
        check(json!({"edit": {"mode": "vim"}}), json!({"edit": {"mode": "hashline"}}));
        check(json!({"edit.mode": "atom"}), json!({"edit": {"mode": "hashline"}}));
        check(
            json!({"edit": {"modelVariants": {"x": "atom", "y": "patch"}}}),
            json!({"edit": {"modelVariants": {"x": "hashline", "y": "patch"}}}),
        );
        check(json!({"compaction": {"strategy": "shake-summary"}}), json!({"compaction": {"strategy": "shake"}}));
    }

    #[test]
    fn forms_that_were_given_up() {
        check(json!({"ask": {"timeout": 30_000}}), json!({"ask": {"timeout": 30}}));
        check(json!({"ask": {"timeout": 1000}}), json!({"ask": {"timeout": 1000}}));
        check(json!({"ask": {"timeout": "x"}}), json!({"ask": {"timeout": "x"}}));
        check(json!({"theme": "dark"}), json!({}));
        check(json!({"theme": "nord"}), json!({"theme": {"dark": "nord", "light": "nord"}}));
        check(json!({"theme": {"dark": "nord"}}), json!({"theme": {"dark": "nord"}}));
        let isolation = |inner: Value| json!({"task": {"isolation": inner}});
        check(isolation(json!({"enabled": true})), isolation(json!({"mode": "auto"})));
        check(isolation(json!({"enabled": false, "mode": "auto"})), isolation(json!({"mode": "none"})));
        check(isolation(json!({"mode": "worktree"})), isolation(json!({"mode": "rcopy"})));
        check(isolation(json!({"mode": "fuse-overlay"})), isolation(json!({"mode": "overlayfs"})));
        check(
            json!({"statusLine": {"leftSegments": ["a", "plan_mode"], "segmentOptions": {"plan_mode": {"x": 1}}}}),
            json!({"statusLine": {"leftSegments": ["a", "mode"], "segmentOptions": {"mode": {"x": 1}}}}),
        );
        check(
            json!({"memories": {"enabled": true}}),
            json!({"memories": {"enabled": true}, "memory": {"backend": "local"}}),
        );
        check(
            json!({"memories": {"enabled": true}, "memory": {"backend": "off"}}),
            json!({"memories": {"enabled": true}, "memory": {"backend": "off"}}),
        );
        check(
            json!({"hindsight": {"dynamicBankId": true, "agentName": "me"}}),
            json!({"hindsight": {"scoping": "per-project", "bankId": "me"}}),
        );
        check(json!({"hindsight": {"agentName": "omp", "x": 1}}), json!({"hindsight": {"x": 1}}));
    }
}
