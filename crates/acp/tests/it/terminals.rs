//! Commands in the terminals of a client, which the tests simulate.
#![cfg(unix)]

use omp_policy::ApprovalMode;
use omp_testkit::Turn;
use serde_json::{Value, json};

use crate::stage::Stage;

async fn running(command: &str) -> (Stage, String) {
    let turns = [Turn::call("bash", json!({"command": command})), Turn::text("ok")];
    let (mut stage, session) = Stage::with_client(json!({"terminal": true}), ApprovalMode::Auto, turns).await;
    stage.prompt(2, &session, "run it").await;
    (stage, session)
}

fn told_model(stage: &Stage) -> String {
    format!("{:?}", stage.llm.requests()[1].messages.last())
}

fn content(frame: &Value) -> Value {
    frame["params"]["update"]["content"].clone()
}

#[tokio::test]
async fn a_command_runs_where_the_user_sees_it() {
    let (mut stage, session) = running("echo hi").await;
    let create = stage.asked("terminal/create").await;
    let wanted = &create["params"];
    let text = wanted["env"].as_array().unwrap().iter().find(|variable| variable["name"] == "OMP_TEXT").unwrap();
    assert!(text["value"].as_str().unwrap().ends_with("echo hi"), "{text}");
    assert_eq!(wanted["sessionId"], json!(session));
    assert_eq!(wanted["cwd"], json!(stage.workspace.project()));
    assert_eq!(wanted["outputByteLimit"], 4 * 1024 * 1024);
    stage.answer(&create, json!({"terminalId": "t1"})).await;
    let terminal = json!([{"type": "terminal", "terminalId": "t1"}]);
    let wait = json!({"sessionId": session, "terminalId": "t1"});
    // The order of the two frames does not matter.
    let (mut shown, mut waiting) = (false, None);
    while !shown || waiting.is_none() {
        let frame = stage.frame().await;
        shown |= content(&frame) == terminal;
        waiting = waiting.or(Some(frame).filter(|frame| frame["method"] == "terminal/wait_for_exit"));
    }
    let asked = waiting.unwrap();
    assert_eq!(asked["params"], wait);
    stage.answer(&asked, json!({"exitCode": 0, "signal": null})).await;
    let asked = stage.asked("terminal/output").await;
    stage.answer(&asked, json!({"output": "hi\r\n", "truncated": false, "exitStatus": {"exitCode": 0}})).await;
    let asked = stage.asked("terminal/release").await;
    assert_eq!(asked["params"], wait);
    stage.answer(&asked, json!({})).await;
    let ended = stage.until(|frame| frame["params"]["update"]["status"] == "completed").await;
    assert_eq!(content(&ended), terminal);
    let output = ended["params"]["update"]["rawOutput"]["output"].as_str().unwrap();
    assert!(output.starts_with("hi\n\n\nWall time"), "{output}");
    assert_eq!(stage.until_answer(2).await["result"]["stopReason"], "end_turn");
    assert!(told_model(&stage).contains("hi\\n"), "{}", told_model(&stage));
    assert!(!stage.transcript().contains("terminal/kill"));
    stage.end().await;
}

#[tokio::test]
async fn a_failure_says_why_below_the_terminal() {
    let (mut stage, _) = running("exit 3").await;
    let create = stage.asked("terminal/create").await;
    stage.answer(&create, json!({"terminalId": "t1"})).await;
    let asked = stage.asked("terminal/wait_for_exit").await;
    stage.answer(&asked, json!({"exitCode": 3})).await;
    let asked = stage.asked("terminal/output").await;
    stage.answer(&asked, json!({"output": "", "truncated": false})).await;
    let ended = stage.until(|frame| frame["params"]["update"]["status"] == "failed").await;
    assert_eq!(content(&ended)[1]["content"]["text"], "Command exited with code 3");
    stage.until_answer(2).await;
    stage.end().await;
}

#[tokio::test]
async fn without_a_terminal_it_runs_here() {
    let (mut stage, _) = running("echo from here").await;
    let create = stage.asked("terminal/create").await;
    let error = json!({"code": -32603, "message": "no terminals today"});
    stage.send(json!({"jsonrpc": "2.0", "id": create["id"], "error": error})).await;
    stage.until_answer(2).await;
    assert!(told_model(&stage).contains("from here"), "{}", told_model(&stage));
    stage.end().await;
}

#[tokio::test]
async fn a_cancel_kills_and_gives_back() {
    let (mut stage, session) = running("sleep 60").await;
    let create = stage.asked("terminal/create").await;
    stage.answer(&create, json!({"terminalId": "t1"})).await;
    stage.asked("terminal/wait_for_exit").await;
    stage.send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})).await;
    stage.asked("terminal/kill").await;
    stage.asked("terminal/release").await;
    assert_eq!(stage.until_answer(2).await["result"]["stopReason"], "cancelled");
    stage.end().await;
}

#[tokio::test]
async fn a_terminal_that_comes_too_late_is_given_back() {
    let (mut stage, session) = running("sleep 60").await;
    let create = stage.asked("terminal/create").await;
    stage.send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})).await;
    assert_eq!(stage.until_answer(2).await["result"]["stopReason"], "cancelled");
    stage.answer(&create, json!({"terminalId": "t1"})).await;
    stage.asked("terminal/kill").await;
    let release = stage.asked("terminal/release").await;
    assert_eq!(release["params"]["terminalId"], "t1");
    stage.end().await;
}

#[tokio::test]
async fn closing_a_session_gives_back_what_runs() {
    let (mut stage, session) = running("sleep 60").await;
    let create = stage.asked("terminal/create").await;
    stage.answer(&create, json!({"terminalId": "t1"})).await;
    stage.asked("terminal/wait_for_exit").await;
    stage.request(3, "session/close", json!({"sessionId": session})).await;
    stage.asked("terminal/release").await;
    stage.until_answer(3).await;
    stage.end().await;
}
