//! `debugpy`, a debug adapter.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use omp_jsonrpc::{Error, Handler, HandlerFuture, Peer, Polite, Protocol, ServerProcess, ShutdownLimits};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{Client, group_is_gone, installed, killed_meanwhile, program};
use crate::child::is_dead;
use crate::{eventually, soon};

const SERVER: &str = "debugpy-1.8.22";
const PROGRAM: &str = "total = 0\nfor number in range(4):\n    total += number\nprint(total)\n";

async fn start(folder: &Path, client: &Client) -> ServerProcess {
    start_with(folder, client.clone()).await
}

async fn start_with(folder: &Path, handler: impl Handler) -> ServerProcess {
    std::fs::write(folder.join("program.py"), PROGRAM).unwrap();
    let python = installed(SERVER, "bin/python");
    let spawn = program(&python, folder).args(["-m", "debugpy.adapter"]);
    let child = ServerProcess::start("debugpy", spawn, Protocol::dap(), Arc::new(handler)).unwrap();
    let hello = json!({"adapterID": "python", "clientID": "omp-tests", "pathFormat": "path", "linesStartAt1": true,
        "columnsStartAt1": true, "supportsRunInTerminalRequest": true});
    let can = soon(child.peer().request("initialize", hello)).await.unwrap();
    assert_eq!(can["supportsConfigurationDoneRequest"], true);
    // So no cancellation is sent to it.
    assert_eq!(can.get("supportsCancelRequest"), None);
    child
}

/// Answered only after the configuration is done.
fn launch(child: &ServerProcess, folder: &Path, console: &str) -> JoinHandle<Result<Value, Error>> {
    let arguments = json!({"program": folder.join("program.py"), "console": console, "stopOnEntry": true,
        "python": [installed(SERVER, "bin/python")], "cwd": folder});
    let peer = child.peer().clone();
    tokio::spawn(async move { peer.request("launch", arguments).await })
}

/// Stops at the first line; returns the ID of the debugged process.
async fn start_program(child: &ServerProcess, folder: &Path, client: &Client) -> u32 {
    let launched = launch(child, folder, "internalConsole");
    client.told("initialized", |_| true).await;
    soon(child.peer().request("configurationDone", Value::Null)).await.unwrap();
    soon(launched).await.unwrap().unwrap();
    client.told("stopped", |params| params["reason"] == "entry").await;
    let process = client.told("process", |_| true).await;
    process["systemProcessId"].as_u64().unwrap().try_into().unwrap()
}

async fn frame(child: &ServerProcess) -> Value {
    let trace = soon(child.peer().request("stackTrace", json!({"threadId": 1}))).await.unwrap();
    trace["stackFrames"][0]["id"].clone()
}

#[tokio::test]
async fn a_program_is_stepped_through_and_ended() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(|_, _| None));
    let child = start(folder.path(), &client).await;
    let debugged = start_program(&child, folder.path(), &client).await;
    let evaluate = |frame: Value| child.peer().request("evaluate", json!({"expression": "6 * 7", "frameId": frame}));
    let value = soon(evaluate(frame(&child).await)).await.unwrap();
    assert_eq!(value["result"], "42");
    let refused = soon(evaluate(json!(987_654))).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    soon(child.peer().request("next", json!({"threadId": 1}))).await.unwrap();
    client.told("stopped", |params| params["reason"] == "step").await;
    let id = child.id();
    let words =
        Polite { request: Some(("disconnect".to_owned(), json!({"terminateDebuggee": true}))), notification: None };
    let slow = std::time::Duration::from_secs(30);
    let death = soon(child.shutdown(words, ShutdownLimits { polite: slow, end_of_input: slow, terminate: slow })).await;
    assert_eq!((death.exit.unwrap().code, death.was_stopped), (0, false), "{death:?}");
    eventually(|| group_is_gone(id) && is_dead(debugged)).await;
}

/// The adapter does not support cancellation, so nothing is sent to it; its response arrives after the request was dropped.
#[tokio::test]
async fn a_request_that_is_dropped_is_answered_late() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(|_, _| None));
    let child = start(folder.path(), &client).await;
    start_program(&child, folder.path(), &client).await;
    let slow = json!({"expression": "__import__('time').sleep(0.3)", "frameId": frame(&child).await});
    let peer = child.peer().clone();
    let asked = tokio::spawn(async move { peer.request("evaluate", slow).await });
    // A later request is answered later, so the first one was sent.
    soon(child.peer().request("threads", Value::Null)).await.unwrap();
    asked.abort();
    eventually(|| child.peer().oddities().ignored_responses == 1).await;
}

/// The adapter asks the client to start the program, as an editor does in its terminal.
#[tokio::test]
async fn the_adapter_asks_for_a_terminal() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(|_, _| None));
    let terminal = Terminal { client: client.clone(), folder: folder.path().to_owned(), started: Arc::default() };
    let child = start_with(folder.path(), terminal.clone()).await;
    let launched = launch(&child, folder.path(), "integratedTerminal");
    client.told("initialized", |_| true).await;
    soon(child.peer().request("configurationDone", Value::Null)).await.unwrap();
    soon(launched).await.unwrap().unwrap();
    assert_eq!(terminal.started.lock().unwrap().len(), 1);
    client.told("stopped", |params| params["reason"] == "entry").await;
}

#[derive(Clone)]
struct Terminal {
    client: Client,
    folder: PathBuf,
    /// Processes that end with the test.
    started: Arc<Mutex<Vec<omp_exec::Child>>>,
}

impl Handler for Terminal {
    fn request(&self, _peer: &Peer, method: &str, params: Value) -> Option<HandlerFuture> {
        assert_eq!(method, "runInTerminal");
        let words: Vec<&str> = params["args"].as_array()?.iter().filter_map(Value::as_str).collect();
        let started = program(Path::new(words[0]), &self.folder).args(&words[1..]).start();
        let answer = started.map(|process| {
            let answer = json!({"processId": process.id()});
            self.started.lock().unwrap().push(process);
            answer
        });
        Some(Box::pin(async { Ok(answer?) }))
    }

    fn notification(&self, peer: &Peer, method: &str, params: Value) -> BoxFuture<'static, ()> {
        self.client.notification(peer, method, params)
    }
}

#[tokio::test]
async fn an_adapter_that_is_killed_takes_the_program_along() {
    let (folder, client) = (tempfile::tempdir().unwrap(), Client::new(|_, _| None));
    let child = start(folder.path(), &client).await;
    let debugged = start_program(&child, folder.path(), &client).await;
    let endless = json!({"expression": "__import__('time').sleep(600)", "frameId": frame(&child).await});
    let peer = child.peer().clone();
    let asked = tokio::spawn(async move { peer.request("evaluate", endless).await });
    soon(child.peer().request("threads", Value::Null)).await.unwrap();
    let error = killed_meanwhile(&child, asked).await;
    assert!(error.starts_with("`evaluate` failed: debugpy was killed by signal 9\n"), "{error}");
    assert!(error.contains("hint: "), "{error}");
    eventually(|| is_dead(debugged)).await;
}
