//! A JSON Schema of `config.yml` (draft 2020-12), generated from the declared settings, for completion, help and checks in
//! editors.

use omp_config::Known;
use omp_types::{ListItem, Setting, SettingKind};
use serde_json::{Map, Value, json};

pub fn schema(known: &Known) -> Value {
    let mut root = group();
    for setting in known.settings() {
        put(&mut root, setting.key, of(setting));
    }
    for (name, _) in omp_config::reference_settings().filter(|(name, _)| known.get(name).is_none()) {
        put(&mut root, &name, json!({"description": "Used by other versions only."}));
    }
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("omp settings");
    root["properties"]["$schema"] = json!({"type": "string"});
    // `retry.maxRetries: 3` means the same as the nested form, so dotted names are accepted without being listed again.
    root["patternProperties"] = json!({"\\.": true});
    root
}

fn group() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}

/// Inserts the schema of a setting and creates the groups on the way. Settings below a map become properties of the map.
fn put(root: &mut Value, key: &str, schema: Value) {
    let mut place = root;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        // Only a group can hold settings. Two names of the reference collide here.
        if place["type"] != "object" {
            return;
        }
        if place.get("properties").is_none() {
            place["properties"] = json!({});
        }
        let Value::Object(properties) = &mut place["properties"] else { return };
        if parts.peek().is_none() {
            let old = properties.remove(part);
            properties.insert(part.to_owned(), merged(schema, old));
            return;
        }
        place = properties.entry(part).or_insert_with(group);
    }
}

/// Keeps the properties of settings that were inserted before the map that contains them.
fn merged(mut schema: Value, old: Option<Value>) -> Value {
    if let Some(Value::Object(inner)) = old.and_then(|mut old| old.get_mut("properties").map(Value::take)) {
        let properties = schema.as_object_mut().map(|fields| fields.entry("properties").or_insert_with(|| json!({})));
        if let Some(Value::Object(properties)) = properties {
            properties.extend(inner);
        }
    }
    schema
}

fn of(setting: &Setting) -> Value {
    let mut schema = Map::new();
    schema.insert("title".to_owned(), json!(setting.title));
    schema.insert("description".to_owned(), json!(setting.about));
    if !setting.default.is_empty() {
        schema.insert("default".to_owned(), setting.default_value());
    }
    let kind = match setting.kind {
        SettingKind::Bool => json!({"type": "boolean"}),
        SettingKind::OneOf(words) => {
            let former = setting.former.iter().map(|(word, _)| word);
            json!({"enum": words.iter().chain(former).collect::<Vec<_>>()})
        }
        SettingKind::Number { least, most } => {
            json!({"type": "number", "minimum": whole(least), "maximum": whole(most)})
        }
        SettingKind::Text => json!({"type": "string"}),
        SettingKind::List => json!({"type": "array"}),
        SettingKind::ListOf(ListItem::Text) => json!({"type": "array", "items": {"type": "string"}}),
        SettingKind::ListOf(ListItem::Path) => json!({"type": "array", "items": path()}),
        SettingKind::ListOf(ListItem::Word(words)) => json!({"type": "array", "items": {"enum": words}}),
        SettingKind::ListOf(ListItem::WordOrPath(words)) => {
            json!({"type": "array", "items": {"anyOf": [{"enum": words}, path()]}})
        }
        SettingKind::Map => json!({"type": "object", "additionalProperties": true}),
        SettingKind::MapOf(words) => json!({"type": "object", "additionalProperties": {"enum": words}}),
    };
    if let Value::Object(kind) = kind {
        schema.extend(kind);
    }
    Value::Object(schema)
}

/// A path from the root or from the home folder.
fn path() -> Value {
    json!({"type": "string", "pattern": "^(/|~/|[A-Za-z]:)"})
}

/// Writes `100` instead of `100.0`.
fn whole(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_maps_and_values() {
        let known = Known::new([
            Setting::new("", "modelRoles.default", SettingKind::Text, "", "a model"),
            Setting::new("", "modelRoles", SettingKind::Map, "", "models"),
            Setting::new("", "tools.approval", SettingKind::MapOf(&["allow"]), "", "rules"),
            Setting::new("", "tools.approvalMode", SettingKind::OneOf(&["a", "b"]), "\"a\"", "mode").titled("Mode"),
            Setting::new("", "edit.fuzzyThreshold", SettingKind::Number { least: 0.0, most: 1.0 }, "0.95", "near"),
        ]);
        let schema = schema(&known);
        let at = |path: &str| schema.pointer(path).cloned().unwrap_or_default();
        assert_eq!(at("/properties/modelRoles/properties/default/type"), "string");
        assert_eq!(at("/properties/modelRoles/additionalProperties"), true);
        assert_eq!(at("/properties/tools/properties/approval/additionalProperties/enum"), json!(["allow"]));
        assert_eq!(
            at("/properties/tools/properties/approvalMode"),
            json!({"title": "Mode", "description": "mode", "default": "a", "enum": ["a", "b"]})
        );
        assert_eq!(at("/properties/edit/properties/fuzzyThreshold/maximum"), 1);
        assert_eq!(at("/properties/advisor/additionalProperties"), false);
        assert!(at("/properties/advisor/properties/enabled/description").is_string());
        assert_eq!(at("/$schema"), "https://json-schema.org/draft/2020-12/schema");
    }

    #[test]
    fn every_setting_is_in_it() {
        let known = crate::folder::settings_list::known();
        let schema = schema(&known);
        for name in known.names() {
            let path = name.split('.').map(|part| format!("/properties/{part}")).collect::<String>();
            assert!(schema.pointer(&path).is_some(), "{name}");
        }
    }
}
