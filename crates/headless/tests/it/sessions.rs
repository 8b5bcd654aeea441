//! Switching to other sessions.

use std::time::Duration;

use omp_testkit::{Effort, Gate, ScriptedLlm, Turn};
use serde_json::{Value, json};

use crate::client::{Rpc, TestHost, outline};

async fn state(rpc: &mut Rpc) -> Value {
    rpc.ask(json!({"type": "get_state"})).await["data"].take()
}

#[tokio::test]
async fn sessions_can_be_left_and_taken_up_again() {
    let turns = [Turn::text("One."), Turn::text("Two."), Turn::text("Three.")];
    let mut rpc = Rpc::start(TestHost::new(turns)).await;
    rpc.prompt("a").await;
    let first = state(&mut rpc).await;
    rpc.send(&json!({"id": "n", "type": "new_session"}));
    let frames = rpc.until("response").await;
    assert_eq!(outline(&frames), ["available_commands_update", r#"response new_session ok n: {"cancelled":false}"#]);
    assert_eq!(state(&mut rpc).await["messageCount"], 0);
    rpc.prompt("b").await;
    let switched = rpc.ask(json!({"type": "switch_session", "sessionPath": first["sessionFile"]})).await;
    assert_eq!(switched["data"], json!({"cancelled": false}));
    let again = state(&mut rpc).await;
    assert_eq!((&again["sessionId"], &again["messageCount"]), (&first["sessionId"], &json!(2)));
    rpc.ask(json!({"type": "switch_session", "sessionPath": first["sessionFile"]})).await;
    rpc.prompt("c").await;
    assert_eq!(rpc.ask(json!({"type": "get_last_assistant_text"})).await["data"]["text"], "Three.");
    assert_eq!(*rpc.host.wishes.lock().unwrap(), ["New", "New", "Resume"]);
}

#[tokio::test]
async fn a_session_that_cannot_be_opened_leaves_this_one_as_it_is() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One."), Turn::text("Two.")])).await;
    rpc.prompt("a").await;
    let refused = rpc.ask(json!({"type": "switch_session", "sessionPath": "/nowhere.jsonl"})).await;
    assert!(refused["error"].as_str().unwrap().contains("/nowhere.jsonl"), "{refused}");
    rpc.prompt("b").await;
    assert_eq!(state(&mut rpc).await["messageCount"], 4);
}

#[tokio::test]
async fn a_new_session_ends_what_the_old_one_does() {
    let gate = Gate::new();
    let mut rpc = Rpc::start(TestHost::with(ScriptedLlm::new([Turn::text("One.")]).gated(&gate))).await;
    rpc.send(&json!({"type": "prompt", "message": "a"}));
    gate.blocked().await;
    rpc.send(&json!({"type": "bash", "command": "wait"}));
    rpc.send(&json!({"id": "n", "type": "new_session"}));
    rpc.until("agent_end").await;
    let frames = rpc.until("available_commands_update").await;
    assert!(outline(&frames).len() <= 2, "{frames:?}");
    let state = state(&mut rpc).await;
    assert_eq!((&state["isStreaming"], &state["messageCount"]), (&json!(false), &json!(0)));
}

#[tokio::test]
async fn a_branch_begins_before_a_message_of_the_user() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One."), Turn::text("Two.")])).await;
    rpc.prompt("a").await;
    rpc.prompt("b").await;
    let points = rpc.ask(json!({"type": "get_branch_messages"})).await["data"]["messages"].take();
    let texts: Vec<_> = points.as_array().unwrap().iter().map(|point| &point["text"]).collect();
    assert_eq!(texts, ["a", "b"]);
    let refused = rpc.ask(json!({"type": "branch", "entryId": "nothing"})).await;
    assert_eq!(refused["error"], "Invalid entry ID for branching");
    let branched = rpc.ask(json!({"type": "branch", "entryId": points[1]["entryId"]})).await;
    assert_eq!(branched["data"], json!({"text": "b", "cancelled": false}));
    assert_eq!(state(&mut rpc).await["messageCount"], 2);
}

#[tokio::test]
async fn the_state_of_a_long_session_costs_no_more_than_that_of_a_short_one() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One.")])).await;
    let file = rpc.host.workspace.agent_dir().join("long.jsonl");
    let cwd = rpc.host.workspace.project();
    let mut text =
        json!({"type": "session", "version": 3, "id": "long", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": cwd})
            .to_string();
    for number in 0..100_000 {
        let parent = if number == 0 { Value::Null } else { format!("{:08x}", number - 1).into() };
        let id = format!("{number:08x}");
        let message = json!({"role": "user", "content": "word", "timestamp": 1});
        let entry = json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", "message": message});
        text.push_str(&format!("\n{entry}"));
    }
    text.push('\n');
    std::fs::write(&file, text).unwrap();
    let switched = rpc.ask(json!({"type": "switch_session", "sessionPath": file})).await;
    assert_eq!(switched["success"], true, "{switched}");
    let effort = Effort::begin();
    for _ in 0..50 {
        assert_eq!(state(&mut rpc).await["messageCount"], 100_000);
    }
    let each = effort.spent() / 50;
    assert!(each < Duration::from_millis(5), "{each:?}");
}

#[tokio::test]
async fn a_session_is_moved_when_it_was_let_go_of() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One."), Turn::text("Two.")])).await;
    rpc.prompt("a").await;
    let before = state(&mut rpc).await;
    let there = rpc.host.workspace.home();
    let moved = rpc.ask(json!({"type": "prompt", "message": format!("/echo move {}", there.display())})).await;
    assert_eq!(moved["data"], json!({"agentInvoked": false}), "{moved}");
    let after = state(&mut rpc).await;
    assert_eq!((&after["sessionId"], &after["messageCount"]), (&before["sessionId"], &json!(2)));
    assert_ne!(after["sessionFile"], before["sessionFile"]);
    assert!(!std::path::Path::new(before["sessionFile"].as_str().unwrap()).exists());
    rpc.prompt("b").await;
    assert_eq!(state(&mut rpc).await["messageCount"], 4);
    let ran = rpc.ask(json!({"type": "bash", "command": "x"})).await;
    assert_eq!(ran["data"]["workingDir"], there.to_str().unwrap());
    rpc.finish().await;
}

#[tokio::test]
async fn a_session_that_cannot_be_moved_is_taken_up_again() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One."), Turn::text("Two.")])).await;
    rpc.prompt("a").await;
    let before = state(&mut rpc).await;
    let refused = rpc.ask(json!({"type": "prompt", "message": "/echo move /nowhere/at/all"})).await;
    assert_eq!(refused["error"], "/nowhere/at/all is no folder");
    let after = state(&mut rpc).await;
    assert_eq!((&after["sessionFile"], &after["messageCount"]), (&before["sessionFile"], &json!(2)));
    rpc.prompt("b").await;
    assert_eq!(state(&mut rpc).await["messageCount"], 4);
    assert_eq!(*rpc.host.wishes.lock().unwrap(), ["New", "Move", "Resume"]);
}

#[tokio::test]
async fn without_a_session_another_can_be_opened() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One."), Turn::text("Two.")])).await;
    rpc.prompt("a").await;
    let file = state(&mut rpc).await["sessionFile"].as_str().unwrap().to_owned();
    let away = format!("{file}.away");
    std::fs::rename(&file, &away).unwrap();
    let refused = rpc.ask(json!({"type": "prompt", "message": "/echo move /nowhere/at/all"})).await;
    assert!(refused["error"].as_str().unwrap().contains("and it could not be opened again: "), "{refused}");
    for command in ["get_state", "prompt", "bash", "branch"] {
        let refused = rpc.ask(json!({"type": command, "message": "x", "command": "x", "entryId": "x"})).await;
        assert!(refused["error"].as_str().unwrap().starts_with("no session is open\nhint: "), "{refused}");
    }
    std::fs::rename(&away, &file).unwrap();
    assert_eq!(rpc.ask(json!({"type": "switch_session", "sessionPath": file})).await["success"], true);
    assert_eq!(state(&mut rpc).await["messageCount"], 2);
}
