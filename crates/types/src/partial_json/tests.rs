//! Tests the visible part of unfinished text, that splits do not matter, and that the work is linear.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (Map<String, Value>, PartialJson) {
    let (mut root, mut parser) = (Map::new(), PartialJson::default());
    for piece in pieces {
        parser.push(piece, &mut root);
    }
    (root, parser)
}

/// Parses the text as a whole and character by character.
#[track_caller]
fn check(text: &str, expect: Value) {
    let expect = expect.as_object().unwrap();
    assert_eq!(&read([text]).0, expect);
    assert_eq!(&read(text.split_inclusive(|_| true)).0, expect);
}

#[test]
fn strings_are_visible_at_once_and_the_rest_once_whole() {
    check("", json!({}));
    check("  {", json!({}));
    check(r#"{"pa"#, json!({}));
    check(r#"{"path""#, json!({}));
    check(r#"{"path":"#, json!({}));
    check(r#"{"path":""#, json!({"path": ""}));
    check(r#"{"path":"src/li"#, json!({"path": "src/li"}));
    check(r#"{"path":"a","n":12"#, json!({"path": "a"}));
    check(r#"{"path":"a","n":12,"#, json!({"path": "a", "n": 12}));
    check(r#"{"ok":tru"#, json!({}));
    check(r#"{"ok":true,"no":null "#, json!({"ok": true, "no": null}));
    check(r#"{"edits":[{"old":"a","new":"b"},{"old":"c"#, json!({"edits": [{"old": "a", "new": "b"}, {"old": "c"}]}));
    check(r#"{"a":[[1,[2,"x"#, json!({"a": [[1, [2, "x"]]]}));
    check(r#"{"a":"line\nnext\"qu"#, json!({"a": "line\nnext\"qu"}));
    check(r#"{"a":"half\"#, json!({"a": "half"}));
    check(r#"{"a":"\u00e"#, json!({"a": ""}));
    check(r#"{"a":"\u00e4\ud83d"#, json!({"a": "ä"}));
    check(r#"{"a":"\u00e4\ud83d\ude00"#, json!({"a": "ä😀"}));
    check(r#"{"a":{"b":{}},"c":[]}"#, json!({"a": {"b": {}}, "c": []}));
    check(r#"{"a":1,"b":2,"a":"la"#, json!({"b": 2, "a": "la"}));
}

#[test]
fn what_is_no_json_stops_the_reading_and_keeps_the_rest() {
    for broken in [
        r#"{"a":"x" "b":1}"#,
        r#"{"a":"x",}"#,
        r#"{"a":"x"]"#,
        r#"{"a":"x","b":[1}"#,
        r#"{"a":"x","b":tru,"c":1}"#,
        r#"{"a":"x","b":1e999,"c":1}"#,
        r#"{"a":"x","b":'y'}"#,
        "{\"a\":\"x\",\"b\n\":1}",
        r#"{"a":"x"} {"#,
        r#"{"a":"x","\ud83d":1}"#,
        r#"{"a":"x","\ude00":1}"#,
        r#"{"a":"x","\ud83d\n":1}"#,
        r#"{"a":"x","\uzzzz":1}"#,
        r#"{"a":"x","\q":1}"#,
    ] {
        let (root, parser) = read([broken]);
        assert_eq!(parser.state, ExpectedToken::Broken, "{broken}");
        assert_eq!(root["a"], "x", "{broken}");
        assert!(serde_json::from_str::<Map<String, Value>>(broken).is_err(), "{broken}");
    }
    for no_object in ["[1]", "\"a\"", "1", "}", "null"] {
        assert_eq!(read([no_object]).1.state, ExpectedToken::Broken, "{no_object}");
    }
}

#[test]
fn nesting_is_bounded_as_in_the_strict_parser() {
    for depth in [2, 100, 126, 127, 128, 10_000] {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        let strict = serde_json::from_str::<Map<String, Value>>(&text);
        let (root, parser) = read([text.as_str()]);
        assert_eq!(parser.state == ExpectedToken::End, strict.is_ok(), "{depth}");
        if let Ok(strict) = strict {
            assert_eq!(root, strict);
        }
    }
}

#[test]
fn work_is_linear_however_the_text_is_cut() {
    for size in [1_000, 10_000, 100_000] {
        let text = json!({"path": "a.rs", "edits": [{"new": "x\ny".repeat(size / 4)}]}).to_string();
        let (_, parser) = read(text.split_inclusive(|_| true));
        assert!(parser.steps <= 4 * text.len(), "{} steps for {} bytes", parser.steps, text.len());
        let keys: Map<String, Value> = (0..size / 10).map(|n| (format!("k{n}"), n.into())).collect();
        let text = Value::Object(keys).to_string();
        let (_, parser) = read(text.split_inclusive(|_| true));
        assert!(parser.steps <= 4 * text.len(), "{} steps for {} bytes", parser.steps, text.len());
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\"\\\\\n/ä😀a]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..5).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn object_text() -> impl Strategy<Value = String> {
    let pairs = prop::collection::vec((".{0,4}", json_value()), 0..5);
    (pairs, any::<bool>()).prop_map(|(pairs, pretty)| {
        let object = Value::Object(pairs.into_iter().collect());
        if pretty { format!("{object:#}") } else { object.to_string() }
    })
}

proptest! {
    #[test]
    fn any_object_cut_anywhere_is_what_the_strict_parser_reads(
        text in object_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut places: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let (root, parser) = read(places.windows(2).map(|pair| &text[pair[0]..pair[1]]));
        prop_assert_eq!(parser.state, ExpectedToken::End);
        prop_assert_eq!(Value::Object(root), serde_json::from_str::<Value>(&text).unwrap());
    }

    #[test]
    fn any_text_is_survived(text in "[{}\\[\\]\",:0-9a-z\\\\ \n]{0,60}") {
        let (_, parser) = read(text.split_inclusive(|_| true));
        let strict = serde_json::from_str::<Map<String, Value>>(&text);
        prop_assert_eq!(parser.state == ExpectedToken::End, strict.is_ok());
    }
}
