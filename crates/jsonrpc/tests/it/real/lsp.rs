//! `pyright`, a language server.

use std::path::Path;
use std::sync::Arc;

use omp_jsonrpc::{Error, OutgoingCall, Polite, Protocol, ServerProcess, ShutdownLimits};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Client, group_is_gone, installed, killed_meanwhile, program};
use crate::{eventually, soon};

const SERVER: &str = "pyright-1.1.414";
const SOURCE: &str = "def twice(x: int) -> int:\n    return x * 2\n\n\na = twice(1)\nb: str = twice(2)\n";

fn answer(method: &str, params: &Value) -> Option<Value> {
    match method {
        "workspace/configuration" => Some(params["items"].as_array()?.iter().map(|_| json!({})).collect()),
        "client/registerCapability" | "window/workDoneProgress/create" => Some(Value::Null),
        _ => None,
    }
}

/// Starts the server with the file open; returns it and the file's URI.
async fn start(folder: &Path, client: &Client) -> (ServerProcess, String) {
    let folder = folder.canonicalize().unwrap();
    std::fs::write(folder.join("a.py"), SOURCE).unwrap();
    let root = format!("file://{}", folder.display());
    let script = installed(SERVER, "node_modules/pyright/langserver.index.js");
    let spawn = program(Path::new("node"), &folder).arg(script).arg("--stdio");
    let child = ServerProcess::start("pyright", spawn, Protocol::lsp(), Arc::new(client.clone())).unwrap();
    let hello = json!({
        "processId": std::process::id(),
        "rootUri": root,
        "workspaceFolders": [{"uri": root, "name": "project"}],
        "capabilities": {"workspace": {"configuration": true}, "window": {"workDoneProgress": true}},
    });
    let welcome = soon(child.peer().request("initialize", hello)).await.unwrap();
    assert!(welcome["capabilities"]["hoverProvider"].is_object(), "{welcome}");
    let file = format!("{root}/a.py");
    let document = json!({"uri": file, "languageId": "python", "version": 1, "text": SOURCE});
    child.peer().notify("initialized", json!({})).await.unwrap();
    child.peer().notify("textDocument/didOpen", json!({"textDocument": document})).await.unwrap();
    (child, file)
}

fn at_twice(file: &str) -> Value {
    json!({"textDocument": {"uri": file}, "position": {"line": 0, "character": 5}, "context": {"includeDeclaration": true}})
}

#[tokio::test]
async fn calls_notifications_and_requests_of_the_server() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(answer));
    let (child, file) = start(folder.path(), &client).await;
    let hover = soon(child.peer().request("textDocument/hover", at_twice(&file))).await.unwrap();
    assert!(hover.to_string().contains("def twice(x: int) -> int"), "{hover}");
    assert!(client.was_asked("workspace/configuration"));
    let found = client.told("textDocument/publishDiagnostics", |params| params["diagnostics"] != json!([])).await;
    assert!(found.to_string().contains("\\\"int\\\" is not assignable to \\\"str\\\""), "{found}");
    let id = child.id();
    let words = Polite {
        request: Some(("shutdown".to_owned(), Value::Null)),
        notification: Some(("exit".to_owned(), Value::Null)),
    };
    let slow = std::time::Duration::from_secs(30);
    let death = soon(child.shutdown(words, ShutdownLimits { polite: slow, end_of_input: slow, terminate: slow })).await;
    assert_eq!((death.exit.unwrap().code, death.was_stopped), (0, false));
    eventually(|| group_is_gone(id)).await;
}

/// The server responds that the request was cancelled; the response is ignored.
#[tokio::test]
async fn a_request_that_is_taken_back_is_answered_and_the_answer_is_ignored() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(answer));
    let (child, file) = start(folder.path(), &client).await;
    let cancel = CancellationToken::new();
    let call = OutgoingCall::new("textDocument/references", at_twice(&file)).cancelled_by(cancel.clone());
    let peer = child.peer().clone();
    // Both messages are sent before pyright gets the responses to its own requests, for which it waits.
    let asked = tokio::spawn(async move { peer.call(call).await });
    tokio::task::yield_now().await;
    cancel.cancel();
    assert!(matches!(soon(asked).await.unwrap(), Err(Error::Cancelled { .. })));
    eventually(|| child.peer().oddities().ignored_responses == 1).await;
    let hover = soon(child.peer().request("textDocument/hover", at_twice(&file))).await.unwrap();
    assert!(hover.to_string().contains("def twice"), "{hover}");
}

#[tokio::test]
async fn a_request_with_progress_hears_of_it() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(answer));
    let (child, file) = start(folder.path(), &client).await;
    let (call, mut progress) = OutgoingCall::new("textDocument/references", at_twice(&file)).with_progress();
    let references = soon(child.peer().call(call)).await.unwrap();
    assert_eq!(references.as_array().unwrap().len(), 3, "{references}");
    let mut kinds = Vec::new();
    while let Some(report) = soon(progress.next()).await {
        kinds.push(report["kind"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds.last().map(String::as_str), Some("end"), "{kinds:?}");
}

#[tokio::test]
async fn a_request_whose_server_is_killed_fails_with_the_reason() {
    // Without a response to its request it waits forever.
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(|_, _| None));
    let (child, file) = start(folder.path(), &client).await;
    let peer = child.peer().clone();
    let asked = tokio::spawn(async move { peer.request("textDocument/hover", at_twice(&file)).await });
    eventually(|| client.was_asked("workspace/configuration")).await;
    let error = killed_meanwhile(&child, asked).await;
    assert!(error.starts_with("`textDocument/hover` failed: pyright was killed by signal 9\n"), "{error}");
    assert!(error.contains("hint: "), "{error}");
}
