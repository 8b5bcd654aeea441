//! Tests of error classification and messages.

use super::*;
use crate::wire::sample;
use omp_types::Api;

fn model() -> Model {
    let sample = sample::model(Api::AnthropicMessages);
    Model { provider: "anthropic".into(), base_url: "https://user:pass@host.example/v1?key=k".into(), ..sample }
}

#[track_caller]
fn check(status_code: u16, body: &str, kind: ErrorKind) {
    let error = status(&model(), status_code, &Headers::default(), body.as_bytes());
    assert_eq!(error.kind, kind, "{error}");
    assert_eq!(error.status, Some(status_code));
}

#[test]
fn the_status_decides_first() {
    check(401, "", ErrorKind::Auth);
    check(403, r#"{"error":{"message":"no"}}"#, ErrorKind::Auth);
    check(429, "slow down", ErrorKind::RateLimit);
    check(429, r#"{"error":{"message":"too many tokens: reduce the length of the messages"}}"#, ErrorKind::RateLimit);
    for code in [408, 500, 502, 503, 504, 529] {
        check(code, "<html><title>Bad</title></html>", ErrorKind::Overloaded);
    }
    check(400, r#"{"error":{"message":"tools.0: bad"}}"#, ErrorKind::BadRequest);
    check(404, "", ErrorKind::BadRequest);
    check(302, "", ErrorKind::BadRequest);
    check(413, "", ErrorKind::ContextOverflow);
}

#[test]
fn words_decide_where_the_status_does_not() {
    let error = |message: &str| format!(r#"{{"error":{{"message":"{message}"}}}}"#);
    for message in [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 1 + 2 > 3",
        "This model's maximum context length is 8192 tokens.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "the request exceeds the available context size, try increasing it",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Your request exceeded model token limit: 262144",
        "Input exceeds this server's context length by 17 tokens",
    ] {
        check(400, &error(message), ErrorKind::ContextOverflow);
    }
    check(400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, ErrorKind::ContextOverflow);
    check(500, &error("exceed context"), ErrorKind::ContextOverflow);
    check(429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#, ErrorKind::Auth);
    check(429, &error("You exceeded your current quota, please check your plan"), ErrorKind::RateLimit);
    check(400, &error("Your credit balance is too low to access the API"), ErrorKind::Auth);
    check(402, "", ErrorKind::Auth);
    check(
        400,
        r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
        ErrorKind::Auth,
    );
}

#[track_caller]
fn check_reported(code: &str, message: &str, kind: ErrorKind) {
    assert_eq!(reported(&model(), code, message).kind, kind);
}

#[test]
fn errors_within_a_stream_are_told_by_their_name() {
    check_reported("overloaded_error", "Overloaded", ErrorKind::Overloaded);
    check_reported("api_error", "Internal server error", ErrorKind::Overloaded);
    check_reported("rate_limit_error", "", ErrorKind::RateLimit);
    check_reported("authentication_error", "", ErrorKind::Auth);
    check_reported("invalid_request_error", "prompt is too long", ErrorKind::ContextOverflow);
    check_reported("invalid_request_error", "no", ErrorKind::BadRequest);
    check_reported("502", "Provider returned error", ErrorKind::Overloaded);
    check_reported("", "", ErrorKind::Overloaded);
}

#[test]
fn messages_say_who_what_why_and_what_to_do() {
    let show = |code, body: &str| status(&model(), code, &Headers::default(), body.as_bytes()).message;
    insta::assert_snapshot!(show(401, r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#), @"anthropic does not allow this key to use m-1 (401): invalid x-api-key");
    insta::assert_snapshot!(show(429, r#"{"error":{"message":"Number of requests exceeded\n\n"}}"#), @"anthropic is rate limiting requests to m-1 (429): Number of requests exceeded");
    insta::assert_snapshot!(show(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#), @"anthropic cannot serve m-1 right now (529): Overloaded");
    insta::assert_snapshot!(show(404, r#"{"error":"model not found"}"#), @"
    anthropic refused the request to m-1 (404): model not found
    hint: check the model `m-1` and the base URL `https://host.example/v1`; `--list-models` lists the known models
    ");
    insta::assert_snapshot!(show(502, "<!DOCTYPE html><html><head><title> 502 Bad Gateway </title>"), @r#"anthropic cannot serve m-1 right now (502): an HTML page titled "502 Bad Gateway""#);
    insta::assert_snapshot!(show(400, r#"{"detail":[{"msg":"field required"}]}"#), @"anthropic refused the request to m-1 (400): field required");
}

#[test]
fn errors_about_keys_name_where_the_key_comes_from() {
    let show = |code, body: &str| {
        let mut error = status(&model(), code, &Headers::default(), body.as_bytes());
        name_key(&mut error, Some("OPENAI_API_KEY in the environment"));
        error.message
    };
    insta::assert_snapshot!(show(403, "no"), @"
    anthropic does not allow this key to use m-1 (403): no
    hint: check the key in use: OPENAI_API_KEY in the environment
    ");
    insta::assert_snapshot!(show(402, ""), @"
    anthropic does not allow this key to use m-1 (402)
    hint: the account with anthropic has no credit or quota left; the key in use: OPENAI_API_KEY in the environment
    ");
    assert!(!show(400, "no").contains("OPENAI_API_KEY"));
}

#[test]
fn waits_are_kept_only_where_trying_again_helps() {
    let headers: Headers = [("retry-after", "7")].into_iter().collect();
    let wait = |code| status(&model(), code, &headers, b"").retry_after.map(|wait| wait.as_secs());
    assert_eq!((wait(429), wait(529), wait(400)), (Some(7), Some(7), None));
    let gemini = r#"{"error":{"code":429,"message":"quota","details":[{"@type":"x/RetryInfo","retryDelay":"33s"}]}}"#;
    let error = status(&model(), 429, &Headers::default(), gemini.as_bytes());
    assert_eq!(error.retry_after.map(|wait| wait.as_secs()), Some(33));
}

#[test]
fn keys_and_control_characters_are_not_repeated() {
    assert_eq!(quote("Incorrect key provided: sk-proj-abcdefghijkl. See"), "Incorrect key provided: [key] See");
    assert_eq!(quote("key=AIzaSyA1234567890 bad"), "key=[key] bad");
    assert_eq!(quote("a\u{1b}[31mred\n\tb"), "a[31mred b");
    assert_eq!(quote("task-force is fine, so is sk-"), "task-force is fine, so is sk-");
    let long = quote(&"ü".repeat(10_000));
    assert!(long.len() < 500 && long.ends_with('…'), "{}", long.len());
}

#[test]
fn a_success_may_hide_an_error() {
    let hidden = disguised(&model(), br#"{"error":{"message":"Provider returned error","code":502}}"#).unwrap();
    assert_eq!(hidden.kind, ErrorKind::Overloaded);
    assert!(disguised(&model(), br#"{"id":"x","choices":[]}"#).is_none());
    assert!(disguised(&model(), b"<html>").is_none());
}
