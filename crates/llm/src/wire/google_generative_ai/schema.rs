//! Converts tool parameters to the subset of JSON Schema that Gemini supports.
//!
//! References are inlined, unions with null become `nullable`, `oneOf` and `allOf` are mapped to supported forms.
//! Constraints that Gemini does not support are added to the description, so that the model still sees them.

use serde_json::{Map, Value, json};

/// Maximum schema depth, which also ends recursive schemas.
const DEPTH: usize = 24;

const KEPT: [&str; 16] = [
    "type",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "anyOf",
];

/// Constraints that are moved to the description.
const SPOKEN: [&str; 9] = [
    "default",
    "examples",
    "const",
    "enum",
    "format",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
];

/// Returns the parameters of a function; `None` if it has none, because Gemini refuses an object without properties.
pub(super) fn parameters(schema: &Value) -> Option<Value> {
    let normalized = Normalizer { root: schema }.schema(schema, 0);
    let has_properties = normalized.get("properties").and_then(Value::as_object).is_some_and(|map| !map.is_empty());
    has_properties.then_some(normalized)
}

struct Normalizer<'a> {
    root: &'a Value,
}

impl Normalizer<'_> {
    fn schema(&self, schema: &Value, depth: usize) -> Value {
        // `true` and `{}` allow anything, which Gemini cannot express.
        let Some(schema) = schema.as_object().filter(|_| depth < DEPTH) else { return json!({"type": "string"}) };
        let mut node = self.resolved(schema, depth);
        merge_all_of(&mut node, |part| part.as_object().map(|part| self.resolved(part, depth + 1)));
        if let Some(choices) = node.shift_remove("oneOf")
            && !node.contains_key("anyOf")
        {
            node.insert("anyOf".to_owned(), choices);
        }
        split_types(&mut node);
        drop_null_choice(&mut node);
        settle_values(&mut node);
        speak_limits(&mut node);
        self.children(&mut node, depth);
        node.retain(|key, _| KEPT.contains(&key.as_str()));
        complete_type(&mut node);
        Value::Object(node)
    }

    /// Inlines a local reference; fields next to the reference win.
    fn resolved(&self, schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut node = schema.clone();
        for _ in depth..DEPTH {
            let Some(Value::String(reference)) = node.shift_remove("$ref") else { break };
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            for (key, value) in target.and_then(Value::as_object).into_iter().flatten() {
                node.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        node
    }

    fn children(&self, node: &mut Map<String, Value>, depth: usize) {
        if let Some(Value::Object(properties)) = node.get_mut("properties") {
            for child in properties.values_mut() {
                *child = self.schema(child, depth + 1);
            }
        }
        if let Some(items) = node.get_mut("items") {
            *items = self.schema(items, depth + 1);
        }
        if let Some(Value::Array(choices)) = node.get_mut("anyOf") {
            for choice in choices {
                *choice = self.schema(choice, depth + 1);
            }
        }
    }
}

/// Merges the parts of `allOf`, which Gemini does not support.
fn merge_all_of(node: &mut Map<String, Value>, resolve: impl Fn(&Value) -> Option<Map<String, Value>>) {
    let Some(Value::Array(parts)) = node.shift_remove("allOf") else { return };
    for part in parts.iter().filter_map(resolve) {
        for (key, value) in part {
            match (node.get_mut(&key), value) {
                (Some(Value::Object(here)), Value::Object(more)) if key == "properties" => here.extend(more),
                (Some(Value::Array(here)), Value::Array(more)) if key == "required" => here.extend(more),
                (Some(_), _) => {}
                (None, value) => {
                    node.insert(key, value);
                }
            }
        }
    }
}

/// Converts `type: [a, b, "null"]` to `anyOf` and `nullable`.
fn split_types(node: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = node.get("type").cloned() else { return };
    let (nulls, types): (Vec<_>, Vec<_>) = types.into_iter().partition(|name| name == "null");
    if !nulls.is_empty() {
        node.insert("nullable".to_owned(), true.into());
    }
    match types.as_slice() {
        [] => node.insert("type".to_owned(), "string".into()),
        [one] => node.insert("type".to_owned(), one.clone()),
        many => {
            node.shift_remove("type");
            let items = node.shift_remove("items");
            let choices = many.iter().map(|name| match &items {
                Some(items) if name == "array" => json!({"type": name, "items": items}),
                _ => json!({"type": name}),
            });
            let choices = choices.collect();
            node.insert("anyOf".to_owned(), Value::Array(choices))
        }
    };
}

/// Converts `anyOf: [x, null]` to `x` and `nullable`.
fn drop_null_choice(node: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = node.get_mut("anyOf") else { return };
    let before = choices.len();
    choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    let had_null = choices.len() < before;
    let only = match choices.as_mut_slice() {
        [one] => Some(one.take()),
        _ => None,
    };
    if had_null {
        node.insert("nullable".to_owned(), true.into());
    }
    if let Some(Value::Object(only)) = only {
        node.shift_remove("anyOf");
        for (key, value) in only {
            node.entry(key).or_insert(value);
        }
        split_types(node);
    }
}

/// Only strings can be enumerated; other fixed values are moved to the description.
fn settle_values(node: &mut Map<String, Value>) {
    if let Some(value) = node.get("const").filter(|value| value.is_string()).cloned() {
        node.shift_remove("const");
        node.entry("enum").or_insert_with(|| json!([value]));
    }
    let Some(Value::Array(values)) = node.get_mut("enum") else { return };
    let with_null = values.iter().any(Value::is_null);
    values.retain(|value| !value.is_null());
    let all_strings = !values.is_empty() && values.iter().all(Value::is_string);
    if with_null {
        node.insert("nullable".to_owned(), true.into());
    }
    if all_strings {
        node.insert("type".to_owned(), "string".into());
    }
}

fn speak_limits(node: &mut Map<String, Value>) {
    let strings_listed = node.get("type").is_some_and(|name| name == "string");
    let mut spoken = Vec::new();
    for key in SPOKEN {
        if key == "enum" && strings_listed {
            continue;
        }
        if let Some(value) = node.shift_remove(key) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            spoken.push(format!("{key}: {value}"));
        }
    }
    if spoken.is_empty() {
        return;
    }
    let limits = spoken.join(", ");
    let description = match node.get("description").and_then(Value::as_str) {
        Some(text) => format!("{text} ({limits})"),
        None => limits,
    };
    node.insert("description".to_owned(), description.into());
}

/// Ensures that every schema has a type, every array has an item type, and all required properties exist.
fn complete_type(node: &mut Map<String, Value>) {
    if !node.contains_key("type") && !node.contains_key("anyOf") {
        let name = match () {
            () if node.contains_key("properties") => "object",
            () if node.contains_key("items") => "array",
            () => "string",
        };
        node.insert("type".to_owned(), name.into());
    }
    if node.get("type").is_some_and(|name| name == "array") {
        node.entry("items").or_insert_with(|| json!({"type": "string"}));
    }
    let properties = node.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| properties.contains_key(name)));
        required.dedup();
        if required.is_empty() {
            node.shift_remove("required");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wraps a schema into the only parameter of a function.
    #[track_caller]
    fn check(schema: Value, expect: Value) {
        let root = json!({"type": "object", "properties": {"p": schema}, "$defs": {
            "leaf": {"type": "integer", "description": "A leaf."},
            "tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}},
        }});
        assert_eq!(parameters(&root).unwrap()["properties"]["p"], expect);
    }

    #[test]
    fn what_gemini_knows_is_kept() {
        let known = json!({"type": "string", "description": "d", "minLength": 1, "pattern": "a+", "enum": ["a", "aa"]});
        check(known.clone(), known);
    }

    #[test]
    fn unions_with_null_become_nullable() {
        let nullable = json!({"type": "string", "nullable": true});
        check(json!({"type": ["string", "null"]}), nullable.clone());
        check(json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), nullable.clone());
        check(json!({"anyOf": [{"type": ["string", "null"]}]}), nullable);
        check(
            json!({"type": ["string", "array", "null"], "items": {"type": "integer"}}),
            json!({"nullable": true, "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}),
        );
        check(json!({"enum": ["a", null]}), json!({"enum": ["a"], "nullable": true, "type": "string"}));
    }

    #[test]
    fn references_are_put_in_place_and_end_somewhere() {
        check(json!({"$ref": "#/$defs/leaf"}), json!({"type": "integer", "description": "A leaf."}));
        check(
            json!({"$ref": "#/$defs/leaf", "description": "Mine."}),
            json!({"description": "Mine.", "type": "integer"}),
        );
        check(json!({"$ref": "#/$defs/none"}), json!({"type": "string"}));
        let root = json!({"$ref": "#/$defs/tree", "$defs": {
            "tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}},
        }});
        assert!(parameters(&root).unwrap().to_string().len() < 4000);
    }

    #[test]
    fn combinations_become_what_there_is() {
        check(
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        );
        check(
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                             {"properties": {"b": {"type": "string"}}, "required": ["b", "c"]}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}),
        );
    }

    #[test]
    fn limits_without_a_word_are_spoken() {
        check(
            json!({"type": "integer", "description": "Lines.", "default": 10, "exclusiveMinimum": 0}),
            json!({"type": "integer", "description": "Lines. (default: 10, exclusiveMinimum: 0)"}),
        );
        check(json!({"type": "integer", "enum": [1, 2]}), json!({"type": "integer", "description": "enum: [1,2]"}));
        check(json!({"const": "a"}), json!({"enum": ["a"], "type": "string"}));
        check(json!({"const": 1, "type": "integer"}), json!({"type": "integer", "description": "const: 1"}));
        check(
            json!({"type": "object", "additionalProperties": {"type": "string"}, "$comment": "x", "not": {}}),
            json!({"type": "object"}),
        );
    }

    #[test]
    fn types_are_filled_in() {
        check(json!({}), json!({"type": "string"}));
        check(json!(true), json!({"type": "string"}));
        check(json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}}));
        check(json!({"items": {"type": "integer"}}), json!({"items": {"type": "integer"}, "type": "array"}));
        check(
            json!({"properties": {"enum": {"type": "string"}}, "required": ["enum", "gone"]}),
            json!({"properties": {"enum": {"type": "string"}}, "required": ["enum"], "type": "object"}),
        );
    }

    #[test]
    fn a_function_without_parameters_has_none() {
        assert_eq!(parameters(&json!({"type": "object", "properties": {}})), None);
        assert_eq!(parameters(&json!(null)), None);
    }
}
