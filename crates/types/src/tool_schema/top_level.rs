//! Converts the top level of a tool's parameters to one object, from any combination of schemas.
//!
//! The parameters of all branches are merged. A parameter is required if every branch requires it; the description says
//! which parameters belong together.

use serde_json::{Map, Value, json};

use super::{SchemaPath, ToolSchemaProblem, resolve};

/// Limits chains of references.
const MAX_STEPS: usize = 32;

/// Keys that no provider accepts beside the top-level object; they are moved to the description.
const SPOKEN: [&str; 6] = ["enum", "const", "not", "if", "then", "else"];

pub(super) fn flatten(
    node: &mut Map<String, Value>,
    root: &Value,
    place: &SchemaPath<'_>,
) -> Result<(), ToolSchemaProblem> {
    *node = one_object(std::mem::take(node), root, place, 0)?;
    let mut notes: Vec<String> = Vec::new();
    if let Some(note) = node.shift_remove(NOTE).as_ref().and_then(Value::as_str) {
        notes.push(note.to_owned());
    }
    for key in SPOKEN {
        if let Some(value) = node.shift_remove(key) {
            notes.push(format!("{key}: {value}"));
        }
    }
    if !notes.is_empty() {
        let told = node.get("description").and_then(Value::as_str).unwrap_or_default();
        let all: Vec<&str> =
            std::iter::once(told).filter(|told| !told.is_empty()).chain(notes.iter().map(String::as_str)).collect();
        node.insert("description".to_owned(), all.join("\n").into());
    }
    node.entry("type").or_insert_with(|| "object".into());
    if node.get("type").is_some_and(Value::is_array) {
        node.insert("type".to_owned(), "object".into());
    }
    node.entry("properties").or_insert_with(|| json!({}));
    Ok(())
}

/// A temporary key for the sentence about the branches until the description is built.
const NOTE: &str = "\u{0}note";

/// Returns a schema without references and combinations at its top.
fn one_object(
    mut node: Map<String, Value>,
    root: &Value,
    place: &SchemaPath<'_>,
    step: usize,
) -> Result<Map<String, Value>, ToolSchemaProblem> {
    if step > MAX_STEPS {
        return Err(place.problem("its references lead back to themselves"));
    }
    if let Some(Value::String(reference)) = node.shift_remove("$ref") {
        // The reference has been checked before.
        for (key, value) in resolve(root, &reference).into_iter().flatten() {
            node.entry(key.clone()).or_insert_with(|| value.clone());
        }
        return one_object(node, root, place, step + 1);
    }
    if !may_be_object(&node) {
        let kind = node.get("type").cloned().unwrap_or_default();
        let problem = format!("the parameters of a tool are an object, not {kind}; put the value into a parameter");
        return Err(place.problem(problem));
    }
    if let Some(Value::Array(parts)) = node.shift_remove("allOf") {
        let place = place.below("allOf");
        for (number, part) in parts.into_iter().enumerate() {
            let number = number.to_string();
            let part = one_object(as_object(part), root, &place.below(&number), step + 1)?;
            add_all(&mut node, part);
        }
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = node.shift_remove(key) {
            choose(&mut node, choices, root, &place.below(key), step)?;
        }
    }
    Ok(node)
}

fn as_object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(node) => node,
        _ => Map::new(),
    }
}

fn may_be_object(node: &Map<String, Value>) -> bool {
    match node.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(name) => name == "object",
    }
}

/// Merges a part of `allOf`.
fn add_all(node: &mut Map<String, Value>, part: Map<String, Value>) {
    for (key, value) in part {
        match (node.get_mut(&key), value) {
            (Some(Value::Object(here)), Value::Object(more)) if key == "properties" => {
                for (name, schema) in more {
                    here.entry(name).or_insert(schema);
                }
            }
            (Some(Value::Array(here)), Value::Array(more)) if key == "required" => {
                for name in more {
                    if !here.contains(&name) {
                        here.push(name);
                    }
                }
            }
            (Some(Value::String(here)), Value::String(more)) if key == NOTE => {
                here.push('\n');
                here.push_str(&more);
            }
            (Some(_), _) => {}
            (None, value) => {
                node.insert(key, value);
            }
        }
    }
}

/// Merges branches of which one holds: properties of any branch are offered, properties required by all are required.
fn choose(
    node: &mut Map<String, Value>,
    choices: Vec<Value>,
    root: &Value,
    place: &SchemaPath<'_>,
    step: usize,
) -> Result<(), ToolSchemaProblem> {
    let mut branches = Vec::new();
    let mut wrong = None;
    for (number, choice) in choices.into_iter().enumerate() {
        match one_object(as_object(choice), root, &place.below(&number.to_string()), step + 1) {
            Ok(branch) => branches.push(branch),
            // A branch that is not an object can never match, so it is ignored if there is another one.
            Err(problem) => wrong = Some(problem),
        }
    }
    if branches.is_empty() {
        return Err(wrong.unwrap_or_else(|| place.problem("there is nothing to choose from")));
    }
    let names = |branch: &Map<String, Value>| -> Vec<String> {
        let required = branch.get("required").and_then(Value::as_array).into_iter().flatten();
        required.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let required: Vec<Vec<String>> = branches.iter().map(names).collect();
    let in_all: Vec<Value> = required[0]
        .iter()
        .filter(|name| required.iter().all(|names| names.contains(name)))
        .map(|name| name.as_str().into())
        .collect();
    let note = told(&required);
    let mut merged = Map::new();
    for branch in branches {
        offer(&mut merged, branch);
    }
    merged.shift_remove("required");
    if !in_all.is_empty() {
        merged.insert("required".to_owned(), in_all.into());
    }
    if let Some(note) = note {
        add_all(&mut merged, [(NOTE.to_owned(), note.into())].into_iter().collect());
    }
    // Keys that are equal in all branches may stay at the top, differing ones may not.
    for key in ["additionalProperties", "title", "description", "type"] {
        merged.shift_remove(key);
    }
    add_all(node, merged);
    Ok(())
}

fn told(required: &[Vec<String>]) -> Option<String> {
    let mut sets: Vec<String> = Vec::new();
    for names in required.iter().filter(|names| !names.is_empty()) {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let set = quoted.join(" with ");
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    (sets.len() > 1).then(|| format!("Give one of these: {}.", sets.join("; ")))
}

fn offer(merged: &mut Map<String, Value>, branch: Map<String, Value>) {
    for (key, value) in branch {
        match (merged.get_mut(&key), value) {
            (Some(Value::Object(here)), Value::Object(more)) if key == "properties" => {
                for (name, schema) in more {
                    match here.get_mut(&name) {
                        Some(known) => either(known, schema),
                        None => drop(here.insert(name, schema)),
                    }
                }
            }
            (Some(Value::String(here)), Value::String(more)) if key == NOTE => {
                here.push('\n');
                here.push_str(&more);
            }
            (Some(_), _) => {}
            (None, value) => {
                merged.insert(key, value);
            }
        }
    }
}

/// Combines two definitions of a parameter from different branches.
fn either(known: &mut Value, other: Value) {
    if *known == other {
        return;
    }
    if let (Some(mut values), Some(more)) = (fixed_values(known), fixed_values(&other)) {
        values.extend(more.into_iter().filter(|value| !values.contains(value)).collect::<Vec<_>>());
        let Some(node) = known.as_object_mut() else { return };
        node.shift_remove("const");
        node.insert("enum".to_owned(), values.into());
        return;
    }
    match known.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(choices) if !choices.contains(&other) => choices.push(other),
        Some(_) => {}
        None => *known = json!({"anyOf": [known.take(), other]}),
    }
}

fn fixed_values(schema: &Value) -> Option<Vec<Value>> {
    let listed = schema.get("enum").and_then(Value::as_array).cloned();
    listed.or_else(|| schema.get("const").map(|value| vec![value.clone()]))
}
