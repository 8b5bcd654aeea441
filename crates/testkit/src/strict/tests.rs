//! Tests that each rule refuses what breaks it and nothing else.

use super::*;
use serde_json::json;

fn good_headers(wire: Wire) -> Vec<(String, String)> {
    let key = match wire {
        Wire::Anthropic => ("x-api-key", "k"),
        Wire::Google => ("x-goog-api-key", "k"),
        Wire::Completions | Wire::Responses => ("authorization", "Bearer k"),
    };
    let pairs = [
        ("host", "x"),
        ("user-agent", "t"),
        ("accept", "text/event-stream"),
        ("content-type", "application/json"),
        ("content-length", "2"),
        ("anthropic-version", "2023-06-01"),
        key,
    ];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

fn of_headers(wire: Wire, headers: &[(String, String)]) -> Result<(), ServiceRefusal> {
    check_headers(wire, headers).and_then(|()| check_key(wire, "/v1", headers))
}

#[test]
fn headers_are_checked_as_by_the_strictest_server() {
    for wire in Wire::ALL {
        let good = good_headers(wire);
        assert_eq!(of_headers(wire, &good), Ok(()));
        let changed = |name: &str, value: Option<&str>| {
            let mut headers = good.clone();
            headers.retain(|(key, _)| key != name);
            headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
            of_headers(wire, &headers).map_err(|refusal| refusal.status)
        };
        assert_eq!(changed("content-type", None), Err(415));
        assert_eq!(changed("content-type", Some("text/plain")), Err(415));
        assert_eq!(changed("content-type", Some("application/json; charset=utf-8")), Ok(()));
        assert_eq!(changed("accept", None), Err(406));
        assert_eq!(changed("content-length", None), Err(411));
        assert_eq!(changed("user-agent", None), Err(400));
        assert_eq!(changed("x-empty", Some(" ")), Err(400));
        assert_eq!(changed(&good[6].0.clone(), None), Err(401));
        assert_eq!(changed("authorization", Some("Basic x")), Err(401));
        let foreign = if wire == Wire::Google { "x-api-key" } else { "x-goog-api-key" };
        assert_eq!(changed(foreign, Some("k")), Err(401));
        let mut twice = good.clone();
        twice.push(("Accept".into(), "*/*".into()));
        assert!(of_headers(wire, &twice).is_err());
    }
    let mut unversioned = good_headers(Wire::Anthropic);
    unversioned.retain(|(name, _)| name != "anthropic-version");
    assert_eq!(of_headers(Wire::Anthropic, &unversioned).map_err(|it| it.status), Err(400));
}

#[track_caller]
fn check(wire: Wire, mut body: Value, change: Value, expect: &str) {
    assert_eq!(check_body(wire, &body), Ok(()), "{wire:?}");
    for (key, value) in change.as_object().unwrap() {
        body[key] = value.clone();
    }
    let refusal = check_body(wire, &body).expect_err(expect);
    assert!(refusal.message.contains(expect), "{refusal:?}");
}

#[test]
fn bodies_that_vendors_refuse_are_refused() {
    let anthropic = json!({"model": "m", "max_tokens": 2000, "messages": [{"role": "user", "content": "hi"}]});
    let user = |content: Value| json!({"messages": [{"role": "user", "content": content}]});
    let bad = |change: Value, expect: &str| check(Wire::Anthropic, anthropic.clone(), change, expect);
    bad(json!({"model": ""}), "model");
    bad(json!({"max_tokens": 0}), "max_tokens");
    bad(json!({"thinking": {"type": "enabled", "budget_tokens": 1000}}), "1024");
    bad(json!({"thinking": {"type": "enabled", "budget_tokens": 2000}}), "greater than");
    bad(json!({"messages": []}), "messages");
    bad(json!({"messages": [{"role": "assistant", "content": "hi"}]}), "first message");
    bad(user(json!([])), "non-empty");
    bad(user(json!([{"type": "text", "text": " "}])), "non-whitespace");
    bad(user(json!([{"type": "tool_use", "id": "a|b", "name": "x", "input": {}}])), "should match");
    let call = json!({"type": "tool_use", "id": "a", "name": "x", "input": {}});
    bad(user(json!([call, call])), "unique");
    bad(
        user(json!([{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}}])),
        "image/bmp",
    );
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    bad(user(json!([{"type": "tool_result", "tool_use_id": "a", "content": [image]}])), "not image/png");
    let tool = |schema: Value| json!({"tools": [{"name": "t", "input_schema": schema}]});
    bad(tool(json!({"type": "object", "oneOf": [{}]})), "top level");
    bad(tool(json!({"properties": {}})), "of type 'object'");
    bad(tool(json!({"type": "object", "properties": {"a": {"type": "array"}}})), "missing items");
    bad(tool(json!({"type": "object", "properties": {"a b": {}}})), "Property keys");

    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let bad = |change: Value, expect: &str| check(Wire::Completions, chat.clone(), change, expect);
    bad(json!({"messages": [{"role": "robot", "content": "x"}]}), "robot");
    bad(json!({"messages": [{"role": "assistant", "content": null}]}), "got null");
    bad(json!({"messages": [{"role": "assistant", "tool_calls": []}]}), "too short");
    let call = |id: &str, arguments: &str| {
        let function = json!({"name": "x", "arguments": arguments});
        json!({"messages": [{"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function}]}]})
    };
    bad(call(&"x".repeat(41), "{}"), "should match");
    bad(call("a", "[1]"), "not a JSON object");
    bad(json!({"reasoning_effort": "turbo"}), "turbo");
    bad(json!({"max_tokens": 1, "max_completion_tokens": 1}), "same time");
    bad(json!({"tools": [{"function": {"name": "a b", "parameters": {"type": "object"}}}]}), "a b");

    let response = json!({"model": "m", "input": "hi"});
    let bad = |change: Value, expect: &str| check(Wire::Responses, response.clone(), change, expect);
    let call = |id: &str| json!({"type": "function_call", "id": id, "call_id": "c", "name": "x", "arguments": "{}"});
    bad(json!({"input": [call("fc_1"), call("fc_1")]}), "Duplicate item");
    bad(json!({"input": [call("fc_1"), call("fc_2")]}), "unique");
    bad(json!({"input": []}), "at least one");
    bad(json!({"prompt_cache_key": "x".repeat(65)}), "too long");

    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    let bad = |change: Value, expect: &str| check(Wire::Google, gemini.clone(), change, expect);
    bad(json!({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}), "valid role");
    bad(json!({"contents": [{"role": "user", "parts": []}]}), "at least one");
    bad(json!({"contents": [{"role": "user", "parts": [{"text": "a", "functionCall": {}}]}]}), "oneof");
    let image = json!({"inline_data": {"mime_type": "image/bmp", "data": "x"}});
    bad(json!({"contents": [{"role": "user", "parts": [image]}]}), "image/bmp");
    let image = json!({"inlineData": {"mimeType": "image/gif", "data": "R0lGODlh"}});
    bad(json!({"contents": [{"role": "user", "parts": [image]}]}), "image/gif");
    let tool = |schema: Value| json!({"tools": [{"functionDeclarations": [{"name": "t", "parameters": schema}]}]});
    bad(tool(json!({"type": "object", "properties": {"a": {"$ref": "x"}}})), "Unknown name");
    bad(tool(json!({"type": "object", "properties": {"a": {"type": "array"}}})), "items");
    bad(tool(json!({"type": "object", "properties": {}, "required": ["a"]})), "not defined");
}
