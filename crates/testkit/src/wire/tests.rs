//! Tests what is read from paths and requests.

use serde_json::json;

use super::*;

#[test]
fn paths_name_their_wire_under_any_prefix() {
    let rows = [
        ("/v1/messages", Some(Wire::Anthropic)),
        ("/anthropic/v1/messages?beta=true", Some(Wire::Anthropic)),
        ("/v1/messages/count_tokens", None),
        ("/chat/completions", Some(Wire::Completions)),
        ("/openai/v1/responses", Some(Wire::Responses)),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", Some(Wire::Google)),
        ("/v1beta/models/m:generateContent", None),
        ("/v1/models", None),
    ];
    for (path, expect) in rows {
        assert_eq!(Wire::of_path(path), expect, "{path}");
    }
}

#[test]
fn answers_in_a_request_are_counted() {
    let check = |wire, request: Value, expect| assert_eq!(assistant_turns(wire, &request), expect, "{request}");
    let (user, assistant) = (json!({"role": "user"}), json!({"role": "assistant"}));
    check(Wire::Anthropic, json!({"messages": [user, assistant, user, assistant]}), 2);
    check(Wire::Completions, json!({"messages": [user]}), 0);
    check(Wire::Google, json!({"contents": [user, {"role": "model"}, user]}), 1);
    let call = json!({"type": "function_call"});
    let output = json!({"type": "function_call_output"});
    let one_answer =
        [json!({"type": "reasoning"}), json!({"type": "message", "role": "assistant"}), call.clone(), call];
    let input = [[user.clone()].as_slice(), &one_answer, &[output.clone(), output], &[assistant]].concat();
    check(Wire::Responses, json!({"input": input}), 2);
    check(Wire::Responses, json!({"input": "a plain string"}), 0);
}

#[test]
fn the_model_is_taken_from_the_body_or_the_path() {
    let model = |path, json| WireContext::new(Wire::Google, path, b"", &json, 0).model;
    assert_eq!(model("/v1beta/models/gemini-x:streamGenerateContent?alt=sse", json!({})), "gemini-x");
    assert_eq!(model("/v1/messages", json!({"model": "claude-x"})), "claude-x");
}

/// `expect` is part of the service's error, or empty for none.
fn check_pairing(wire: Wire, items: Value, expect: &str) {
    let complaint = unpaired(wire, &json!({ wire.conversation(): items })).unwrap_or_default();
    assert_eq!(complaint.is_empty(), expect.is_empty(), "{items}: {complaint}");
    assert!(complaint.contains(expect), "{items}: {complaint}");
}

#[test]
fn anthropic_wants_results_right_after_their_calls() {
    let check = |items, expect| check_pairing(Wire::Anthropic, items, expect);
    let calls = |ids: &[&str]| {
        let blocks: Vec<Value> = ids.iter().map(|id| json!({"type": "tool_use", "id": id})).collect();
        json!({"role": "assistant", "content": blocks})
    };
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id}]});
    check(json!([calls(&["a", "b"]), result("b"), result("a"), calls(&["a"]), result("a")]), "");
    check(json!([{"role": "assistant", "content": "plain"}, {"role": "user", "content": "text"}]), "");
    check(json!([calls(&["a"])]), "without `tool_result` blocks immediately after: a");
    check(json!([calls(&["a", "b"]), result("a"), calls(&[])]), "messages.0");
    check(json!([result("x")]), "unexpected `tool_use_id`");
    check(json!([calls(&["a"]), result("a"), result("a")]), "unexpected `tool_use_id`");
    check(json!([calls(&["a", "a"]), result("a"), result("a")]), "each id must be used once");
}

#[test]
fn the_other_services_want_pairs_too() {
    let calls = json!({"role": "assistant", "tool_calls": [{"id": "a"}]});
    let result = json!({"role": "tool", "tool_call_id": "a"});
    check_pairing(Wire::Completions, json!([calls, result, calls, result]), "");
    check_pairing(Wire::Completions, json!([calls, {"role": "user"}]), "did not have response messages: a");
    check_pairing(Wire::Completions, json!([result]), "must be a response");

    let (call, output) =
        (json!({"type": "function_call", "call_id": "a"}), json!({"type": "function_call_output", "call_id": "a"}));
    check_pairing(Wire::Responses, json!([call, call, output, output]), "");
    check_pairing(Wire::Responses, json!([call]), "No tool output found for function call a");
    check_pairing(Wire::Responses, json!([output]), "No tool call found");

    let call = json!({"role": "model", "parts": [{"functionCall": {}}, {"text": "x"}, {"functionCall": {}}]});
    let response = json!({"role": "user", "parts": [{"functionResponse": {}}, {"functionResponse": {}}]});
    check_pairing(Wire::Google, json!([call, response, call, response]), "");
    check_pairing(Wire::Google, json!([call]), "number of function response parts");
    check_pairing(
        Wire::Google,
        json!([call, {"role": "user", "parts": [{"functionResponse": {}}]}, call]),
        "number of",
    );
    check_pairing(Wire::Google, json!([response]), "number of function response parts");
}
