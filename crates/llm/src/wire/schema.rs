//! The parameters of a tool as they are sent to a server.

use omp_types::{ToolSpec, portable_parameters};
use serde_json::{Value, json};

/// External tools are checked when they are registered. A tool whose schema still cannot be sent must not make every request
/// fail: the model may call it without one, and its arguments are checked against its own schema.
pub(super) fn parameters(tool: &ToolSpec) -> Value {
    portable_parameters(&tool.parameters).unwrap_or_else(|_| json!({"type": "object", "properties": {}}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::Api;

    /// Collects the parts of a tool schema that some API refuses.
    fn complaints(schema: &Value, top: bool, path: &str, found: &mut Vec<String>) {
        let Some(node) = schema.as_object() else { return };
        if top && ["oneOf", "anyOf", "allOf", "not", "enum", "$ref"].iter().any(|key| node.contains_key(*key)) {
            found.push(format!("{path}: combined at the top"));
        }
        if node.get("type").is_some_and(|kind| kind == "array") && !node.get("items").is_some_and(Value::is_object) {
            found.push(format!("{path}: no items"));
        }
        for (key, value) in node {
            match value {
                Value::Object(children) if key == "properties" => {
                    children
                        .iter()
                        .for_each(|(name, child)| complaints(child, false, &format!("{path}.{name}"), found));
                }
                Value::Array(list) => list.iter().for_each(|child| complaints(child, false, path, found)),
                other => complaints(other, false, path, found),
            }
        }
    }

    #[test]
    fn no_wire_sends_what_its_vendor_refuses() {
        let schemas = [
            json!({"oneOf": [{"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]},
                             {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}]}),
            json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
                   "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "array"}}}}),
            json!({"$ref": "#/$defs/in", "$defs": {"in": {"type": "object", "properties": {"a": {"type": ["array", "null"]}}}}}),
            json!({"type": "string"}),
            json!(null),
        ];
        for api in [Api::AnthropicMessages, Api::OpenaiCompletions, Api::OpenaiResponses, Api::GoogleGenerativeAi] {
            for schema in &schemas {
                let mut request = sample::request(sample::model(api.clone()), vec![sample::user("hi")]);
                request.tools =
                    [ToolSpec { name: "t".into(), description: "d".into(), parameters: schema.clone() }].into();
                let body = sample::encoded(&request);
                let sent = match api {
                    Api::AnthropicMessages => &body["tools"][0]["input_schema"],
                    Api::OpenaiCompletions => &body["tools"][0]["function"]["parameters"],
                    Api::OpenaiResponses => &body["tools"][0]["parameters"],
                    _ => &body["tools"][0]["functionDeclarations"][0]["parameters"],
                };
                let mut found = Vec::new();
                complaints(sent, true, "", &mut found);
                assert!(found.is_empty(), "{api:?} {sent}: {found:?}");
                assert!(sent["type"] == "object" || api == Api::GoogleGenerativeAi, "{api:?} {sent}");
            }
        }
    }
}
