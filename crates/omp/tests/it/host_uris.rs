//! Addresses that a client of `--mode rpc` answers, through the binary and its real tools.

use omp_testkit::{Script, Select, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::Scene;
use crate::rpc::Client;

/// Returns the frames up to the end of the work; `answer` answers each request.
async fn serve(client: &mut Client, message: &str, mut answer: impl FnMut(&Value) -> Option<Value>) -> Vec<String> {
    client.send(&json!({"type": "prompt", "message": message})).await;
    let mut told = Vec::new();
    loop {
        let frame = client.next().await;
        match frame["type"].as_str().unwrap() {
            "host_uri_request" | "host_uri_cancel" => {
                told.push(format!("← {frame}"));
                if let Some(result) = answer(&frame) {
                    told.push(format!("→ {result}"));
                    client.send(&result).await;
                }
            }
            "tool_execution_end" => {
                told.push(format!("{} {}", frame["toolName"], frame["result"]["content"][0]["text"]));
            }
            "agent_end" => return told,
            _ => {}
        }
    }
}

async fn scene<const N: usize>(calls: [Turn; N]) -> (Scene, Client) {
    let scene = Scene::new(Wire::Completions, Script::from(calls).select(Select::Sequence)).await;
    let mut client = Client::start(&scene, &["--auto-approve"]).await;
    let schemes = json!([{"scheme": "notion", "writable": true, "description": "pages"}, {"scheme": "fixed"}]);
    let set = client.ask(json!({"type": "set_host_uri_schemes", "schemes": schemes})).await;
    assert_eq!(set["data"], json!({"schemes": ["notion", "fixed"]}));
    (scene, client)
}

#[tokio::test]
async fn a_host_answers_for_its_addresses() {
    let read = |path: &str| Turn::call("read", json!({"path": path}));
    let write = |path: &str| Turn::call("write", json!({"path": path, "content": "new"}));
    let calls = [
        read("notion://page/7:2-2"),
        read("fixed://gone"),
        write("notion://page/7"),
        write("fixed://page"),
        read("other://page"),
        Turn::text("Done."),
        read("notion://again"),
        Turn::text("Done."),
        read("notion://again"),
        Turn::text("Done."),
    ];
    let (_scene, mut client) = scene(calls).await;
    let told = serve(&mut client, "go", |request| match request["url"].as_str()? {
        "fixed://gone" => Some(json!({"type": "host_uri_result", "id": request["id"], "isError": true})),
        _ => Some(json!({"type": "host_uri_result", "id": request["id"], "content": "one\ntwo\nthree"})),
    })
    .await;
    insta::assert_snapshot!(told.join("\n"), @r#"
    ← {"type":"host_uri_request","id":"uri_1","operation":"read","url":"notion://page/7"}
    → {"type":"host_uri_result","id":"uri_1","content":"one\ntwo\nthree"}
    "read" "two\n(1 lines follow, up to line 3; continue with notion://page/7:3)"
    ← {"type":"host_uri_request","id":"uri_2","operation":"read","url":"fixed://gone"}
    → {"type":"host_uri_result","id":"uri_2","isError":true}
    "read" "Host URI read failed for fixed://gone"
    ← {"type":"host_uri_request","id":"uri_3","operation":"write","url":"notion://page/7","content":"new"}
    → {"type":"host_uri_result","id":"uri_3","content":"one\ntwo\nthree"}
    "write" "Wrote 3 bytes to notion://page/7"
    "write" "fixed://page can only be read\nhint: fixed:// takes no writes"
    "read" "there is no other:// in this session\nhint: available are artifact://, agent://, local://, history://, skill://"
    "#);
    // They stay available in the next session, and can be removed.
    client.ask(json!({"type": "new_session"})).await;
    let told = serve(&mut client, "go on", |request| {
        Some(json!({"type": "host_uri_result", "id": request["id"], "isError": true, "content": "no", "error": "why"}))
    });
    assert_eq!(told.await.last().unwrap(), r#""read" "why""#);
    client.ask(json!({"type": "set_host_uri_schemes", "schemes": []})).await;
    let told = serve(&mut client, "go on", |_| None).await;
    assert!(told[0].contains("there is no notion:// in this session"), "{told:?}");
    assert_eq!(client.finish().await, Some(0));
}

#[tokio::test]
async fn a_question_that_is_aborted_is_taken_back() {
    let (_scene, mut client) = scene([Turn::call("read", json!({"path": "notion://slow"}))]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    let request = client.until("host_uri_request").await;
    client.send(&json!({"type": "abort"})).await;
    let cancel = client.until("host_uri_cancel").await;
    assert_eq!(cancel["targetId"], request["id"]);
    client.until("agent_end").await;
    // A late answer is ignored.
    client.send(&json!({"type": "host_uri_result", "id": request["id"], "content": "late"})).await;
    assert_eq!(client.ask(json!({"type": "get_state"})).await["success"], true);
}

#[tokio::test]
async fn a_host_that_leaves_answers_nothing_more() {
    let (scene, mut client) = scene([Turn::call("read", json!({"path": "notion://slow"}))]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    client.until("host_uri_request").await;
    assert_eq!(client.finish().await, Some(0), "nothing waits for the host");
    assert!(!scene.messages().is_empty());
}
