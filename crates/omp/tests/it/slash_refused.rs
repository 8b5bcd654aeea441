//! Slash commands that do not exist or are called wrongly: an error in every mode, and no request to the model.

use omp_session::{MISSING_COMMANDS, TERMINAL_ONLY};
use omp_testkit::{Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene, outline};
use crate::rpc::Client;

async fn scene() -> Scene {
    Scene::new(Wire::Completions, ["One.", "Two."].map(Turn::text)).await
}

const WRONG: [(&str, &str); 9] = [
    ("/modle gpt", "did you mean /model"),
    ("/frobnicate the thing", "unknown command /frobnicate"),
    ("/dump now", "/dump takes no arguments"),
    ("/new session please", "/new takes no arguments"),
    ("/tools x", "/tools takes no arguments"),
    ("/help me", "/help takes no arguments"),
    ("/session destroy", "hint: "),
    ("/mcp list", "MCP servers are not started yet"),
    ("/theme dark", "works only in the terminal app"),
];

#[tokio::test]
async fn print_and_json_runs_refuse_what_looks_like_a_command() {
    let scene = scene().await;
    for (typed, told) in WRONG {
        for mode in ["text", "json"] {
            let ran = scene.omp(&["--mode", mode, "-p", typed]).run().await.exits(2);
            assert!(format!("{}{}", ran.stdout, ran.stderr).contains(told), "{typed}: {ran}");
        }
    }
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn every_missing_command_is_told_by_name() {
    let scene = scene().await;
    let mut client = Client::start(&scene, &[]).await;
    let known = MISSING_COMMANDS.iter().map(|(name, _)| *name).chain(TERMINAL_ONLY.iter().copied());
    for name in known {
        let answer = client.ask(json!({"type": "prompt", "message": format!("/{name}")})).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(answer["success"] == false && error.contains(&format!("/{name}")), "{answer}");
    }
    assert_eq!(client.finish().await, Some(0));
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn a_client_is_refused_however_it_sends_it() {
    let scene = scene().await;
    let mut client = Client::start(&scene, &[]).await;
    for kind in ["prompt", "steer", "follow_up", "abort_and_prompt"] {
        for (typed, told) in WRONG {
            let answer = client.ask(json!({"type": kind, "message": typed})).await;
            let error = answer["error"].as_str().unwrap_or_default();
            // An existing command works only with `prompt`.
            assert!(error.contains(told) || (kind != "prompt" && error.contains("hint: ")), "{kind} {typed}: {answer}");
        }
    }
    let answer = client.ask(json!({"type": "steer", "message": "/model x"})).await;
    assert!(answer["error"].as_str().unwrap().contains("send it with `prompt`"), "{answer}");
    assert!(scene.server.requests().is_empty());
    client.prompt("/usr/bin/x is broken").await;
    assert_eq!(client.finish().await, Some(0));
    assert_eq!(outline(&scene.messages())[0], "user: /usr/bin/x is broken");
}

#[tokio::test]
async fn an_editor_is_refused() {
    let scene = scene().await;
    let mut client = Client::of(Omp::bare(&scene.workspace).args(["acp"]));
    let call =
        |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let answer = async |client: &mut Client, id: u64| loop {
        let frame = client.next().await;
        if frame["id"] == id {
            return frame;
        }
    };
    client.send(&call(1, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}))).await;
    answer(&mut client, 1).await;
    let cwd = scene.workspace.project();
    client.send(&call(2, "session/new", json!({"cwd": cwd, "mcpServers": []}))).await;
    let session = answer(&mut client, 2).await["result"]["sessionId"].take();
    for (id, (typed, told)) in (3..).zip(WRONG) {
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": typed}]});
        client.send(&call(id, "session/prompt", prompt)).await;
        let refused = answer(&mut client, id).await;
        assert!(refused["error"].to_string().contains(told), "{typed}: {refused}");
    }
    assert_eq!(client.finish().await, Some(0));
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn a_colon_stands_for_a_blank() {
    let scene = scene().await;
    let shown = scene.omp(&["-p", "/force:read"]).run().await.exits(0).stdout;
    assert_eq!(shown, "the next answer must call `read`\n");
    assert!(scene.server.requests().is_empty());
}
