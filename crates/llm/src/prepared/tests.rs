//! Tests of colliding IDs, image formats, and conversations without a beginning.

use super::*;
use crate::auth::Credential;
use crate::wire::{sample, wire_for};
use omp_types::{AssistantMessage, StopReason, ToolResultMessage};
use serde_json::Value;

const APIS: [Api; 4] = [Api::AnthropicMessages, Api::OpenaiCompletions, Api::OpenaiResponses, Api::GoogleGenerativeAi];

/// A GIF of one pixel.
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/// A PNG of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Creates an answer of a model with calls of these IDs, and their results.
fn exchange(model: &Model, ids: &[&str]) -> Vec<Message> {
    let mut answer = AssistantMessage::empty(model.api.clone(), &model.provider, &model.id);
    answer.stop_reason = StopReason::ToolUse;
    answer.content = ids.iter().map(|id| Content::ToolCall(sample::call(id, "a"))).collect();
    let results = ids.iter().enumerate().map(|(number, id)| {
        let call = ToolCall { id: (*id).into(), name: "read".into(), ..ToolCall::default() };
        Message::ToolResult(ToolResultMessage {
            content: vec![Content::text(format!("result {number}"))],
            is_error: false,
            ..ToolResultMessage::error(&call, "")
        })
    });
    std::iter::once(Message::Assistant(answer)).chain(results).collect()
}

fn ids(request: &Request) -> Vec<String> {
    let of = |message: &Arc<Message>| match &**message {
        Message::Assistant(answer) => answer.tool_calls().map(|call| call.id.clone()).collect(),
        Message::ToolResult(result) => vec![format!("={}", result.tool_call_id)],
        _ => Vec::new(),
    };
    request.messages.iter().flat_map(of).collect()
}

fn prepared(request: &Request) -> Request {
    Preparation::default().of(request).into_owned()
}

#[test]
fn ids_that_meet_are_told_apart_and_results_follow() {
    let model = sample::model(Api::OpenaiCompletions);
    let mut messages = vec![sample::user("go")];
    for calls in [&["call_0", "call_0"][..], &["call_0"], &["call_0_2"], &["a|fc_1"], &["a|fc_2"], &["", ""]] {
        messages.extend(exchange(&model, calls));
    }
    let request = sample::request(model.clone(), messages.clone());
    let expect = [
        "call_0",
        "call_0_2",
        "=call_0",
        "=call_0_2",
        "call_0_3",
        "=call_0_3",
        "call_0_2_2",
        "=call_0_2_2",
        "a|fc_1",
        "=a|fc_1",
        "a_2",
        "=a_2",
        "",
        "_2",
        "=",
        "=_2",
    ];
    assert_eq!(ids(&prepared(&request)), expect);
    // Later messages do not change what was sent before.
    for end in 1..messages.len() {
        let shorter = prepared(&sample::request(model.clone(), messages[..end].to_vec()));
        let sent = ids(&shorter);
        assert_eq!(sent, expect[..sent.len()]);
    }
    let mut messages = vec![sample::user("go")];
    messages.extend(exchange(&model, &["a", "b"]));
    let fine = sample::request(model.clone(), messages);
    assert!(matches!(Preparation::default().of(&fine), Cow::Borrowed(_)));
}

/// Returns the IDs of calls and results as a wire API writes them, in order.
fn written(api: &Api, body: &Value) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    match api {
        Api::AnthropicMessages => {
            for block in list(&body["messages"]).iter().flat_map(|turn| list(&turn["content"])) {
                match block["type"].as_str() {
                    Some("tool_use") => calls.push(text(&block["id"])),
                    Some("tool_result") => results.push(text(&block["tool_use_id"])),
                    _ => {}
                }
            }
        }
        Api::OpenaiCompletions => {
            for message in list(&body["messages"]) {
                calls.extend(list(&message["tool_calls"]).iter().map(|call| text(&call["id"])));
                results.extend(message.get("tool_call_id").map(text));
            }
        }
        Api::OpenaiResponses => {
            for item in list(&body["input"]) {
                match item["type"].as_str() {
                    Some("function_call") => calls.push(text(&item["call_id"])),
                    Some("function_call_output") => results.push(text(&item["call_id"])),
                    _ => {}
                }
            }
        }
        _ => {
            for part in list(&body["contents"]).iter().flat_map(|content| list(&content["parts"])) {
                calls.extend(part.get("functionCall").map(|call| text(&call["id"])));
                results.extend(part.get("functionResponse").map(|result| text(&result["id"])));
            }
        }
    }
    (calls, results)
}

#[test]
fn every_wire_pairs_the_calls_of_every_other() {
    // IDs as each wire API creates them; the last two are sent by servers that count from zero.
    let made = ["toolu_01A", "call_abc", "call_abc|fc_1", "call_abc|fc_2", "functions.read:0", "", "call_0", "call_0"];
    for to in APIS {
        let base_url = match to {
            Api::GoogleGenerativeAi => "https://generativelanguage.googleapis.com/v1beta",
            _ => "https://llm.example.com/v1",
        };
        let model = Model { base_url: base_url.into(), ..sample::model(to.clone()) };
        let mut messages = vec![sample::user("go")];
        for (number, id) in made.iter().enumerate() {
            let from = Model { id: format!("m-{number}"), ..sample::model(APIS[number % 4].clone()) };
            messages.extend(exchange(&from, &[id, id, &"x".repeat(80 + number)]));
        }
        let request = prepared(&sample::request(model, messages));
        let call = wire_for(&to).unwrap().encode(&request, &Credential::None).unwrap();
        let (calls, results) = written(&to, &serde_json::from_slice(&call.body).unwrap());
        assert_eq!(calls.len(), made.len() * 3);
        assert_eq!(calls, results, "{to:?}: each result has the id of its call");
        let mut different = calls.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), calls.len(), "{to:?}: {calls:?}");
        let limit = if to == Api::OpenaiCompletions { 40 } else { 64 };
        let fits = |id: &String| {
            !id.is_empty()
                && id.len() <= limit
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        };
        assert!(calls.iter().all(fits), "{to:?}: {calls:?}");
    }
}

fn shown(api: Api, base_url: &str, data: &str, mime_type: &str) -> String {
    let model = Model { base_url: base_url.into(), ..sample::model(api) };
    let image = Content::Image(ImageContent { data: data.into(), mime_type: mime_type.into() });
    let request = sample::request(model, vec![sample::result("c", vec![image])]);
    let preparation = Preparation::default();
    let (once, again) = (preparation.of(&request).into_owned(), preparation.of(&request).into_owned());
    let content = |request: &Request| content_of(&request.messages[0]).unwrap()[0].clone();
    assert_eq!(content(&once), content(&again));
    match content(&once) {
        Content::Image(image) if image.data == data => format!("same {}", image.mime_type),
        Content::Image(image) => format!("new {}", image.mime_type),
        other => other.as_text().unwrap_or_default().to_owned(),
    }
}

#[test]
fn pictures_are_sent_as_the_server_takes_them() {
    let far = "https://llm.example.com/v1";
    assert_eq!(shown(Api::AnthropicMessages, far, GIF, "image/gif"), "same image/gif");
    assert_eq!(shown(Api::GoogleGenerativeAi, far, GIF, "image/gif"), "new image/png");
    assert_eq!(shown(Api::OpenaiResponses, far, GIF, "image/gif"), "new image/png");
    for api in APIS {
        assert_eq!(shown(api.clone(), far, PNG, "image/png"), "same image/png");
        assert_eq!(shown(api.clone(), "http://127.0.0.1:1/v1", PNG, "image/jpeg"), "same image/png");
        assert!(shown(api, far, "aGk=", "image/png").contains("left out because it is not an image"));
    }
}

#[test]
fn a_model_that_takes_no_pictures_is_left_to_its_wire() {
    let model = Model { input: vec![InputKind::Text], ..sample::model(Api::OpenaiCompletions) };
    let image = Content::Image(ImageContent { data: "aGk=".into(), mime_type: "image/png".into() });
    let request = sample::request(model, vec![sample::result("c", vec![image])]);
    assert!(matches!(Preparation::default().of(&request), Cow::Borrowed(_)));
}

#[test]
fn a_conversation_begins_with_a_person() {
    let model = sample::model(Api::AnthropicMessages);
    let request = sample::request(model.clone(), exchange(&model, &["a"]));
    let prepared = prepared(&request);
    assert_eq!(prepared.messages.len(), request.messages.len() + 1);
    let Message::User(first) = &*prepared.messages[0] else { panic!("{:?}", prepared.messages[0]) };
    assert_eq!(first.content, [Content::text(NO_BEGINNING)]);
}
