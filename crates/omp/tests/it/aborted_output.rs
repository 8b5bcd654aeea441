//! The output of a command before it was stopped is kept for the model and for front ends.

use omp_testkit::{Script, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene, within};
use crate::rpc::Client;

const SLOW: &str = "echo first; echo second; sleep 300";
const SAID: &str = " s; the output above is what the command printed until then";

fn script() -> Script {
    Script::new([Turn::call("bash", json!({"command": SLOW})), Turn::text("I see.")])
}

/// Returns the command's result in the last request.
fn result(scene: &Scene) -> String {
    let request = scene.last_request().json().unwrap();
    let messages = request["messages"].as_array().unwrap().clone();
    let result = messages.iter().find(|message| message["role"] == "tool").expect("no result");
    result["content"].to_string().replace("\\n", "\n")
}

#[track_caller]
fn is_kept(text: &str) {
    assert!(text.contains("first\nsecond\n") && text.contains(SAID), "{text}");
}

#[tokio::test]
async fn by_an_abort_over_rpc() {
    let scene = Scene::new(Wire::Completions, script()).await;
    let mut client = Client::start(&scene, &[]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    loop {
        let update = client.until("tool_execution_update").await;
        if update["partialResult"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("second")) {
            break;
        }
    }
    client.send(&json!({"type": "abort"})).await;
    let end = client.until("tool_execution_end").await;
    assert_eq!(end["isError"], true);
    is_kept(end["result"]["content"][0]["text"].as_str().unwrap());
    assert_eq!(end["result"]["details"]["aborted"], true);
    client.until("response").await;
    client.prompt("what was that?").await;
    is_kept(&result(&scene));
    assert_eq!(client.finish().await, Some(0));
}

#[tokio::test]
async fn by_the_clock_and_by_max_time() {
    let timed = Turn::call("bash", json!({"command": SLOW, "timeout": 1}));
    let scene = Scene::new(Wire::Completions, [timed, Turn::text("Done.")]).await;
    scene.omp(&["-p", "go"]).run().await.exits(0);
    let text = result(&scene);
    assert!(text.contains("first\nsecond\n") && text.contains("Command timed out after 1 seconds"), "{text}");

    let scene = Scene::new(Wire::Completions, script()).await;
    let ran = scene.omp(&["--mode", "json", "-p", "go", "--max-time", "3s"]).run().await;
    let frames = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let end = frames.into_iter().find(|frame| frame["type"] == "tool_execution_end").expect("no end");
    is_kept(end["result"]["content"][0]["text"].as_str().unwrap());
}

/// Uses a client that speaks the protocol directly, to count the responses.
#[tokio::test]
async fn by_a_cancel_over_acp_whose_prompt_is_answered_once() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    let scene = Scene::new(Wire::Completions, script()).await;
    let model = format!("{}/{}", omp_testkit::MOCK_PROVIDER, omp_testkit::MOCK_MODEL);
    let mut child = Omp::bare(&scene.workspace).args(["acp", "--model", &model]).spawn_with_pipes();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines();
    let mut answers: Vec<Value> = Vec::new();
    let cwd = scene.workspace.project();
    let say = |id: u64, method: &str, params: Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    input
        .write_all(say(1, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})).as_bytes())
        .await
        .unwrap();
    let (mut session, mut cancelled, mut card) = (Value::Null, false, String::new());
    loop {
        let line = within(lines.next_line()).await.unwrap().expect("the output ended");
        let frame: Value = serde_json::from_str(&line).unwrap();
        if frame["method"] == "session/update" {
            let update = frame["params"]["update"].to_string();
            if update.contains("first\\nsecond") && !cancelled {
                cancelled = true;
                let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
                input.write_all(format!("{cancel}\n").as_bytes()).await.unwrap();
            }
            if update.contains("Interrupted after ") {
                card = update.replace("\\n", "\n");
            }
        }
        match frame["id"].as_u64().filter(|_| frame.get("method").is_none()) {
            Some(1) => {
                let new = json!({"cwd": cwd, "mcpServers": []});
                input.write_all(say(2, "session/new", new).as_bytes()).await.unwrap();
            }
            Some(2) => {
                session = frame["result"]["sessionId"].clone();
                let prompt = json!({"sessionId": session, "prompt": text("go")});
                input.write_all(say(3, "session/prompt", prompt).as_bytes()).await.unwrap();
            }
            Some(3) => {
                answers.push(frame);
                let prompt = json!({"sessionId": session, "prompt": text("what was that?")});
                input.write_all(say(4, "session/prompt", prompt).as_bytes()).await.unwrap();
            }
            Some(4) => {
                answers.push(frame);
                break;
            }
            _ => {}
        }
    }
    drop(input);
    while let Some(line) = within(lines.next_line()).await.unwrap() {
        answers.extend(serde_json::from_str::<Value>(&line).ok().filter(|frame| frame.get("id").is_some()));
    }
    let reasons: Vec<_> = answers.iter().map(|answer| &answer["result"]["stopReason"]).collect();
    assert_eq!(reasons, ["cancelled", "end_turn"], "{answers:?}");
    is_kept(&card);
    is_kept(&result(&scene));
}
