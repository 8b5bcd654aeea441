//! Tests of answers that are one JSON document although a stream was requested.

use omp_types::{Api, AssistantMessage, Content, StopReason};
use serde_json::{Value, json};

use crate::server::Reply;
use crate::talk::answer_to;

const WIRES: [(Api, &str); 4] = [
    (Api::AnthropicMessages, "anthropic"),
    (Api::OpenaiCompletions, "openai"),
    (Api::OpenaiResponses, "openai"),
    (Api::GoogleGenerativeAi, "google"),
];

fn thinks_says_and_calls(api: &Api) -> Value {
    match api {
        Api::AnthropicMessages => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
                {"type": "text", "text": "Reading."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.txt"}},
                {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}},
            ],
            "usage": {"input_tokens": 80, "output_tokens": 9, "cache_read_input_tokens": 20},
        }),
        Api::OpenaiCompletions => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "logprobs": null, "message": {
                "role": "assistant", "reasoning_content": "Hm.", "content": "Reading.", "refusal": null, "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.txt\"}"}},
                    {"id": "call_2", "type": "function", "function": {"name": "list", "arguments": "{}"}},
                ]}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109,
                      "prompt_tokens_details": {"cached_tokens": 20}},
        }),
        Api::OpenaiResponses => json!({
            "id": "resp_1", "object": "response", "status": "completed", "error": null, "incomplete_details": null,
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}],
                 "encrypted_content": "x"},
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                 "content": [{"type": "output_text", "text": "Reading.", "annotations": []}]},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read",
                 "arguments": "{\"path\":\"a.txt\"}", "status": "completed"},
                {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "list", "arguments": "{}",
                 "status": "completed"},
            ],
            "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 9,
                      "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 109},
        }),
        _ => json!({
            "responseId": "r1", "modelVersion": "m",
            "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
                {"text": "Hm.", "thought": true},
                {"text": "Reading."},
                {"functionCall": {"id": "c1", "name": "read", "args": {"path": "a.txt"}}, "thoughtSignature": "sig"},
                {"functionCall": {"id": "c2", "name": "list", "args": {}}},
            ]}}],
            "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 20, "candidatesTokenCount": 7,
                              "thoughtsTokenCount": 2, "totalTokenCount": 109},
        }),
    }
}

fn told(message: &AssistantMessage) -> String {
    let blocks = message.content.iter().map(|block| match block {
        Content::Thinking(block) => format!("thinks {}", block.thinking),
        Content::Text(block) => format!("says {}", block.text),
        Content::ToolCall(call) => format!("calls {} {}", call.name, Value::Object(call.arguments.clone())),
        other => format!("{other:?}"),
    });
    blocks.collect::<Vec<_>>().join(", ")
}

async fn answer(api: &Api, provider: &str, content_type: &str, body: &[u8]) -> AssistantMessage {
    answer_to(api.clone(), provider, Reply::status(200, content_type, &[], body)).await.1
}

#[tokio::test]
async fn a_whole_answer_is_taken_on_every_wire() {
    for (api, provider) in WIRES {
        let body = thinks_says_and_calls(&api).to_string();
        let pretty = serde_json::to_string_pretty(&thinks_says_and_calls(&api)).unwrap();
        for (content_type, body) in [
            ("application/json", body.clone()),
            ("application/json; charset=utf-8", format!("\n  {pretty}\n")),
            ("text/event-stream", body.clone()),
            ("text/plain", format!("\u{feff}{body}")),
        ] {
            let message = answer(&api, provider, content_type, body.as_bytes()).await;
            assert_eq!(message.error, None, "{api:?} {content_type}");
            let expect = r#"thinks Hm., says Reading., calls read {"path":"a.txt"}, calls list {}"#;
            assert_eq!(told(&message), expect, "{api:?} {content_type}");
            assert_eq!(message.stop_reason, StopReason::ToolUse, "{api:?}");
            let usage = message.usage;
            assert_eq!((usage.input, usage.cache_read, usage.output), (80, 20, 9), "{api:?}");
            assert!(message.response_id.is_some(), "{api:?}");
        }
    }
}

#[tokio::test]
async fn gemini_answers_with_a_list_when_it_does_not_stream() {
    let parts = json!([
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hel"}]}}], "responseId": "r"},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "lo"}]}, "finishReason": "MAX_TOKENS"}],
         "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}},
    ]);
    let message =
        answer(&Api::GoogleGenerativeAi, "google", "application/json; charset=UTF-8", parts.to_string().as_bytes())
            .await;
    assert_eq!((told(&message).as_str(), message.stop_reason), ("says Hello", StopReason::Length));
}

#[tokio::test]
async fn what_ends_early_or_says_nothing_is_no_answer() {
    for (api, provider) in WIRES {
        let whole = thinks_says_and_calls(&api).to_string();
        for body in
            [&whole[..whole.len() / 2], "{}", "[]", "{\"error\": {\"message\": \"no\"}}", "{\"detail\": \"Not Found\"}"]
        {
            let message = answer(&api, provider, "application/json", body.as_bytes()).await;
            assert!(message.failed(), "{api:?} {body}: {}", told(&message));
        }
    }
}
