//! Tests what is rewritten, kept and refused.

use super::*;

#[track_caller]
fn check(schema: Value, expect: Value) {
    let found = portable_parameters(&schema).unwrap();
    assert_eq!(found, expect);
    assert_eq!(portable_parameters(&found).unwrap(), expect, "what was rewritten stays as it is");
}

#[track_caller]
fn check_refused(schema: Value, place: &str, why: &str) {
    let problem = portable_parameters(&schema).unwrap_err();
    assert_eq!(problem.place, place, "{problem}");
    assert!(problem.problem.contains(why), "{problem}");
}

#[test]
fn what_is_fine_stays_to_the_byte() {
    let schema = json!({
        "type": "object",
        "description": "d",
        "properties": {
            "a": {"type": "string", "enum": ["x"]},
            "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "c": {"type": "array", "items": {"$ref": "#/$defs/leaf"}},
        },
        "required": ["a"],
        "additionalProperties": false,
        "$defs": {"leaf": {"type": "integer"}},
    });
    assert_eq!(portable_parameters(&schema).unwrap().to_string(), schema.to_string());
}

#[test]
fn choices_at_the_top_become_one_object() {
    for key in ["oneOf", "anyOf"] {
        check(
            json!({"type": "object", key: [
                {"properties": {"path": {"type": "string"}, "all": {"type": "boolean"}}, "required": ["path", "all"]},
                {"properties": {"url": {"type": "string"}, "all": {"type": "boolean"}}, "required": ["url", "all"]},
            ]}),
            json!({"type": "object",
                "properties": {"path": {"type": "string"}, "all": {"type": "boolean"}, "url": {"type": "string"}},
                "required": ["all"],
                "description": "Give one of these: `path` with `all`; `url` with `all`."}),
        );
    }
    check(
        json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}},
               "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "description": "Looks."}),
        json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}},
               "description": "Looks.\nGive one of these: `a`; `b`.", "type": "object"}),
    );
}

#[test]
fn a_union_told_apart_by_a_constant_keeps_all_its_constants() {
    check(
        json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "x": {"type": "integer"}}, "required": ["kind"]},
            {"type": "null"},
        ]}),
        json!({"properties": {
                   "kind": {"enum": ["a", "b"]},
                   "x": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
               "required": ["kind"], "type": "object"}),
    );
}

#[test]
fn parts_and_references_at_the_top_are_put_in_place() {
    check(
        json!({"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}],
               "$defs": {"base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}}),
        json!({"$defs": {"base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}},
               "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
               "required": ["a", "b"]}),
    );
}

#[test]
fn arrays_say_what_they_hold_and_old_drafts_are_rewritten() {
    let wrap = |schema: Value| json!({"type": "object", "properties": {"p": schema}});
    let checked = |schema: Value, expect: Value| check(wrap(schema), wrap(expect));
    checked(json!({"type": "array"}), json!({"type": "array", "items": {}}));
    checked(json!({"type": ["array", "null"]}), json!({"type": ["array", "null"], "items": {}}));
    checked(json!({"type": "array", "items": true}), json!({"type": "array", "items": {}}));
    checked(
        json!({"type": "array", "items": [{"type": "string"}, {"type": "array"}]}),
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "array", "items": {}}], "items": {}}),
    );
    checked(json!(true), json!({}));
    checked(
        json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}),
        json!({"type": "number", "exclusiveMinimum": 0}),
    );
    checked(json!({"type": "string", "required": true}), json!({"type": "string"}));
    check(json!({"$schema": "http://json-schema.org/draft-07/schema#"}), json!({"type": "object", "properties": {}}));
}

#[test]
fn what_no_provider_takes_beside_the_object_is_said_in_words() {
    check(
        json!({"type": "object", "properties": {}, "not": {"required": ["a"]}}),
        json!({"type": "object", "properties": {}, "description": "not: {\"required\":[\"a\"]}"}),
    );
}

#[test]
fn what_cannot_be_said_is_refused_with_its_place() {
    let wrap = |schema: Value| json!({"type": "object", "properties": {"p": schema}});
    check_refused(json!([]), "parameters", "object");
    check_refused(json!({"type": "string"}), "parameters", "not \"string\"");
    check_refused(json!({"anyOf": [{"type": "string"}, {"type": "array"}]}), "parameters.anyOf.1", "not \"array\"");
    check_refused(wrap(json!({"type": "any"})), "parameters.properties.p.type", "\"any\" is not a type");
    check_refused(wrap(json!({"type": []})), "parameters.properties.p.type", "is not a type");
    check_refused(wrap(json!(7)), "parameters.properties.p", "a schema is an object");
    check_refused(wrap(json!({"anyOf": []})), "parameters.properties.p.anyOf", "one at least");
    check_refused(wrap(json!({"enum": []})), "parameters.properties.p.enum", "one at least");
    check_refused(
        wrap(json!({"$ref": "https://example.com/a.json"})),
        "parameters.properties.p",
        "is not in this schema",
    );
    check_refused(wrap(json!({"$ref": "#/$defs/none"})), "parameters.properties.p", "#/$defs/none");
    check_refused(json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}), "parameters", "lead back");
    check_refused(json!({"properties": []}), "parameters.properties", "an object of schemas");
    check_refused(json!({"required": "a"}), "parameters.required", "list of names");
    check_refused(json!({"properties": {"a b": {}}}), "parameters.properties.a b", "letters, digits");
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({"properties": {"p": deep}});
    }
    assert!(portable_parameters(&deep).unwrap_err().problem.contains("levels deep"));
}
