//! One golden transcript for each group of commands.

use omp_testkit::{TokenCounts, Turn};
use serde_json::{Value, json};

use crate::client::{Rpc, TestHost, outline};

/// Returns the responses to commands, one line each, without values that change between runs.
async fn transcript(rpc: &mut Rpc, commands: &[Value]) -> String {
    let mut lines = Vec::new();
    for command in commands {
        let mut response = rpc.ask(command.clone()).await;
        redact(&mut response);
        lines.extend(outline(&[response]));
    }
    lines.join("\n")
}

fn redact(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "timestamp" | "duration" | "ttft" | "tokensPerSecond" => *value = 0.into(),
                    "sessionId" | "sessionFile" | "workingDir" | "entryId" | "responseId" => *value = "…".into(),
                    "model" if value.is_object() => *value = value["id"].take(),
                    _ => redact(value),
                }
            }
        }
        _ => {}
    }
}

fn one_answer() -> TestHost {
    let usage = TokenCounts { input: 100, output: 20, ..TokenCounts::default() };
    TestHost::new([Turn::text("Hello.").usage(usage)])
}

#[tokio::test]
async fn state() {
    let mut rpc = Rpc::start(one_answer()).await;
    let before = transcript(&mut rpc, &[json!({"type": "get_state"}), json!({"type": "get_session_stats"})]).await;
    insta::assert_snapshot!(before, @r#"
    response get_state ok q: {"model":"mock-model","thinkingLevel":"off","isStreaming":false,"isCompacting":false,"steeringMode":"one-at-a-time","followUpMode":"one-at-a-time","interruptMode":"immediate","sessionFile":"…","sessionId":"…","autoCompactionEnabled":true,"queuedMessageCount":0,"todoPhases":[],"fastModeEnabled":false,"tokensPerSecond":0,"fastModeActive":false,"messageCount":0,"systemPrompt":["You help."],"dumpTools":[],"contextUsage":{"tokens":2,"contextWindow":200000,"percent":0.001},"trusted":false,"undo":{"enabled":false}}
    response get_session_stats ok q: {"sessionFile":"…","sessionId":"…","userMessages":0,"assistantMessages":0,"toolCalls":0,"toolResults":0,"totalMessages":0,"tokens":{"input":0,"output":0,"reasoning":0,"cacheRead":0,"cacheWrite":0,"total":0},"cost":0,"premiumRequests":0}
    "#);
    rpc.prompt("hi").await;
    let after = [
        json!({"type": "set_session_name", "name": "  A name "}),
        json!({"type": "set_session_name", "name": " "}),
        json!({"type": "set_session_name"}),
        json!({"type": "get_state"}),
        json!({"type": "get_session_stats"}),
        json!({"type": "get_last_assistant_text"}),
    ];
    insta::assert_snapshot!(transcript(&mut rpc, &after).await, @r#"
    response set_session_name ok q
    response set_session_name failed q: "Session name cannot be empty"
    response set_session_name failed q: "Invalid set_session_name command: missing field `name`"
    response get_state ok q: {"model":"mock-model","thinkingLevel":"off","isStreaming":false,"isCompacting":false,"steeringMode":"one-at-a-time","followUpMode":"one-at-a-time","interruptMode":"immediate","sessionFile":"…","sessionId":"…","sessionName":"A name","autoCompactionEnabled":true,"queuedMessageCount":0,"todoPhases":[],"fastModeEnabled":false,"tokensPerSecond":0,"fastModeActive":false,"messageCount":2,"systemPrompt":["You help."],"dumpTools":[],"contextUsage":{"tokens":100,"contextWindow":200000,"percent":0.05},"trusted":false,"undo":{"enabled":false}}
    response get_session_stats ok q: {"sessionFile":"…","sessionId":"…","userMessages":1,"assistantMessages":1,"toolCalls":0,"toolResults":0,"totalMessages":2,"tokens":{"input":100,"output":20,"reasoning":0,"cacheRead":0,"cacheWrite":0,"total":120},"cost":0,"premiumRequests":0,"contextUsage":{"tokens":100,"contextWindow":200000,"percent":0.05}}
    response get_last_assistant_text ok q: {"text":"Hello."}
    "#);
}

#[tokio::test]
async fn models_and_thinking() {
    let mut rpc = Rpc::start(one_answer()).await;
    let commands = [
        json!({"type": "set_model", "provider": "mock", "modelId": "none"}),
        json!({"type": "set_model", "provider": 7}),
        json!({"type": "cycle_thinking_level"}),
        json!({"type": "cycle_model"}),
        json!({"type": "cycle_thinking_level"}),
        json!({"type": "set_thinking_level", "level": "high"}),
        json!({"type": "set_thinking_level", "level": "utmost"}),
        json!({"type": "set_fast_mode", "enabled": true}),
        json!({"type": "set_fast_mode", "enabled": false}),
    ];
    insta::assert_snapshot!(transcript(&mut rpc, &commands).await, @r#"
    response set_model failed q: "Model not found: mock/none"
    response set_model failed q: "Invalid set_model command: invalid type: integer `7`, expected a string"
    response cycle_thinking_level ok q: null
    response cycle_model ok q: {"model":"mock-2","thinkingLevel":"off","isScoped":false}
    response cycle_thinking_level ok q: {"level":"minimal"}
    response set_thinking_level ok q
    response set_thinking_level failed q: "unknown thinking level `utmost`; use off, minimal, low, medium, high or xhigh"
    response set_fast_mode failed q: "Fast mode is unavailable for the current model."
    response set_fast_mode ok q: {"enabled":false,"active":false}
    "#);
    let state = rpc.ask(json!({"type": "get_state"})).await["data"].take();
    assert_eq!((&state["model"]["id"], &state["thinkingLevel"]), (&json!("mock-2"), &json!("high")));
    let set = rpc.ask(json!({"type": "set_model", "provider": "mock", "modelId": "mock-model"})).await;
    assert_eq!(set["data"]["id"], "mock-model");
    let models = rpc.ask(json!({"type": "get_available_models"})).await;
    assert_eq!(models["data"]["models"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn queues_and_retry() {
    let mut rpc = Rpc::start(one_answer()).await;
    let commands = [
        json!({"type": "set_steering_mode", "mode": "all"}),
        json!({"type": "set_follow_up_mode", "mode": "all"}),
        json!({"type": "set_interrupt_mode", "mode": "wait"}),
        json!({"type": "set_steering_mode", "mode": "some"}),
        json!({"type": "set_interrupt_mode"}),
        json!({"type": "set_auto_retry", "enabled": false}),
        json!({"type": "abort_retry"}),
        json!({"type": "set_auto_compaction", "enabled": false}),
        json!({"type": "compact"}),
        json!({"type": "handoff"}),
    ];
    insta::assert_snapshot!(transcript(&mut rpc, &commands).await, @r#"
    response set_steering_mode ok q
    response set_follow_up_mode ok q
    response set_interrupt_mode ok q
    response set_steering_mode failed q: "Invalid set_steering_mode command: unknown variant `some`, expected `all` or `one-at-a-time`"
    response set_interrupt_mode failed q: "Invalid set_interrupt_mode command: missing field `mode`"
    response set_auto_retry ok q
    response abort_retry ok q
    response set_auto_compaction ok q
    response compact failed q: "Nothing to compact (session too small)"
    response handoff failed q: "Nothing to hand off (no messages yet)"
    "#);
    let state = rpc.ask(json!({"type": "get_state"})).await["data"].take();
    let seen = ["steeringMode", "followUpMode", "interruptMode", "autoCompactionEnabled"].map(|key| state[key].clone());
    assert_eq!(seen, [json!("all"), json!("all"), json!("wait"), json!(false)]);
}

#[tokio::test]
async fn bash_is_answered_and_recorded() {
    let mut rpc = Rpc::start(one_answer()).await;
    insta::assert_snapshot!(transcript(&mut rpc, &[json!({"type": "bash", "command": "x"}), json!({"type": "bash"})]).await, @r#"
    response bash ok q: {"exitCode":3,"cancelled":false,"workingDir":"…","output":"x\n","truncated":false,"totalLines":1,"totalBytes":2,"outputLines":1,"outputBytes":2}
    response bash failed q: "Invalid bash command: missing field `command`"
    "#);
    let much = rpc.ask(json!({"type": "bash", "command": "much"})).await;
    let expect = json!({"exitCode": 3, "cancelled": false, "workingDir": "/elsewhere", "output": "much\n", "truncated": true,
        "totalLines": 900, "totalBytes": 90_000, "outputLines": 1, "outputBytes": 5, "artifactId": "7"});
    assert_eq!(much["data"], expect);
    rpc.send(&json!({"id": "w", "type": "bash", "command": "wait"}));
    rpc.send(&json!({"id": "a", "type": "abort_bash"}));
    let both = [rpc.until("response").await.pop().unwrap(), rpc.until("response").await.pop().unwrap()];
    let waited = both.iter().find(|frame| frame["id"] == "w").unwrap();
    assert_eq!((&waited["data"]["cancelled"], waited["data"].get("exitCode")), (&json!(true), None));
    rpc.prompt("hi").await;
    let request = rpc.host.llm.requests().remove(0);
    let told = serde_json::to_value(&request.messages[0]).unwrap();
    assert!(told["content"][0]["text"].as_str().unwrap().contains("The user ran `x`:\nx\n"), "{told}");
    let mut files = std::fs::read_dir(rpc.host.workspace.agent_dir()).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|it| it == "jsonl")).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(
        text.contains(r#""role":"bashExecution","command":"x","output":"x\n","exitCode":3,"cancelled":false"#),
        "{text}"
    );
}

#[tokio::test]
async fn messages_come_in_pages() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("One."), Turn::text("Two.")])).await;
    rpc.prompt("a").await;
    rpc.prompt("b").await;
    let first = rpc.ask(json!({"type": "get_messages_page", "limit": 3})).await["data"].take();
    assert_eq!((first["messages"].as_array().unwrap().len(), &first["totalMessages"]), (3, &json!(4)));
    let last = rpc.ask(json!({"type": "get_messages_page", "cursor": first["nextCursor"]})).await["data"].take();
    assert_eq!((last["messages"].as_array().unwrap().len(), last.get("nextCursor")), (1, None));
    rpc.ask(json!({"type": "new_session"})).await;
    let commands = [
        json!({"type": "get_messages_page", "cursor": first["nextCursor"]}),
        json!({"type": "get_messages_page", "cursor": "%"}),
        json!({"type": "get_messages_page", "limit": 0}),
        json!({"type": "get_messages_page", "limit": 2.5}),
        json!({"type": "get_messages_page"}),
        json!({"type": "get_messages"}),
    ];
    insta::assert_snapshot!(transcript(&mut rpc, &commands).await, @r#"
    response get_messages_page failed q: "RPC message cursor is stale"
    response get_messages_page failed q: "Invalid RPC message cursor"
    response get_messages_page failed q: "RPC message page limit must be between 1 and 256"
    response get_messages_page failed q: "RPC message page limit must be between 1 and 256"
    response get_messages_page ok q: {"messages":[],"totalMessages":0}
    response get_messages ok q: {"messages":[]}
    "#);
}

#[tokio::test]
async fn todos_commands_and_what_is_not_there_yet() {
    let mut rpc = Rpc::start(one_answer()).await;
    let commands = [
        json!({"type": "get_available_commands"}),
        json!({"type": "set_todos", "phases": [{"name": "A", "tasks": []}]}),
        json!({"type": "set_todos", "phases": 7}),
        json!({"type": "negotiate_protocol", "protocolVersion": 3}),
        json!({"type": "negotiate_protocol", "protocolVersion": 2}),
        json!({"type": "set_host_uri_schemes", "schemes": []}),
        json!({"type": "set_host_uri_schemes", "schemes": [{"scheme": "db"}]}),
        json!({"type": "set_subagent_subscription", "level": "events"}),
        json!({"type": "set_subagent_subscription", "level": "loud"}),
        json!({"type": "get_subagents"}),
        json!({"type": "get_subagent_messages", "subagentId": "x"}),
        json!({"type": "get_subagent_messages"}),
        json!({"type": "get_login_providers"}),
        json!({"type": "login", "providerId": "x"}),
        json!({"type": "export_html", "outputPath": "/tmp/x.html"}),
        json!({"type": "export_html"}),
    ];
    insta::assert_snapshot!(transcript(&mut rpc, &commands).await, @r#"
    response get_available_commands ok q: {"commands":[{"name":"echo","description":"Says it again","input":{"hint":"[words]"},"source":"builtin"}]}
    response set_todos ok q: {"todoPhases":[{"name":"A","tasks":[]}]}
    response set_todos failed q: "phases must be a list"
    response negotiate_protocol failed q: "Unsupported RPC protocol version: 3"
    response negotiate_protocol ok q: {"protocolVersion":2}
    response set_host_uri_schemes ok q: {"schemes":[]}
    response set_host_uri_schemes ok q: {"schemes":["db"]}
    response set_subagent_subscription ok q: {"level":"events"}
    response set_subagent_subscription failed q: "Invalid subagent subscription level: loud"
    response get_subagents ok q: {"subagents":[]}
    response get_subagent_messages failed q: "Unknown subagent or session file unavailable: x"
    response get_subagent_messages failed q: "get_subagent_messages requires subagentId or sessionFile"
    response get_login_providers ok q: {"providers":[]}
    response login failed q: "Unknown OAuth provider: x"
    response export_html ok q: {"path":"/tmp/x.html"}
    response export_html failed q: "where to?"
    "#);
}

#[tokio::test]
async fn what_cannot_be_understood_keeps_the_loop_alive() {
    let mut rpc = Rpc::start(one_answer()).await;
    let mut frames = Vec::new();
    for line in ["{", "[]", r#"{"id":"1"}"#, r#"{"id":"2","type":"nonsense"}"#, r#"{"type":"","id":"3"}"#] {
        rpc.send_line(line);
        frames.push(rpc.until("response").await.pop().unwrap());
    }
    for ignored in
        [r#"{"type":"extension_ui_response","id":"zz","value":"x"}"#, r#"{"type":"extension_ui_response"}"#, ""]
    {
        rpc.send_line(ignored);
    }
    frames.push(rpc.ask(json!({"type": "abort"})).await);
    insta::assert_snapshot!(outline(&frames).join("\n"), @r#"
    response parse failed: "Failed to parse command: EOF while parsing an object at line 2 column 0"
    response parse failed: "Failed to parse command: a command is an object with a `type`"
    response parse failed: "Failed to parse command: `type` is missing or not a string"
    response nonsense failed: "Unknown command: nonsense"
    response  failed: "Unknown command: "
    response abort ok q
    "#);
}

#[tokio::test]
async fn a_long_answer_comes_in_chunks_once_that_is_agreed() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("x".repeat(3 << 20).as_str())])).await;
    rpc.ask(json!({"type": "negotiate_protocol", "protocolVersion": 2})).await;
    rpc.send(&json!({"type": "prompt", "message": "a"}));
    let chunk = rpc.until("rpc_chunk").await.pop().unwrap();
    assert_eq!((&chunk["index"], &chunk["chunkId"]), (&json!(0), &json!("rpc-1")));
    let end = rpc.until("agent_end").await.pop().unwrap();
    assert_eq!((&end["messageCount"], &end["messages"]), (&json!(2), &json!([])));
}
