//! Tests valid and invalid script files.

use serde_json::json;

use super::*;

fn parse(yaml: &str) -> Script {
    Script::parse("test.yml", yaml).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_file_says_the_same_as_rust() {
    let script = parse(
        r#"
select: assistant_count
past_end: repeat_last
aux: Title
models: [a, b]
framing: { gzip: true, split: every_byte }
turns:
  - thinking: { text: hm, signature: s }
    text: [one, two]
    calls:
      - { name: read, arguments: { path: a.txt }, id: x }
      - { name: bash, raw: ['{"comm', 'and":'] }
    usage: { input: 1, output: 2 }
    stop: length
    delay_ms: 3
    framing: { split: { at: [1, 2] } }
    fault: { kind: { stall: { at: mid_stream, ms: 5 } }, times: 2, after: next }
  - text: { tokens: 3, end: END }
    stop: raw:pause_turn
    fault: { kind: { status: { code: 429, retry_after: 7, headers: { a: b } } } }
  - fault: { kind: { reset: { at: { after_events: 4 } } } }
  - fault: { kind: html }
"#,
    );
    let framing = Framing { gzip: true, split: Some(Split::EveryByte), ..Framing::default() };
    let mut first = Turn::text(["one", "two"])
        .with_call(Call::new("read", json!({"path": "a.txt"})).id("x"))
        .with_call(Call::raw("bash", [r#"{"comm"#, r#"and":"#]))
        .usage(TokenCounts { input: 1, output: 2, ..TokenCounts::default() })
        .stop(Stop::Length)
        .delay_ms(3)
        .framing(Framing { split: Some(Split::At(vec![1, 2])), ..Framing::default() })
        .fault(Fault::new(FaultKind::Stall { at: Moment::MidStream, ms: Some(5) }).times(2).after(After::Next));
    first.thinking = Some(Thinking { text: "hm".into(), signature: Some("s".into()) });
    let second = Turn::text(Text::Generated(Generated { tokens: 3, end: Some("END".into()) }))
        .stop(Stop::Raw("pause_turn".into()))
        .fault(FaultStatus::new(429).retry_after("7").header("a", "b").into());
    let third = Turn::default().fault(Fault::reset(Moment::AfterEvents(4)));
    let fourth = Turn::default().fault(FaultKind::Html.into());
    let expect = Script::new([first, second, third, fourth])
        .select(Select::AssistantCount)
        .past_end(PastEnd::RepeatLast)
        .aux("Title")
        .models(&["a", "b"])
        .framing(framing);
    assert_eq!(script, expect);
}

#[test]
fn every_fault_can_be_written_in_a_file() {
    let kinds = [
        ("{ keep_alive: { at: after_headers, ms: 5 } }", FaultKind::KeepAlive { at: Moment::AfterHeaders, ms: 5 }),
        ("{ stall: { at: before_headers } }", FaultKind::Stall { at: Moment::BeforeHeaders, ms: None }),
        ("{ close: { at: after_headers } }", FaultKind::Close { at: Moment::AfterHeaders }),
        ("context_overflow", FaultKind::ContextOverflow),
        ("{ error_event: { code: 529 } }", FaultKind::ErrorEvent { code: 529 }),
        ("malformed_event", FaultKind::MalformedEvent),
        ("html", FaultKind::Html),
        ("empty_stream", FaultKind::EmptyStream),
        ("no_terminal", FaultKind::NoTerminal),
        ("no_last_event", FaultKind::NoLastEvent),
        ("{ huge_line: { megabytes: 64 } }", FaultKind::HugeLine { megabytes: 64 }),
        ("truncated_arguments", FaultKind::TruncatedArguments),
        ("whole_json", FaultKind::WholeJson),
    ];
    for (yaml, kind) in kinds {
        let script = parse(&format!("turns:\n  - fault: {{ kind: {yaml} }}\n"));
        assert_eq!(script.turns[0].fault, Some(Fault::new(kind)), "{yaml}");
    }
}

#[test]
fn a_repeated_turn_is_numbered_by_its_place_in_the_script() {
    let script = parse(
        r#"
turns:
  - text: first {i}
  - text: "step {i}"
    repeat: 3
    calls: [{ name: read, arguments: { paths: ["f{i}"] }, id: "c{i}" }]
"#,
    );
    let shown: Vec<String> = script
        .turns
        .iter()
        .map(|turn| {
            let text: String = turn.text.iter().flat_map(Text::chunks).collect();
            let calls: String = turn.calls.iter().flat_map(|call| call.pieces()).collect();
            format!("{text} {calls}")
        })
        .collect();
    assert_eq!(
        shown,
        ["first {i} ", r#"step 1 {"paths":["f1"]}"#, r#"step 2 {"paths":["f2"]}"#, r#"step 3 {"paths":["f3"]}"#]
    );
    assert_eq!(script.turns[3].calls[0].id.as_deref(), Some("c3"));
}

#[test]
fn generated_text_is_always_the_same_and_as_long_as_asked() {
    let text = Text::tokens(1000);
    assert_eq!(text.chunks().count(), 1000);
    assert_eq!(text.chunks().collect::<String>(), Text::tokens(1000).chunks().collect::<String>());
    assert!(text.chunks().collect::<String>().starts_with("a steady stream of small words"));
}

#[test]
fn arguments_are_streamed_in_pieces_that_make_up_the_whole() {
    let arguments = json!({"text": "ü".repeat(100)});
    let pieces = Call::new("write", arguments.clone()).pieces();
    assert!(pieces.len() > 3);
    assert_eq!(pieces.concat(), arguments.to_string());
}

/// The error must contain every part, and a hint.
fn check_error(yaml: &str, parts: &[&str]) {
    let error = Script::parse("test.yml", yaml).unwrap_err().to_string();
    for part in parts.iter().chain(&["cannot use script `test.yml`", "\nhint: "]) {
        assert!(error.contains(part), "no `{part}` in:\n{error}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    check_error("turns:\n  - text: a\n  - txet: b\n", &["txet", "line 3"]);
    check_error("turns:\n  - text: a\n    fault: { kind: explode }\n", &["explode", "line 3", "empty_stream"]);
    check_error("turns:\n  - text: a\n    fault: { kind: { status: { code: many } } }\n", &["many", "line 3"]);
    check_error("turns:\n  - text: 1\n", &["a string, a list of strings", "line 2"]);
    check_error("turns:\n  - calls:\n      - { name: a, arguments: {}, raw: [] }\n", &["both", "line 3"]);
    check_error("turns:\n  - text: a\n    stop: stopp\n", &["unknown stop reason `stopp`", "line 3"]);
    check_error("turns:\n  - text: { tokens: x }\n", &["line 2"]);
    check_error("turns: [\n", &["line"]);
    check_error("", &[]);
}

#[test]
fn what_cannot_be_played_is_refused_with_its_turn() {
    check_error("turns: []\n", &["`turns` is empty"]);
    check_error("turns:\n  - text: a\n  - text: b\n    repeat: 0\n", &["turn 2: `repeat: 0`"]);
    check_error("turns:\n  - text: a\n    repeat: 999999999\n", &["more than 100000 turns"]);
    check_error("turns:\n  - text: { tokens: 999999999 }\n", &["turn 1: `tokens: 999999999`"]);
    check_error("turns:\n  - fault: { kind: { status: { code: 200 } } }\n", &["turn 1: status 200"]);
    check_error("turns:\n  - fault: { kind: { error_event: { code: 7 } } }\n", &["turn 1: error event with code 7"]);
    check_error("turns:\n  - fault: { kind: { huge_line: { megabytes: 0 } } }\n", &["turn 1: a line of 0"]);
    check_error(
        "turns:\n  - fault: { kind: { status: { code: 500, headers: { 'a b': c } } } }\n",
        &["turn 1: header `a b`"],
    );
    check_error("turns:\n  - framing: { split: { every: 0 } }\n", &["turn 1: `split"]);
    check_error("turns:\n  - text: a\nframing: { split: { at: [2, 1] } }\n", &["not in order"]);
}

#[test]
fn a_missing_file_is_named() {
    let error = Script::load(Path::new("no/such/script.yml")).unwrap_err().to_string();
    assert!(error.contains("no/such/script.yml") && error.contains("hint: "), "{error}");
}
