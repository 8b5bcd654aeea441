//! Tests the scripted model through the trait that the agent loop uses.

use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use omp_types::{CacheRetention, Message, StopReason, StreamEvent, Terms, ThinkingLevel, UserMessage};
use serde_json::json;

use super::*;
use crate::provider::mock_model;
use crate::script::{Call, Fault, Stop, TokenCounts};

fn request(text: &str) -> Request {
    Request {
        model: Arc::new(mock_model()),
        system: "system".into(),
        tools: Arc::new([]),
        messages: vec![Arc::new(Message::User(UserMessage::text(text)))],
        thinking: ThinkingLevel::Off,
        max_tokens: None,
        session_id: None,
        cache: CacheRetention::Short,
        terms: Terms::default(),
    }
}

/// Plays one stream to its end.
async fn play(stream: &mut Box<dyn ModelStream>) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

fn names(events: &[StreamEvent]) -> String {
    let name = |event| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned();
    events.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_turn_is_played_chunk_by_chunk() {
    let usage = TokenCounts { input: 3, output: 4, ..TokenCounts::default() };
    let turn = Turn::text(["a", "b"]).thinking("hm").and_call("read", json!({"path": "x"})).usage(usage);
    let llm = ScriptedLlm::new([turn]);
    let mut stream = llm.stream(request("hi"));
    let events = play(&mut stream).await;
    assert_eq!(
        names(&events),
        "start thinking_start thinking_delta thinking_end text_start text_delta text_delta text_end \
         toolcall_start toolcall_delta toolcall_end done"
    );
    let message = stream.message();
    assert_eq!((message.text().as_str(), message.stop_reason), ("ab", StopReason::ToolUse));
    assert_eq!((message.usage.input, message.usage.total_tokens), (3, 7));
    let call = message.tool_calls().next().unwrap();
    assert_eq!((call.id.as_str(), &call.arguments["path"]), ("call_0_0", &json!("x")));
}

#[tokio::test]
async fn requests_are_recorded_and_answered_in_order() {
    let llm = ScriptedLlm::new([Turn::text("one"), Turn::text("two")]);
    for expect in ["one", "two"] {
        let mut stream = llm.stream(request(expect));
        play(&mut stream).await;
        assert_eq!(stream.message().text(), expect);
    }
    let requests = llm.until_requests(2).await;
    assert_eq!(&*requests[1].system, "system");
    let Message::User(user) = &*requests[1].messages[0] else { panic!("no user message") };
    assert_eq!(user.content[0].as_text(), Some("two"));
}

async fn check_failure(llm: ScriptedLlm, kind: ErrorKind, text: &str, message: &str) {
    let mut stream = llm.stream(request("hi"));
    let events = play(&mut stream).await;
    assert_eq!(events.last(), Some(&StreamEvent::Error { reason: StopReason::Error }));
    let answer = stream.message();
    assert_eq!(answer.error.as_ref().unwrap().kind, kind);
    assert_eq!(answer.text(), text);
    assert!(answer.error_message.as_ref().unwrap().contains(message), "{answer:?}");
}

#[tokio::test]
async fn failures_end_the_stream_with_their_error() {
    let error = || ModelError::new(ErrorKind::Overloaded, "busy");
    check_failure(ScriptedLlm::new([error()]), ErrorKind::Overloaded, "", "busy").await;
    let half = Reply::Fail { partial: Turn::text("half"), error: error() };
    check_failure(ScriptedLlm::new([half]), ErrorKind::Overloaded, "half", "busy").await;
    check_failure(ScriptedLlm::new([Turn::text("no").stop(Stop::Refusal)]), ErrorKind::Refused, "no", "refused").await;
    check_failure(ScriptedLlm::new(Vec::<Turn>::new()), ErrorKind::BadRequest, "", "no reply 1").await;
    let wire = ScriptedLlm::new([Turn::text("x").fault(Fault::status(500))]);
    check_failure(wire, ErrorKind::BadRequest, "", "needs a wire").await;
}

#[tokio::test]
async fn cut_off_arguments_reach_the_message_as_invalid() {
    let cut = Turn::call("read", json!({"path": "a.txt"})).fault(FaultKind::TruncatedArguments.into());
    let raw = Turn::default().with_call(Call::raw("read", ["{", "oops"]));
    for (turn, expect) in [(cut, r#"{"path":"#), (raw, "{oops")] {
        let llm = ScriptedLlm::new([turn]);
        let mut stream = llm.stream(request("hi"));
        play(&mut stream).await;
        let call = stream.message().tool_calls().next().unwrap();
        assert_eq!(call.invalid_arguments.as_deref(), Some(expect));
    }
}

#[tokio::test]
async fn a_gate_lets_events_through_one_by_one() {
    let gate = Gate::new();
    let llm = ScriptedLlm::new([Turn::text(["a", "b"])]).gated(&gate);
    let mut stream = llm.stream(request("hi"));
    assert_eq!(stream.next().now_or_never(), None);
    gate.blocked().await;
    gate.pass(3);
    for _ in 0..3 {
        assert!(stream.next().now_or_never().flatten().is_some());
    }
    assert_eq!(stream.next().now_or_never(), None);
    assert_eq!(stream.message().text(), "a", "the message does not run ahead of its events");
    gate.open();
    assert_eq!(names(&play(&mut stream).await), "text_delta text_end done");
    assert_eq!(stream.next().now_or_never(), Some(None));
}

#[tokio::test]
async fn a_test_can_wait_until_a_stream_stands_at_the_gate() {
    let gate = Gate::new();
    let llm = Arc::new(ScriptedLlm::new([Turn::text("a")]).gated(&gate));
    let mut stream = llm.stream(request("hi"));
    gate.pass(2);
    let reader = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(event) = stream.next().await {
            seen.push(event);
        }
        seen
    });
    gate.blocked().await;
    assert!(!reader.is_finished());
    gate.pass(1);
    gate.blocked().await;
    reader.abort();
    assert!(reader.await.unwrap_err().is_cancelled());
    assert_eq!(gate.blocked().now_or_never(), None, "a dropped stream does not wait");
}

#[tokio::test]
async fn delays_are_kept() {
    let llm = ScriptedLlm::new([Turn::text(["a", "b"]).delay_ms(2)]);
    let started = std::time::Instant::now();
    let events = play(&mut llm.stream(request("hi"))).await;
    assert!(started.elapsed().as_millis() >= 2 * (events.len() as u128 - 1));
}
