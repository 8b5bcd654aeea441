//! Tests the stream format of each wire API as raw text.

use insta::assert_snapshot;
use omp_testkit::{Call, Server, Stop, TokenCounts, Turn, Wire};
use serde_json::{Value, json};

use crate::client::Client;

fn turn() -> Turn {
    let usage = TokenCounts { input: 10, output: 7, cache_read: 5, cache_write: 3, reasoning: 2 };
    Turn::text(["Hel", "lo"]).thinking("hm").and_call("read", json!({"path": "a.txt"})).usage(usage)
}

async fn stream(wire: Wire, turn: Turn) -> String {
    let server = Server::start(turn).await.unwrap();
    let answer = Client::connect(&server).await.ask(wire).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    answer.text()
}

#[tokio::test]
async fn anthropic_messages() {
    assert_snapshot!(stream(Wire::Anthropic, turn()).await);
}

#[tokio::test]
async fn openai_completions() {
    assert_snapshot!(stream(Wire::Completions, turn()).await);
}

#[tokio::test]
async fn openai_responses() {
    assert_snapshot!(stream(Wire::Responses, turn()).await);
}

#[tokio::test]
async fn google_generative_ai() {
    let text = stream(Wire::Google, turn()).await;
    assert!(text.ends_with("\r\n\r\n"), "Google ends its lines with CRLF");
    assert_snapshot!(text.replace("\r\n", "\n"));
}

async fn check_stop(stop: Stop, expect: [&str; 4]) {
    let pointers = ["/delta/stop_reason", "/choices/0/finish_reason", "/response/status", "/candidates/0/finishReason"];
    for ((wire, pointer), expect) in Wire::ALL.into_iter().zip(pointers).zip(expect) {
        let text = stream(wire, Turn::text("x").stop(stop.clone())).await;
        let events = crate::client::data(&text);
        let found: Vec<Value> = events
            .iter()
            .filter_map(|data| serde_json::from_str::<Value>(data).ok())
            .filter_map(|event| event.pointer(pointer).filter(|value| !value.is_null()).cloned())
            .collect();
        assert_eq!(found.last().and_then(Value::as_str), Some(expect), "{wire:?}");
    }
}

#[tokio::test]
async fn stop_reasons_are_in_the_providers_words() {
    check_stop(Stop::Stop, ["end_turn", "stop", "completed", "STOP"]).await;
    check_stop(Stop::Length, ["max_tokens", "length", "incomplete", "MAX_TOKENS"]).await;
    check_stop(Stop::ToolUse, ["tool_use", "tool_calls", "completed", "STOP"]).await;
    check_stop(Stop::Refusal, ["refusal", "content_filter", "incomplete", "SAFETY"]).await;
    check_stop(Stop::Raw("odd".into()), ["odd", "odd", "incomplete", "odd"]).await;
}

#[tokio::test]
async fn two_calls_may_share_an_id() {
    let call = || Call::new("read", json!({})).id("same");
    for wire in Wire::ALL {
        let text = stream(wire, Turn::default().with_call(call()).with_call(call())).await;
        assert!(text.matches(r#"id":"same""#).count() >= 2, "{wire:?}: {text}");
    }
}

#[tokio::test]
async fn raw_arguments_go_out_as_they_are() {
    let turn = || Turn::default().with_call(Call::raw("bash", [r#"{"comm"#, r#"and": oops"#]));
    for wire in [Wire::Anthropic, Wire::Completions, Wire::Responses] {
        let text = stream(wire, turn()).await;
        assert!(text.contains(r#""{\"comm""#) && text.contains(r#""and\": oops""#), "{wire:?}: {text}");
    }
    let text = stream(Wire::Google, turn()).await;
    assert!(text.contains("MALFORMED_FUNCTION_CALL") && !text.contains("functionCall\""), "{text}");
}

#[tokio::test]
async fn usage_of_completions_comes_only_when_asked_for() {
    let server = Server::start(turn()).await.unwrap();
    let mut client = Client::connect(&server).await;
    client
        .send(
            "POST",
            "/chat/completions",
            br#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
        )
        .await;
    let text = client.answer().await.unwrap().text();
    assert!(!text.contains("usage") && text.ends_with("data: [DONE]\n\n"), "{text}");
}
