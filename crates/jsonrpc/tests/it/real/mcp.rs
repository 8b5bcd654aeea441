//! `server-everything`, the reference server of MCP.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omp_jsonrpc::{Error, OutgoingCall, Polite, Protocol, ServerProcess, ShutdownLimits};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Client, group_is_gone, installed, killed_meanwhile, program};
use crate::{eventually, soon};

const SERVER: &str = "mcp-everything-2026.8.31";

fn answer(method: &str, _params: &Value) -> Option<Value> {
    match method {
        "roots/list" => Some(json!({"roots": [{"uri": "file:///tmp/project", "name": "project"}]})),
        "sampling/createMessage" => {
            let content = json!({"type": "text", "text": "sampled by the client"});
            Some(json!({"role": "assistant", "model": "none", "content": content}))
        }
        _ => None,
    }
}

async fn start(folder: &Path, client: &Client) -> ServerProcess {
    let script = installed(SERVER, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let spawn = program(Path::new("node"), folder).arg(script).arg("stdio");
    let child = ServerProcess::start("the MCP server", spawn, Protocol::mcp(), Arc::new(client.clone())).unwrap();
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {"listChanged": true}, "sampling": {}},
        "clientInfo": {"name": "omp-tests", "version": "1"},
    });
    let welcome = soon(child.peer().request("initialize", hello)).await.unwrap();
    assert_eq!(welcome["serverInfo"]["name"], "mcp-servers/everything");
    child.peer().notify("notifications/initialized", Value::Null).await.unwrap();
    child
}

fn tool(name: &str, arguments: Value) -> OutgoingCall {
    OutgoingCall::new("tools/call", json!({"name": name, "arguments": arguments}))
}

async fn echo(child: &ServerProcess) -> String {
    let answer = soon(child.peer().call(tool("echo", json!({"message": "hello"})))).await.unwrap();
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn calls_progress_and_requests_of_the_server() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(answer));
    let child = start(folder.path(), &client).await;
    assert_eq!(echo(&child).await, "Echo: hello");
    let unknown = soon(child.peer().request("no/such", Value::Null)).await.unwrap_err();
    assert!(matches!(&unknown, Error::Refused { error, .. } if error.code == -32601), "{unknown}");
    // The server requests the roots of a client that supports them.
    eventually(|| client.was_asked("roots/list")).await;
    let sampled = soon(child.peer().call(tool("trigger-sampling-request", json!({"prompt": "hi"})))).await.unwrap();
    assert!(sampled.to_string().contains("sampled by the client"), "{sampled}");
    let long = tool("trigger-long-running-operation", json!({"duration": 0.3, "steps": 3}));
    let (call, mut progress) = long.with_progress();
    let done = soon(child.peer().call(call)).await.unwrap();
    assert!(done.to_string().contains("completed"), "{done}");
    let mut reports = Vec::new();
    while let Some(report) = soon(progress.next()).await {
        reports.push(report["progress"].as_u64().unwrap());
    }
    assert_eq!((reports, progress.dropped()), (vec![1, 2, 3], 0));
    // MCP has no shutdown message: the server ends when its stdin is closed.
    let (id, slow) = (child.id(), Duration::from_secs(30));
    let limits = ShutdownLimits { polite: slow, end_of_input: slow, terminate: slow };
    let death = soon(child.shutdown(Polite::default(), limits)).await;
    assert_eq!((death.exit.unwrap().code, death.was_stopped), (0, false), "{death:?}");
    eventually(|| group_is_gone(id)).await;
}

/// The server continues to work but does not respond, so it has processed the cancellation.
#[tokio::test]
async fn a_call_that_is_taken_back_is_not_answered() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(answer));
    let child = start(folder.path(), &client).await;
    let cancel = CancellationToken::new();
    let long = tool("trigger-long-running-operation", json!({"duration": 2, "steps": 20}));
    let (call, mut progress) = long.cancelled_by(cancel.clone()).with_progress();
    let peer = child.peer().clone();
    let asked = tokio::spawn(async move { peer.call(call).await });
    assert_eq!(soon(progress.next()).await.unwrap()["progress"], 1);
    cancel.cancel();
    assert!(matches!(soon(asked).await.unwrap(), Err(Error::Cancelled { .. })));
    client.told("notifications/progress", |params| params["progress"] == 20).await;
    assert_eq!(echo(&child).await, "Echo: hello");
    assert_eq!(child.peer().oddities().ignored_responses, 0);
}

#[tokio::test]
async fn a_call_whose_server_is_killed_fails_with_the_reason() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(answer));
    let child = start(folder.path(), &client).await;
    let (call, mut progress) =
        tool("trigger-long-running-operation", json!({"duration": 600, "steps": 6_000})).with_progress();
    let peer = child.peer().clone();
    let asked = tokio::spawn(async move { peer.call(call).await });
    soon(progress.next()).await.unwrap();
    let error = killed_meanwhile(&child, asked).await;
    // The server's startup message.
    let words = "the MCP server was killed by signal 9\nthe end of its stderr:\n  Starting default (STDIO) server...";
    assert!(error.contains(words) && error.contains("\nhint: "), "{error}");
}
