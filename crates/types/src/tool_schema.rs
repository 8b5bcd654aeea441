//! Converts tool parameters to a form that every provider accepts.
//!
//! Providers refuse a whole request for one invalid schema: OpenAI, Anthropic and Gemini require an object at the top
//! without `oneOf`, `anyOf`, `allOf`, `enum` or `not` beside it, OpenAI and Gemini require `items` for every array, and
//! Anthropic checks against draft 2020-12. Schemas are rewritten here if possible; otherwise the result is a
//! [`ToolSchemaProblem`], so that a tool is refused when it is registered and not with every later request. Arguments are
//! still checked against the tool's own schema.

#[cfg(test)]
mod tests;
mod top_level;

use std::fmt;

use serde_json::{Map, Value, json};

/// Limits the nesting of a schema.
const MAX_DEPTH: usize = 48;

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Keys whose value is a schema, a list of schemas, a map of schemas.
const ONE: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const MAPS: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Why a schema cannot be sent to every provider, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSchemaProblem {
    /// `parameters.properties.paths.items`
    pub place: String,
    pub problem: String,
}

impl fmt::Display for ToolSchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for ToolSchemaProblem {}

/// Returns the parameters in a form that every provider accepts. A valid schema is returned unchanged.
pub fn portable_parameters(schema: &Value) -> Result<Value, ToolSchemaProblem> {
    let place = SchemaPath::root();
    let Some(root) = schema.as_object() else {
        return Err(place.problem("a JSON Schema object is needed here"));
    };
    let mut node = root.clone();
    node.shift_remove("$schema");
    let walk = SchemaWalk { root: schema };
    walk.object(&mut node, &place)?;
    top_level::flatten(&mut node, schema, &place)?;
    Ok(Value::Object(node))
}

struct SchemaWalk<'a> {
    root: &'a Value,
}

impl SchemaWalk<'_> {
    fn schema(&self, schema: &mut Value, place: &SchemaPath<'_>) -> Result<(), ToolSchemaProblem> {
        match schema {
            // Some providers support schemas only as objects.
            Value::Bool(true) => *schema = json!({}),
            Value::Bool(false) => *schema = json!({"not": {}}),
            Value::Object(node) => self.object(node, place)?,
            _ => return Err(place.problem("a schema is an object")),
        }
        Ok(())
    }

    fn object(&self, node: &mut Map<String, Value>, place: &SchemaPath<'_>) -> Result<(), ToolSchemaProblem> {
        if place.depth() > MAX_DEPTH {
            return Err(place.problem(format!("it is nested more than {MAX_DEPTH} levels deep")));
        }
        check_types(node, place)?;
        check_lists(node, place)?;
        self.check_reference(node, place)?;
        modernize(node);
        for key in ONE {
            // All providers accept `additionalProperties: false`.
            if let Some(child) = node.get_mut(key).filter(|child| !child.is_boolean()) {
                self.schema(child, &place.below(key))?;
            }
        }
        for key in LISTS {
            let Some(children) = node.get_mut(key) else { continue };
            let place = place.below(key);
            let Some(list) = children.as_array_mut().filter(|list| !list.is_empty()) else {
                return Err(place.problem("a list of schemas is needed here, with one at least"));
            };
            for (number, child) in list.iter_mut().enumerate() {
                self.schema(child, &place.below(&number.to_string()))?;
            }
        }
        for key in MAPS {
            let Some(children) = node.get_mut(key) else { continue };
            let place = place.below(key);
            let Some(map) = children.as_object_mut() else {
                return Err(place.problem("an object of schemas is needed here"));
            };
            // A property that no value fits is removed.
            map.retain(|_, child| key != "properties" || *child != Value::Bool(false));
            for (name, child) in map {
                if key == "properties" {
                    check_name(name, &place)?;
                }
                self.schema(child, &place.below(name))?;
            }
        }
        complete(node);
        Ok(())
    }

    fn check_reference(&self, node: &Map<String, Value>, place: &SchemaPath<'_>) -> Result<(), ToolSchemaProblem> {
        let Some(reference) = node.get("$ref") else { return Ok(()) };
        let reference = reference.as_str().unwrap_or_default();
        match resolve(self.root, reference) {
            Some(_) => Ok(()),
            None => Err(place.problem(format!("`$ref` points to `{reference}`, which is not in this schema"))),
        }
    }
}

/// Returns the schema that a local reference names.
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Map<String, Value>> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer)?.as_object()
}

fn check_types(node: &Map<String, Value>, place: &SchemaPath<'_>) -> Result<(), ToolSchemaProblem> {
    let names: &[Value] = match node.get("type") {
        None => return Ok(()),
        Some(Value::Array(names)) if !names.is_empty() => names,
        Some(one) => std::slice::from_ref(one),
    };
    match names.iter().find(|name| !name.as_str().is_some_and(|name| TYPES.contains(&name))) {
        None => Ok(()),
        Some(wrong) => Err(place.below("type").problem(format!("{wrong} is not a type; use {}", TYPES.join(", ")))),
    }
}

fn check_lists(node: &Map<String, Value>, place: &SchemaPath<'_>) -> Result<(), ToolSchemaProblem> {
    if let Some(required) = node.get("required")
        && !required.is_boolean()
        && !required.as_array().is_some_and(|names| names.iter().all(Value::is_string))
    {
        return Err(place.below("required").problem("a list of names is needed here"));
    }
    if let Some(values) = node.get("enum")
        && values.as_array().is_none_or(Vec::is_empty)
    {
        return Err(place.below("enum").problem("a list of values is needed here, with one at least"));
    }
    Ok(())
}

/// Anthropic accepts no other names.
fn check_name(name: &str, place: &SchemaPath<'_>) -> Result<(), ToolSchemaProblem> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if (1..=64).contains(&name.len()) && name.bytes().all(fits) {
        return Ok(());
    }
    let problem = "providers take parameter names of 1 to 64 letters, digits, `_`, `.` and `-` only";
    Err(place.below(name).problem(problem))
}

/// Converts constructs of older drafts that draft 2020-12 does not support.
fn modernize(node: &mut Map<String, Value>) {
    if node.get("items").is_some_and(Value::is_array)
        && let Some(tuple) = node.shift_remove("items")
    {
        let rest = node.shift_remove("additionalItems").filter(|rest| !rest.is_boolean());
        if tuple.as_array().is_some_and(|tuple| !tuple.is_empty()) {
            node.insert("prefixItems".to_owned(), tuple);
        }
        node.insert("items".to_owned(), rest.unwrap_or_else(|| json!({})));
    }
    for (exclusive, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match node.get(exclusive) {
            Some(Value::Bool(true)) => {
                node.shift_remove(exclusive);
                if let Some(value) = node.shift_remove(limit) {
                    node.insert(exclusive.to_owned(), value);
                }
            }
            Some(Value::Bool(false)) => drop(node.shift_remove(exclusive)),
            _ => {}
        }
    }
    // Draft 3 and OpenAPI mark a single parameter as required; only the list of its object is used.
    if node.get("required").is_some_and(Value::is_boolean) {
        node.shift_remove("required");
    }
}

/// Adds missing `items` to arrays.
fn complete(node: &mut Map<String, Value>) {
    let is_array = match node.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
        Some(name) => name == "array",
        None => node.contains_key("prefixItems"),
    };
    if is_array && !node.get("items").is_some_and(Value::is_object) {
        node.insert("items".to_owned(), json!({}));
    }
}

/// The path from the root to a schema, formatted only for errors.
#[derive(Clone, Copy)]
struct SchemaPath<'a> {
    parent: Option<&'a SchemaPath<'a>>,
    name: &'a str,
}

impl<'a> SchemaPath<'a> {
    fn root() -> Self {
        Self { parent: None, name: "parameters" }
    }

    fn below(&'a self, name: &'a str) -> SchemaPath<'a> {
        SchemaPath { parent: Some(self), name }
    }

    fn depth(&self) -> usize {
        1 + self.parent.map_or(0, SchemaPath::depth)
    }

    fn path(&self) -> String {
        match self.parent {
            Some(parent) => format!("{}.{}", parent.path(), self.name),
            None => self.name.to_owned(),
        }
    }

    fn problem(&self, problem: impl Into<String>) -> ToolSchemaProblem {
        ToolSchemaProblem { place: self.path(), problem: problem.into() }
    }
}
