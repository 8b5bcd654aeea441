//! The parts of the protocol besides commands and responses: images, retries, queues, dialogs without a receiver.

use omp_testkit::{Gate, Reply, ScriptedLlm, Turn};
use omp_types::{Content, ErrorKind, Message, ModelError};
use serde_json::{Value, json};

use crate::client::{Rpc, TestHost, outline};

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg+M8AAAICAQB7CYF4AAAAAElFTkSuQmCC";

/// Returns the content of the last message of a request: texts as they are, images by their type.
fn last_said(rpc: &Rpc) -> Vec<String> {
    let request = rpc.host.llm.requests().pop().unwrap();
    let Some(Message::User(user)) = request.messages.iter().rev().find_map(|message| match &**message {
        user @ Message::User(_) => Some(user),
        _ => None,
    }) else {
        panic!("nothing was said")
    };
    let described = |content: &Content| match content {
        Content::Image(image) => format!("<{} {}>", image.mime_type, image.data),
        other => other.as_text().unwrap_or("?").to_owned(),
    };
    user.content.iter().map(described).collect()
}

#[tokio::test]
async fn every_message_may_carry_images() {
    let mut rpc = Rpc::start(TestHost::new(["One.", "Two.", "Three.", "Four.", "Five."].map(Turn::text))).await;
    let image = json!([{"type": "image", "data": PIXEL, "mimeType": "image/png"}]);
    for command in ["prompt", "steer", "follow_up", "abort_and_prompt"] {
        rpc.send(&json!({"type": command, "message": command, "images": image}));
        rpc.until("agent_end").await;
        assert_eq!(last_said(&rpc), [command.to_owned(), format!("<image/png {PIXEL}>")]);
    }
    // The prompt that a slash command sends instead keeps the images.
    rpc.send(&json!({"type": "prompt", "message": "/echo", "images": image}));
    rpc.until("agent_end").await;
    assert_eq!(last_said(&rpc), ["echo!".to_owned(), format!("<image/png {PIXEL}>")]);
    for images in [json!("x"), json!([{"type": "image"}])] {
        let refused = rpc.ask(json!({"type": "prompt", "message": "x", "images": images})).await;
        assert!(refused["error"].as_str().unwrap().starts_with("Invalid prompt command: "), "{refused}");
    }
}

fn overloaded() -> Reply {
    ModelError::new(ErrorKind::Overloaded, "busy").into()
}

fn retries(frames: &[Value]) -> Vec<&Value> {
    frames.iter().filter(|frame| frame["type"].as_str().unwrap().starts_with("auto_retry_")).collect()
}

#[tokio::test]
async fn retries_are_told_and_can_be_switched_off() {
    let mut rpc = Rpc::start(TestHost::new([overloaded(), Turn::text("Now.").into(), overloaded()])).await;
    rpc.send(&json!({"id": "1", "type": "prompt", "message": "hi"}));
    let frames = rpc.until("auto_retry_end").await;
    let told = retries(&frames);
    let start = json!({"type": "auto_retry_start", "attempt": 1, "maxAttempts": told[0]["maxAttempts"],
        "delayMs": told[0]["delayMs"], "errorMessage": "busy"});
    assert_eq!(told, [&start, &json!({"type": "auto_retry_end", "success": true, "attempt": 1})]);
    assert_eq!(rpc.ask(json!({"type": "get_last_assistant_text"})).await["data"]["text"], "Now.");
    rpc.ask(json!({"type": "set_auto_retry", "enabled": false})).await;
    rpc.send(&json!({"type": "prompt", "message": "again"}));
    let frames = rpc.until("agent_end").await;
    assert_eq!(retries(&frames), [&Value::Null; 0]);
}

#[tokio::test]
async fn after_a_retry_was_given_up_the_session_is_idle_and_works_on() {
    let wait = std::time::Duration::from_secs(60);
    let refused = ModelError { retry_after: Some(wait), ..ModelError::new(ErrorKind::RateLimit, "slow down") };
    let mut rpc = Rpc::start(TestHost::new([refused.into(), Reply::from(Turn::text("Now."))])).await;
    rpc.send(&json!({"type": "prompt", "message": "hi"}));
    rpc.until("auto_retry_start").await;
    rpc.send(&json!({"type": "abort_retry"}));
    rpc.until("auto_retry_end").await;
    let ended = rpc.until("agent_end").await;
    assert_eq!(ended.last().unwrap()["isTerminal"], true, "{ended:?}");
    rpc.send(&json!({"type": "prompt", "message": "again"}));
    let frames = rpc.until("agent_end").await;
    assert!(frames.iter().any(|frame| frame.to_string().contains("Now.")), "{frames:?}");
    assert_eq!(rpc.ask(json!({"type": "get_state"})).await["data"]["isStreaming"], false);
}

/// One at a time by default, all at once if that was set.
#[tokio::test]
async fn queued_messages_are_delivered_as_their_mode_says() {
    for (mode, expect) in
        [("one-at-a-time", vec!["a", "One.", "b", "Two.", "c", "Three."]), ("all", vec!["a", "One.", "b", "c", "Two."])]
    {
        for command in ["steer", "follow_up"] {
            let gate = Gate::new();
            let turns = ["One.", "Two.", "Three."].map(Turn::text);
            let mut rpc = Rpc::start(TestHost::with(ScriptedLlm::new(turns).gated(&gate))).await;
            let set = if command == "steer" { "set_steering_mode" } else { "set_follow_up_mode" };
            assert_eq!(rpc.ask(json!({"type": set, "mode": mode})).await["success"], true);
            rpc.send(&json!({"type": "prompt", "message": "a"}));
            gate.blocked().await;
            rpc.ask(json!({"type": command, "message": "b"})).await;
            rpc.ask(json!({"type": command, "message": "c"})).await;
            gate.open();
            rpc.until("agent_end").await;
            let messages = rpc.ask(json!({"type": "get_messages"})).await["data"]["messages"].take();
            let said: Vec<_> = messages.as_array().unwrap().iter().map(|it| &it["content"][0]["text"]).collect();
            assert_eq!(said, expect, "{command} {mode}");
        }
    }
}

/// `id` is any value of the client; a missing one is not replaced, and blank lines are ignored.
#[tokio::test]
async fn answers_carry_the_id_of_their_command() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("x")])).await;
    rpc.until("available_commands_update").await;
    let mut told = Vec::new();
    for line in [r#"{"type":"abort"}"#, "  ", r#"{"id":"ü\"1","type":"abort"}"#, "{\"id\":null,\"type\":\"abort\"}\r"]
    {
        rpc.send_line(line);
        if !line.trim().is_empty() {
            told.push(rpc.next().await.to_string());
        }
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"type":"response","command":"abort","success":true}
    {"id":"ü\"1","type":"response","command":"abort","success":true}
    {"type":"response","command":"abort","success":true}
    "#);
}

#[tokio::test]
async fn answers_to_dialogs_that_are_not_open_are_ignored() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("x")])).await;
    rpc.until("available_commands_update").await;
    for response in
        [json!({"id": "ui_9", "value": "x"}), json!({"id": 7}), json!({}), json!({"id": "ui_1", "confirmed": 1})]
    {
        let mut response = response;
        response["type"] = "extension_ui_response".into();
        rpc.send(&response);
    }
    rpc.send(&json!({"id": "q", "type": "abort"}));
    assert_eq!(outline(&[rpc.next().await]), ["response abort ok q"]);
}
