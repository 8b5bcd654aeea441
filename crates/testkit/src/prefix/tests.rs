//! Tests what the check accepts and what it rejects.

use super::*;

const ALL_KEPT: &str = "";

/// Compares two Anthropic bodies; `expect` is part of the error, or empty for none.
fn check(earlier: &str, later: &str, expect: &str) {
    check_wire(Wire::Anthropic, earlier, later, expect);
}

fn check_wire(wire: Wire, earlier: &str, later: &str, expect: &str) {
    let result = check_bodies(&[(wire, earlier.as_bytes()), (wire, later.as_bytes())]);
    match result {
        Ok(()) => assert_eq!(expect, ALL_KEPT, "nothing was found"),
        Err(problem) => assert!(!expect.is_empty() && problem.contains(expect), "{problem}"),
    }
}

#[test]
fn appending_to_the_conversation_is_fine() {
    let one = r#"{"model":"m","system":"s","tools":[{"name":"a"}],"messages":[{"role":"user","content":"hi"}]}"#;
    let two = r#"{"model":"m","system":"s","tools":[{"name":"a"}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"x"}]}"#;
    check(one, two, ALL_KEPT);
    check(one, one, ALL_KEPT);
    check(two, one, "`messages` differs");
    let merged = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}"#;
    check(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}"#, merged, ALL_KEPT);
}

#[test]
fn a_changed_byte_is_shown_with_its_surroundings() {
    check(
        r#"{"messages":[{"role":"user","content":"hello world"}]}"#,
        r#"{"messages":[{"role":"user","content":"hello w0rld"},{"role":"assistant","content":"x"}]}"#,
        "was: …[{\"role\":\"user\",\"content\":\"hello world\"}]…\n  now: …[{\"role\":\"user\",\"content\":\"hello w0rld\"",
    );
    check(r#"{"messages":[{"n":1}]}"#, r#"{"messages":[{"n":12}]}"#, "differs at byte");
    check(r#"{"messages":[{"n":{}}]}"#, r#"{"messages":[{"n":{"a":1}}]}"#, "differs at byte");
}

#[test]
fn a_reordered_tool_is_caught() {
    check(
        r#"{"tools":[{"name":"a"},{"name":"b"}],"messages":[]}"#,
        r#"{"tools":[{"name":"b"},{"name":"a"}],"messages":[]}"#,
        "`tools` differs at byte 10",
    );
}

#[test]
fn the_time_in_the_system_prompt_is_caught() {
    check(
        r#"{"system":"It is 12:00:01.","messages":[]}"#,
        r#"{"system":"It is 12:00:02.","messages":[]}"#,
        "`system` differs at byte 14",
    );
    check_wire(
        Wire::Google,
        r#"{"contents":[],"systemInstruction":{"parts":[{"text":"12:00"}]}}"#,
        r#"{"contents":[],"systemInstruction":{"parts":[{"text":"12:01"}]}}"#,
        "`systemInstruction` differs",
    );
}

#[test]
fn members_before_the_conversation_keep_their_order_and_number() {
    check(r#"{"a":1,"b":2,"messages":[]}"#, r#"{"b":2,"a":1,"messages":[]}"#, "members before the conversation");
    check(r#"{"a":1,"messages":[]}"#, r#"{"messages":[]}"#, "members before the conversation");
    check(r#"{"messages":[],"tools":[]}"#, r#"{"messages":[]}"#, "`tools` is gone");
    check(r#"{"messages":[]}"#, r#"{"messages":[],"tools":[]}"#, "`tools` is new");
    check(r#"{"messages":[],"max_tokens":5}"#, r#"{"messages":[],"max_tokens":4}"#, ALL_KEPT);
    check(r#"{"a":1,"messages":[]}"#, r#"{"a":1, "messages":[]}"#, "`the body` differs");
}

#[test]
fn every_wire_has_its_own_conversation() {
    check_wire(Wire::Completions, r#"{"messages":["a"]}"#, r#"{"messages":["b"]}"#, "`messages` differs");
    check_wire(Wire::Responses, r#"{"input":["a"]}"#, r#"{"input":["b"]}"#, "`input` differs");
    check_wire(Wire::Google, r#"{"contents":["a"]}"#, r#"{"contents":["b"]}"#, "`contents` differs");
    check_wire(Wire::Google, r#"{"messages":["a"]}"#, r#"{"messages":["a"]}"#, "no `contents`");
}

#[test]
fn cache_markers_may_move() {
    check(
        r#"{"system":[{"text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"content":[{"cache_control":{"type":"ephemeral"},"text":"a"}]}]}"#,
        r#"{"system":[{"text":"s"}],"messages":[{"content":[{"text":"a"}]},{"content":[{"text":"b","cache_control":{"type":"ephemeral"}}]}]}"#,
        ALL_KEPT,
    );
    let text = r#"{"messages":[{"text":"say \"cache_control\":{}, please"}]}"#;
    assert_eq!(without_cache_markers(text.as_bytes()).unwrap(), text.as_bytes());
}

#[test]
fn bodies_that_cannot_be_compared_are_an_error() {
    let one: (Wire, &[u8]) = (Wire::Anthropic, br#"{"messages":[]}"#);
    assert!(check_bodies(&[one]).unwrap_err().contains("nothing to compare"));
    assert!(check_bodies(&[one, (Wire::Google, b"{}")]).unwrap_err().contains("the wire changed"));
    for broken in [r#"{"messages":"#, "[]", "", r#"{"messages":["a"#, r#"{"messages""#] {
        assert!(check_bodies(&[one, (Wire::Anthropic, broken.as_bytes())]).is_err(), "{broken}");
    }
}

#[test]
#[should_panic(expected = "nothing to compare")]
fn the_assertion_panics() {
    assert_prefix_stable(&[]);
}

#[test]
fn members_can_be_left_out_without_touching_the_others() {
    let body = br#"{"a": 1 ,"b":[ {"b":2} ],"c":"x"}"#;
    let without = |names: &[&str]| String::from_utf8(without_members(body, names).unwrap()).unwrap();
    assert_eq!(without(&["b"]), r#"{"a":1 ,"c":"x"}"#);
    assert_eq!(without(&["a", "c"]), r#"{"b":[ {"b":2} ]}"#);
    assert_eq!(without(&["a", "b", "c"]), "{}");
    assert_eq!(member(body, "b"), Some(&br#"[ {"b":2} ]"#[..]));
    assert_eq!(member(body, "x"), None);
    assert!(without_members(b"[]", &[]).is_err());
}
