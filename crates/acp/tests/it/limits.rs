//! Clients that send too much or too early, and that take requests back.

use omp_policy::ApprovalMode;
use omp_testkit::Turn;
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn a_line_that_is_too_long_is_answered_and_skipped() {
    let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, [Turn::text("hi")]).await;
    let line = "x".repeat((64 << 20) + 1);
    stage.raw(&line).await;
    let answer = stage.frame().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)), "{answer}");
    assert!(answer["error"]["data"].as_str().unwrap().contains("at most 67108864 bytes"), "{answer}");
    stage.prompt(2, &session, "hi").await;
    assert_eq!(stage.until_answer(2).await["result"]["stopReason"], "end_turn");
    stage.end().await;
}

/// The cancel belongs to the prompts before it, not to the one that follows at once.
#[tokio::test]
async fn a_cancel_does_not_reach_a_later_prompt() {
    let slow = Turn::call("bash", json!({"command": "sleep 60"}));
    let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, [slow, Turn::text("hi")]).await;
    stage.prompt(2, &session, "first").await;
    stage.until(|frame| frame["params"]["update"]["status"] == "in_progress").await;
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    let blocks = json!([{"type": "text", "text": "second"}]);
    let params = json!({"sessionId": session, "prompt": blocks});
    let prompt = json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": params});
    stage.raw(&format!("{cancel}\n{prompt}")).await;
    assert_eq!(stage.until_answer(2).await["result"]["stopReason"], "cancelled");
    assert_eq!(stage.until_answer(3).await["result"]["stopReason"], "end_turn");
    stage.end().await;
}

#[tokio::test]
async fn a_request_that_is_taken_back_is_cancelled() {
    let slow = Turn::call("bash", json!({"command": "sleep 60"}));
    let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, [slow]).await;
    stage.prompt(2, &session, "wait").await;
    stage.until(|frame| frame["params"]["update"]["status"] == "in_progress").await;
    stage.send(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 2}})).await;
    assert_eq!(stage.until_answer(2).await["result"]["stopReason"], "cancelled");
    stage.end().await;
}
