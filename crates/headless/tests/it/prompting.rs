//! Prompts, messages while the model works, and aborts.

use omp_headless::Exit;
use omp_testkit::{Gate, ScriptedLlm, Turn};
use serde_json::json;

use crate::client::{Rpc, TestHost, outline};

#[tokio::test]
async fn a_prompt_is_acknowledged_then_told() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("Hello.").thinking("hm")])).await;
    let mut frames = rpc.until("available_commands_update").await;
    rpc.send(&json!({"id": "1", "type": "prompt", "message": "hi"}));
    frames.extend(rpc.until("agent_end").await);
    insta::assert_snapshot!(outline(&frames).join("\n"), @"
    ready
    available_commands_update
    response prompt ok 1
    agent_start
    turn_start
    message_start user
    message_end user
    message_start assistant
    message_update thinking_start
    message_update thinking_delta
    message_update thinking_end
    message_update text_start
    message_update text_delta
    message_update text_end
    message_end assistant
    spent
    turn_end
    agent_end
    ");
    let (rest, exit) = rpc.finish().await;
    assert_eq!((rest, exit), (vec![], Exit::Success));
}

#[tokio::test]
async fn while_the_model_works_a_prompt_needs_a_behaviour() {
    let gate = Gate::new();
    let turns = [Turn::text("One."), Turn::text("Two."), Turn::text("Three.")];
    let mut rpc = Rpc::start(TestHost::with(ScriptedLlm::new(turns).gated(&gate))).await;
    rpc.send(&json!({"id": "1", "type": "prompt", "message": "a"}));
    rpc.until("agent_start").await;
    rpc.send(&json!({"id": "2", "type": "prompt", "message": "b"}));
    let refused = rpc.until("response").await;
    let late = rpc.until("response").await;
    insta::assert_snapshot!(outline(&[&refused[refused.len() - 1..], &late[late.len() - 1..]].concat()).join("\n"), @r#"
    response prompt ok 2
    response prompt failed 2: "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion."
    "#);
    rpc.ask(json!({"type": "prompt", "message": "c", "streamingBehavior": "followUp"})).await;
    rpc.ask(json!({"type": "prompt", "message": "d", "streamingBehavior": "steer"})).await;
    let state = rpc.ask(json!({"type": "get_state"})).await;
    assert_eq!((&state["data"]["isStreaming"], &state["data"]["queuedMessageCount"]), (&json!(true), &json!(2)));
    gate.open();
    rpc.until("agent_end").await;
    let messages = rpc.ask(json!({"type": "get_messages"})).await;
    let said: Vec<_> =
        messages["data"]["messages"].as_array().unwrap().iter().map(|it| &it["content"][0]["text"]).collect();
    assert_eq!(said, ["a", "One.", "d", "Two.", "c", "Three."]);
}

#[tokio::test]
async fn abort_answers_when_the_run_is_over_and_the_next_prompt_is_free() {
    let gate = Gate::new();
    let turns = [Turn::text("One."), Turn::text("Two."), Turn::text("Three.")];
    let mut rpc = Rpc::start(TestHost::with(ScriptedLlm::new(turns).gated(&gate))).await;
    rpc.send(&json!({"type": "prompt", "message": "a"}));
    gate.blocked().await;
    rpc.send(&json!({"id": "x", "type": "abort"}));
    let frames = outline(&rpc.until("agent_end").await);
    assert!(!frames.iter().any(|frame| frame.starts_with("response abort")), "{frames:?}");
    assert_eq!(outline(&rpc.until("response").await), ["response abort ok x"]);

    rpc.send(&json!({"type": "prompt", "message": "b"}));
    rpc.until("agent_start").await;
    rpc.send(&json!({"id": "y", "type": "abort_and_prompt", "message": "c"}));
    let frames = outline(&rpc.until("agent_end").await);
    assert!(!frames.iter().any(|frame| frame.contains("abort_and_prompt")), "{frames:?}");
    gate.open();
    let frames = outline(&rpc.until("agent_end").await);
    assert_eq!(frames[..2], ["response abort_and_prompt ok y", "agent_start"]);
    assert_eq!(rpc.ask(json!({"type": "get_last_assistant_text"})).await["data"]["text"], "Three.");
}

#[tokio::test]
async fn a_message_that_was_not_delivered_is_told() {
    let gate = Gate::new();
    let turns = [Turn::text("One."), Turn::text("Two.")];
    let mut rpc = Rpc::start(TestHost::with(ScriptedLlm::new(turns).gated(&gate))).await;
    rpc.send(&json!({"type": "prompt", "message": "a"}));
    gate.blocked().await;
    assert_eq!(rpc.ask(json!({"type": "follow_up", "message": "b"})).await["success"], true);
    rpc.send(&json!({"type": "abort"}));
    let notice = rpc.until("notice").await.pop().unwrap();
    assert_eq!(notice["source"], "session");
    assert_eq!(notice["message"], "1 queued message was not delivered: the run it was meant for has ended");
}

#[tokio::test]
async fn steering_an_idle_session_makes_it_work() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One."), Turn::text("Two.")])).await;
    assert_eq!(rpc.ask(json!({"type": "steer", "message": "a"})).await["success"], true);
    rpc.until("agent_end").await;
    assert_eq!(rpc.ask(json!({"type": "follow_up", "message": "b"})).await["success"], true);
    rpc.until("agent_end").await;
    let again = rpc.ask(json!({"type": "steer"})).await;
    assert_eq!(again["error"], "Invalid steer command: missing field `message`");
}

#[tokio::test]
async fn slash_commands_answer_for_themselves() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("Heard.")])).await;
    rpc.until("available_commands_update").await;
    let mut frames = Vec::new();
    for (id, message) in [("1", "/echo two words"), ("2", "/echo fail"), ("3", "/echo")] {
        rpc.send(&json!({"id": id, "type": "prompt", "message": message}));
        frames.extend(rpc.until("response").await);
    }
    frames.extend(rpc.until("agent_end").await);
    let frames = outline(&frames);
    insta::assert_snapshot!(frames[..5].join("\n"), @r#"
    command_output {"type":"command_output","text":"two words"}
    response prompt ok 1: {"agentInvoked":false}
    response prompt failed 2: "it failed"
    response prompt ok 3
    agent_start
    "#);
    assert_eq!(rpc.host.llm.requests().len(), 1);
}

#[tokio::test]
async fn a_slash_command_can_ask_again_and_go_over_to_another_session() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One."), Turn::text("Two.")])).await;
    rpc.until("available_commands_update").await;
    rpc.send(&json!({"id": "1", "type": "prompt", "message": "/echo again"}));
    let answer = rpc.until("response").await.pop().unwrap();
    assert_eq!(answer["success"], true, "{answer}");
    rpc.send(&json!({"id": "2", "type": "prompt", "message": "/echo elsewhere"}));
    let answer = loop {
        let frame = rpc.until("response").await.pop().unwrap();
        if frame["id"] == "2" {
            break frame;
        }
    };
    assert_eq!(answer["data"], json!({"agentInvoked": false}), "{answer}");
    assert_eq!(*rpc.host.wishes.lock().unwrap(), ["New", "New"], "the first is the one that omp began with");
    rpc.send(&json!({"id": "3", "type": "prompt", "message": "hello"}));
    rpc.until("agent_end").await;
}

#[tokio::test]
async fn closing_the_input_ends_the_work_and_saves_it() {
    let gate = Gate::new();
    let mut rpc = Rpc::start(TestHost::with(ScriptedLlm::new([Turn::text("Never.")]).gated(&gate))).await;
    rpc.send(&json!({"type": "prompt", "message": "kept"}));
    gate.blocked().await;
    let host = rpc.host.clone();
    let (rest, exit) = rpc.finish().await;
    assert_eq!(exit, Exit::Success);
    assert!(outline(&rest).contains(&"agent_end".to_owned()));
    let mut files = std::fs::read_dir(host.workspace.agent_dir()).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|it| it == "jsonl")).unwrap();
    assert!(std::fs::read_to_string(file).unwrap().contains("kept"));
}
