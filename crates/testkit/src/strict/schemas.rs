//! The rules of the services for the schemas of tools.

use serde_json::Value;

use super::ServiceRefusal;

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Requires an object at the top level without combinations, known types everywhere, and arrays with an item type.
pub fn check(schema: &Value, place: &str) -> Result<(), ServiceRefusal> {
    if schema["type"] != "object" {
        return Err(ServiceRefusal::bad(format!("Invalid schema at {place}: schema must be of type 'object'")));
    }
    for key in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        if schema.get(key).is_some() {
            let message = format!(
                "Invalid schema at {place}: must not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
            );
            return Err(ServiceRefusal::bad(message));
        }
    }
    walk(schema, place)
}

fn walk(schema: &Value, place: &str) -> Result<(), ServiceRefusal> {
    let Some(node) = schema.as_object() else {
        return match schema {
            Value::Bool(_) => Ok(()),
            _ => Err(ServiceRefusal::bad(format!(
                "Invalid schema at {place}: {schema} is not of type 'object', 'boolean'"
            ))),
        };
    };
    let types: &[Value] = match node.get("type") {
        Some(Value::Array(types)) => types,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    if let Some(wrong) = types.iter().find(|name| !name.as_str().is_some_and(|name| TYPES.contains(&name))) {
        return Err(ServiceRefusal::bad(format!(
            "Invalid schema at {place}: {wrong} is not valid under any of the given schemas"
        )));
    }
    if types.iter().any(|name| name == "array") && !node.get("items").is_some_and(Value::is_object) {
        return Err(ServiceRefusal::bad(format!("Invalid schema at {place}: array schema missing items")));
    }
    if let Some(Value::Object(properties)) = node.get("properties") {
        for (name, child) in properties {
            walk(child, &format!("{place}.{name}"))?;
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = node.get(key) {
            walk(child, &format!("{place}.{key}"))?;
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for child in node.get(key).and_then(Value::as_array).into_iter().flatten() {
            walk(child, &format!("{place}.{key}"))?;
        }
    }
    Ok(())
}

/// Anthropic restricts the names of parameters.
pub fn check_names(schema: &Value, place: &str) -> Result<(), ServiceRefusal> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    for name in schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name) {
        if !(1..=64).contains(&name.len()) || !name.bytes().all(fits) {
            let message =
                format!("{place}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$': {name}");
            return Err(ServiceRefusal::bad(message));
        }
    }
    Ok(())
}

/// Gemini supports a part of JSON Schema and refuses every other key.
pub fn check_google(schema: &Value, place: &str) -> Result<(), ServiceRefusal> {
    const KNOWN: [&str; 23] = [
        "anyOf",
        "default",
        "description",
        "enum",
        "example",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "nullable",
        "pattern",
        "properties",
        "propertyOrdering",
        "required",
        "title",
        "type",
        "additionalProperties",
    ];
    let Some(node) = schema.as_object() else { return Err(ServiceRefusal::bad(format!("{place}: not a schema"))) };
    if let Some(unknown) = node.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(ServiceRefusal::bad(format!(
            "Invalid JSON payload received. Unknown name \"{unknown}\" at '{place}'"
        )));
    }
    match node.get("type") {
        Some(Value::String(name)) if TYPES.contains(&name.to_lowercase().as_str()) => {}
        None if node.contains_key("anyOf") => {}
        other => return Err(ServiceRefusal::bad(format!("{place}.type: {other:?} is no type"))),
    }
    if node.get("type").is_some_and(|name| name == "array") && !node.contains_key("items") {
        return Err(ServiceRefusal::bad(format!("{place}.items: missing field.")));
    }
    if node.contains_key("enum") && node.get("type").is_some_and(|name| name != "string") {
        return Err(ServiceRefusal::bad(format!("{place}.enum: only allowed for STRING type")));
    }
    if let Some(Value::Object(properties)) = node.get("properties") {
        for name in node.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !name.as_str().is_some_and(|name| properties.contains_key(name)) {
                return Err(ServiceRefusal::bad(format!("{place}.required: property is not defined: {name}")));
            }
        }
        for (name, child) in properties {
            check_google(child, &format!("{place}.properties[{name}]"))?;
        }
    }
    if let Some(items) = node.get("items") {
        check_google(items, &format!("{place}.items"))?;
    }
    for child in node.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        check_google(child, &format!("{place}.any_of"))?;
    }
    Ok(())
}
