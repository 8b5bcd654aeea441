//! JSON Schema of arguments: generated from the parameter type, and checked against the arguments of the model.
//!
//! The check covers what tool schemas use (types, required, enum, items, nested objects, bounds) and reports every problem
//! with its path, so that the model can fix all of them at once. Unknown keys are accepted: models add them, and refusing
//! costs a turn.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// A problem at one path of the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// A path such as `edits[2].path`; empty for the arguments as a whole.
    pub path: String,
    pub problem: String,
}

impl std::fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { f.write_str(&self.problem) } else { write!(f, "{}: {}", self.path, self.problem) }
    }
}

/// Problems reported at once; the rest would only cost context.
const MAX_PROBLEMS: usize = 8;

/// A flat schema without `$ref`, titles or a `$schema` key: models read it, and every byte is sent each turn.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    strip(&mut schema);
    schema
}

fn strip(schema: &mut Value) {
    match schema {
        Value::Object(object) => strip_object(object),
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

fn strip_object(object: &mut Map<String, Value>) {
    for noise in ["$schema", "title", "format", "default"] {
        if object.get(noise).is_some_and(|value| !value.is_object() || noise == "default") {
            object.remove(noise);
        }
    }
    if let Some(Value::Array(types)) = object.get("type")
        && let [single] = types.iter().filter(|kind| *kind != "null").collect::<Vec<_>>()[..]
    {
        let single = single.clone();
        object.insert("type".into(), single);
    }
    if let Some(Value::Array(allowed)) = object.get_mut("enum") {
        allowed.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(options)) = object.get("anyOf")
        && let [single] = options.iter().filter(|option| option["type"] != "null").collect::<Vec<_>>()[..]
        && let Value::Object(single) = single.clone()
    {
        object.remove("anyOf");
        for (key, value) in single {
            object.entry(key).or_insert(value);
        }
    }
    object.values_mut().for_each(strip);
}

/// Checks arguments against a tool's schema. Optional arguments that are `null` are removed first, and a string in place of
/// a list of strings becomes a list of one: models write `"pat": "x"` where `"pat": ["x"]` is required.
pub fn check_arguments(schema: &Value, arguments: &mut Value) -> Result<(), Vec<SchemaProblem>> {
    drop_nulls(schema, arguments);
    make_lists(schema, arguments);
    let mut problems = Vec::new();
    check(schema, arguments, String::new(), &mut problems);
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn drop_nulls(schema: &Value, arguments: &mut Value) {
    let (Some(properties), Value::Object(object)) = (schema["properties"].as_object(), arguments) else { return };
    let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|n| n == name));
    object.retain(|name, value| !(value.is_null() && properties.contains_key(name) && !required(name)));
}

fn make_lists(schema: &Value, value: &mut Value) {
    if value.is_string() && schema["type"] == "array" && schema["items"]["type"] == "string" {
        *value = Value::Array(vec![value.take()]);
        return;
    }
    match value {
        Value::Object(object) => {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                object.get_mut(name).into_iter().for_each(|value| make_lists(property, value));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| make_lists(&schema["items"], item)),
        _ => {}
    }
}

fn check(schema: &Value, value: &Value, path: String, problems: &mut Vec<SchemaProblem>) {
    if problems.len() >= MAX_PROBLEMS {
        return;
    }
    let mut report = |problem: String| problems.push(SchemaProblem { path: path.clone(), problem });
    if let Some(expected) = schema.get("type")
        && !type_matches(expected, value)
    {
        return report(format!("expected {}, got {}", describe_type(expected), type_name(value)));
    }
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        let allowed = allowed.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        return report(format!("expected one of {allowed}, got {value}"));
    }
    if let Some(number) = value.as_f64() {
        if let Some(minimum) = schema.get("minimum").and_then(Value::as_f64).filter(|minimum| number < *minimum) {
            report(format!("must be at least {minimum}"));
        }
        if let Some(maximum) = schema.get("maximum").and_then(Value::as_f64).filter(|maximum| number > *maximum) {
            report(format!("must be at most {maximum}"));
        }
    }
    match value {
        Value::Object(object) => check_object(schema, object, &path, problems),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check(&schema["items"], item, format!("{path}[{index}]"), problems);
            }
        }
        _ => {}
    }
}

fn check_object(schema: &Value, object: &Map<String, Value>, path: &str, problems: &mut Vec<SchemaProblem>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !object.contains_key(name) {
            problems.push(SchemaProblem { path: below(name), problem: "is required but missing".into() });
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = object.get(name) {
            check(property, value, below(name), problems);
        }
    }
}

fn type_matches(expected: &Value, value: &Value) -> bool {
    match expected {
        Value::Array(types) => types.iter().any(|kind| type_matches(kind, value)),
        Value::String(kind) => match kind.as_str() {
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            "number" => value.is_number(),
            kind => type_name(value) == kind,
        },
        _ => true,
    }
}

fn describe_type(expected: &Value) -> String {
    match expected {
        Value::Array(types) => types.iter().map(describe_type).collect::<Vec<_>>().join(" or "),
        Value::String(kind) => kind.clone(),
        other => other.to_string(),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Params {
        /// Where to look.
        path: String,
        /// How many.
        limit: Option<u32>,
        edits: Option<Vec<Edit>>,
        mode: Option<Mode>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Edit {
        line: u32,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Fast,
        Slow,
    }

    #[track_caller]
    fn verdict(mut arguments: Value, expect: &str) {
        let problems = check_arguments(&schema_of::<Params>(), &mut arguments).err().unwrap_or_default();
        assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "), expect);
    }

    #[test]
    fn schemas_are_flat_and_small() {
        let schema = schema_of::<Params>().to_string();
        assert!(!schema.contains("$ref") && !schema.contains("null") && !schema.contains("title"), "{schema}");
        assert!(schema.contains("Where to look."), "{schema}");
    }

    #[test]
    fn problems_name_their_place() {
        verdict(json!({"path": "a"}), "");
        verdict(json!({"path": "a", "limit": null, "unknown": 1}), "");
        verdict(json!({}), "path: is required but missing");
        verdict(json!({"path": 1}), "path: expected string, got number");
        verdict(json!({"path": "a", "limit": "5"}), "limit: expected integer, got string");
        verdict(json!({"path": "a", "limit": -1}), "limit: must be at least 0");
        verdict(json!({"path": "a", "edits": [{"line": 1}, {}]}), "edits[1].line: is required but missing");
        verdict(json!({"path": "a", "mode": "brisk"}), r#"mode: expected one of "fast", "slow", got "brisk""#);
        verdict(json!([1]), "expected object, got array");
    }

    #[test]
    fn a_string_stands_for_a_list_of_one() {
        let list = json!({"type": "array", "items": {"type": "string"}});
        let schema = json!({"properties": {
            "pat": list,
            "ops": {"type": "array", "items": {"properties": {"items": list}}},
            "edits": {"type": "array", "items": {"type": "object"}},
        }});
        let mut arguments = json!({"pat": "x", "ops": [{"items": "y"}, {"items": ["z"]}]});
        assert_eq!(check_arguments(&schema, &mut arguments), Ok(()));
        assert_eq!(arguments, json!({"pat": ["x"], "ops": [{"items": ["y"]}, {"items": ["z"]}]}));
        for wrong in [json!({"edits": "x"}), json!({"pat": 7}), json!({"pat": {"a": "x"}})] {
            assert!(check_arguments(&schema, &mut wrong.clone()).is_err(), "{wrong}");
        }
    }
}
