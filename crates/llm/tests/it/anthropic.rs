//! Tests of Anthropic's Messages API: recorded streams in, events out.

use omp_types::{Api, AssistantMessage, Content, ErrorKind, StopReason, StreamEvent};

use crate::server::{Reply, Server};
use crate::talk::{answer_to, ask, model, providers, request, told};

const TEXT: &str = include_str!("fixtures/anthropic/text.sse");
const TOOLS: &str = include_str!("fixtures/anthropic/thinking_and_tools.sse");
const OVERLOADED: &str = include_str!("fixtures/anthropic/overloaded.sse");

async fn answer(reply: Reply) -> (Vec<StreamEvent>, AssistantMessage) {
    answer_to(Api::AnthropicMessages, "anthropic", reply).await
}

/// A stream of these data lines without event names, as some servers send it.
fn unnamed(data: &[&str]) -> Reply {
    Reply::events(&data.iter().map(|data| format!("data: {data}\n\n")).collect::<String>())
}

const START: &str = r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn stopped(reason: &str) -> String {
    format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":3}}}}"#)
}

#[tokio::test]
async fn text() {
    let (events, message) = answer(Reply::events(TEXT)).await;
    insta::assert_snapshot!(told(&events), @r#"
    {"type":"start"}
    {"type":"text_start","contentIndex":0}
    {"type":"text_delta","contentIndex":0,"delta":"Grüß Gott ✓\n😀"}
    {"type":"text_end","contentIndex":0,"content":"Grüß Gott ✓\n😀"}
    {"type":"done","reason":"stop"}
    "#);
    let usage = message.usage;
    assert_eq!(
        [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens],
        [12, 15, 2000, 1000, 3027]
    );
    assert!((usage.cost.total - (12.0 * 3.0 + 15.0 * 15.0 + 2000.0 * 0.3 + 1000.0 * 3.75) / 1e6).abs() < 1e-12);
    assert_eq!(message.response_id.as_deref(), Some("msg_01"));
    assert!(message.ttft.is_some() && message.duration >= message.ttft, "{message:?}");
}

#[tokio::test]
async fn thinking_and_tools() {
    let (events, message) = answer(Reply::events(TOOLS)).await;
    insta::assert_snapshot!(told(&events), @r#"
    {"type":"start"}
    {"type":"thinking_start","contentIndex":0}
    {"type":"thinking_delta","contentIndex":0,"delta":"I should look at both files."}
    {"type":"thinking_end","contentIndex":0,"content":"I should look at both files."}
    {"type":"text_start","contentIndex":2}
    {"type":"text_delta","contentIndex":2,"delta":"Reading."}
    {"type":"text_end","contentIndex":2,"content":"Reading."}
    {"type":"toolcall_start","contentIndex":3}
    {"type":"toolcall_delta","contentIndex":3,"delta":"{\"path\": \"a.txt\", \"limit\": 5}"}
    {"type":"toolcall_end","contentIndex":3,"toolCall":{"type":"toolCall","id":"toolu_01","name":"read","arguments":{"path":"a.txt","limit":5}}}
    {"type":"toolcall_start","contentIndex":4}
    {"type":"toolcall_end","contentIndex":4,"toolCall":{"type":"toolCall","id":"toolu_02","name":"list","arguments":{}}}
    {"type":"done","reason":"toolUse"}
    "#);
    insta::assert_snapshot!(serde_json::to_string(&message.content).unwrap(), @r#"[{"type":"thinking","thinking":"I should look at both files.","thinkingSignature":"EqQBCgIYAhIM=="},{"type":"redactedThinking","data":"EmwKAhgB"},{"type":"text","text":"Reading."},{"type":"toolCall","id":"toolu_01","name":"read","arguments":{"path":"a.txt","limit":5}},{"type":"toolCall","id":"toolu_02","name":"list","arguments":{}}]"#);
}

#[tokio::test]
async fn cuts_do_not_matter() {
    for size in [1, 7, 64] {
        let (events, _) = answer(Reply::events_in_pieces(TEXT, size)).await;
        let (whole, _) = answer(Reply::events(TEXT)).await;
        assert_eq!(told(&events), told(&whole), "pieces of {size}");
        let crlf = TEXT.replace('\n', "\r\n");
        let (events, _) = answer(Reply::events_in_pieces(crlf.trim_end(), size)).await;
        assert_eq!(told(&events), told(&whole), "CRLF in pieces of {size}");
    }
}

#[tokio::test]
async fn deltas_that_arrive_together_are_one_event() {
    let (events, _) = answer(Reply::events(TEXT)).await;
    let deltas = events.iter().filter(|event| matches!(event, StreamEvent::TextDelta { .. })).count();
    assert_eq!(deltas, 1);
}

#[tokio::test]
async fn an_error_in_mid_stream_keeps_what_had_come() {
    let (events, message) = answer(Reply::events(OVERLOADED)).await;
    insta::assert_snapshot!(told(&events), @r#"
    {"type":"start"}
    {"type":"text_start","contentIndex":0}
    {"type":"text_delta","contentIndex":0,"delta":"Well"}
    {"type":"text_end","contentIndex":0,"content":"Well"}
    {"type":"error","reason":"error"}
    "#);
    assert_eq!(message.text(), "Well");
    assert_eq!(message.error.unwrap().kind, ErrorKind::Overloaded);
    assert_eq!(message.usage.input, 7);
    insta::assert_snapshot!(message.error_message.unwrap(), @"anthropic cannot serve model-1 right now: Overloaded");
}

#[tokio::test]
async fn reasons_to_stop() {
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}"#;
    for (reason, expect) in [
        ("end_turn", StopReason::Stop),
        ("stop_sequence", StopReason::Stop),
        ("pause_turn", StopReason::Stop),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("tool_use", StopReason::Stop),
        ("something_new", StopReason::Stop),
    ] {
        let (_, message) = answer(unnamed(&[START, block, &stopped(reason), STOP])).await;
        assert_eq!(message.stop_reason, expect, "{reason}");
    }
    let (_, message) = answer(unnamed(&[START, block, &stopped("refusal"), STOP])).await;
    assert_eq!(message.error.unwrap().kind, ErrorKind::Refused);
}

#[tokio::test]
async fn a_call_cut_off_by_the_limit_is_marked() {
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"bash","input":{}}}"#;
    let part = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"rm -rf bu"}}"#;
    let (_, message) = answer(unnamed(&[START, call, part, &stopped("max_tokens"), STOP])).await;
    let call = message.tool_calls().next().unwrap();
    assert_eq!(call.invalid_arguments.as_deref(), Some(r#"{"command":"rm -rf bu"#));
    assert_eq!(message.stop_reason, StopReason::Length);
}

#[tokio::test]
async fn arguments_may_come_with_the_start() {
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"read","input":{"path":"a"}}}"#;
    let end = r#"{"type":"content_block_stop","index":0}"#;
    let (_, message) = answer(unnamed(&[START, call, end, &stopped("end_turn"), STOP, "[DONE]"])).await;
    assert_eq!(message.tool_calls().next().unwrap().arguments["path"], "a");
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

#[tokio::test]
async fn two_calls_with_one_id_stay_two() {
    let call = |index| {
        format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"t","name":"read","input":{{}}}}}}"#
        )
    };
    let (_, message) = answer(unnamed(&[START, &call(0), &call(1), &stopped("tool_use"), STOP])).await;
    let ids: Vec<_> = message.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["t", "t_2"]);
}

#[tokio::test]
async fn unknown_events_and_blocks_are_passed_over() {
    let odd = r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#;
    let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#;
    let text = r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"ok"}}"#;
    let lines = [START, r#"{"type":"new_thing","x":1}"#, odd, delta, text, &stopped("end_turn"), STOP];
    let (_, message) = answer(unnamed(&lines)).await;
    assert_eq!(message.content, [Content::text("ok")]);
}

#[tokio::test]
async fn what_is_no_whole_answer_is_an_error() {
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}"#;
    let stray = r#"{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"x"}}"#;
    for (lines, words) in [
        (vec![START, block], "no `message_stop`"),
        (vec![START, block, "{\"type\":\"content_block_delta\",\"ind"], "cannot be read"),
        (vec![START, stray], "never started"),
        (vec![START, "not json"], "cannot be read"),
        (vec![r#"{"type":"message_start","message":{"id":"m"}}"#, STOP], "gave an empty answer"),
    ] {
        let (_, message) = answer(unnamed(&lines)).await;
        let error = message.error.unwrap();
        assert_eq!(error.kind, ErrorKind::Protocol, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn the_request_as_it_travels() {
    let server = Server::start(Reply::events(TEXT)).await;
    let base = format!("{}/v1/", server.base_url);
    ask(&providers(&[]), request(model(Api::AnthropicMessages, "anthropic", &base))).await;
    let received = &server.requests()[0];
    assert!(received.head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{}", received.head);
    for line in ["x-api-key: test-key-sesame", "anthropic-version: 2023-06-01", "content-type: application/json"] {
        assert!(received.head.contains(line), "{line} in {}", received.head);
    }
    insta::assert_snapshot!(received.body, @r#"{"model":"model-1","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"read","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Read a.txt.","cache_control":{"type":"ephemeral"}}]}]}"#);
}
