//! Tests: skimming agrees with a real parser on every valid object and handles any other input.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn check(line: &str, expect: Result<(&str, &str, &str), SkimFault>) {
    let show = |field: &SkimmedField<'_>| match field {
        SkimmedField::Absent => "-".to_owned(),
        SkimmedField::Null => "null".to_owned(),
        SkimmedField::Text(text) => format!("={text}"),
        SkimmedField::Other => "?".to_owned(),
    };
    let seen = skim(line.as_bytes()).map(|head| (show(&head.kind), show(&head.id), show(&head.parent)));
    let expect = expect.map(|(kind, id, parent)| (kind.to_owned(), id.to_owned(), parent.to_owned()));
    assert_eq!(seen, expect, "{line}");
}

#[test]
fn heads_of_lines() {
    check(r#"{"type":"message","id":"a","parentId":null,"message":{}}"#, Ok(("=message", "=a", "null")));
    check(r#"{"type":"custom","data":{"id":"x","parentId":"y"},"id":"b","parentId":"a"}"#, Ok(("=custom", "=b", "=a")));
    check(r#" { "parentId" : "p" , "id" : "i" , "type" : "t" } "#, Ok(("=t", "=i", "=p")));
    check(r#"{"type":"t\u0061\n","\u0069d":"q\"uote"}"#, Ok(("=ta\n", "=q\"uote", "-")));
    check(r#"{"id":7,"type":["message"],"parentId":nul}"#, Ok(("?", "?", "?")));
    check(r#"{"id":"first","id":"second"}"#, Ok(("-", "=first", "-")));
    check("{}", Ok(("-", "-", "-")));
    check("null", Err(SkimFault::NotAnObject));
    check("[1]", Err(SkimFault::NotAnObject));
    check("", Err(SkimFault::Unfinished));
    check(r#"{"type":"message","id":"a"#, Err(SkimFault::Unfinished));
    check(r#"{"type" "message"}"#, Err(SkimFault::Broken));
    check(r#"{"type":}"#, Err(SkimFault::Broken));
    check(r#"{type:1}"#, Err(SkimFault::Broken));
    check("\"\\", Err(SkimFault::NotAnObject));
    check(r#"{"a\"#, Err(SkimFault::Unfinished));
}

#[test]
fn nesting_of_any_depth_is_stepped_over() {
    let line = format!(r#"{{"data":{}{},"id":"deep"}}"#, "[".repeat(100_000), "]".repeat(100_000));
    check(&line, Ok(("-", "=deep", "-")));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\\\\\"{}\\[\\],:\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            any_object(inner).prop_map(Value::Object),
        ]
    })
}

fn any_object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![
        Just("id".to_owned()),
        Just("type".to_owned()),
        Just("parentId".to_owned()),
        any::<String>(),
        "[\\\\\"]{0,3}",
    ];
    prop::collection::vec((key, value), 0..8).prop_map(|fields| fields.into_iter().collect())
}

fn as_parsed(object: &Map<String, Value>, key: &str) -> SkimmedField<'static> {
    match object.get(key) {
        None => SkimmedField::Absent,
        Some(Value::Null) => SkimmedField::Null,
        Some(Value::String(text)) => SkimmedField::Text(text.clone().into()),
        Some(_) => SkimmedField::Other,
    }
}

proptest! {
    #[test]
    fn every_object_is_read_as_a_parser_reads_it(object in any_object(any_json()), pretty in any::<bool>()) {
        let line = if pretty { format!("{:#}", json!(object)) } else { json!(object).to_string() };
        let head = skim(line.as_bytes()).unwrap();
        prop_assert_eq!(head.kind, as_parsed(&object, "type"));
        prop_assert_eq!(head.id, as_parsed(&object, "id"));
        prop_assert_eq!(head.parent, as_parsed(&object, "parentId"));
    }

    #[test]
    fn nothing_makes_it_fail_badly(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = skim(&bytes);
    }

    #[test]
    fn a_flipped_byte_does_no_harm(object in any_object(any_json()), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut line = json!(object).to_string().into_bytes();
        let at = at.index(line.len());
        line[at] = byte;
        let _ = skim(&line);
        let _ = skim(&line[..at]);
    }
}
