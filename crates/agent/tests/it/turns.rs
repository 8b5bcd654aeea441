//! Tests of turns: text, tools, errors, limits.

use insta::assert_snapshot;
use omp_agent::RunEnd;
use omp_testkit::{Reply, Turn};
use omp_types::{ErrorKind, ModelError};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn a_prompt_a_call_and_an_answer() {
    let mut stage =
        Stage::new([Turn::text("Looking.").and_call("echo", json!({"text": "found"})), Turn::text("Here it is.")]);
    assert_eq!(stage.prompt("find it").await, RunEnd::Finished);
    assert_snapshot!(stage.story(), @"
    start
    turn
    user: find it
    delta Looking.
    answer (ToolUse): Looking. → echo
    begin echo
    finish echo
    result of echo: found
    turn end (1 results)
    turn
    delta Here it is.
    answer (Stop): Here it is.
    turn end (0 results)
    end (4 messages)
    ");
    let requests = stage.llm.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].messages.len(), 3);
}

#[tokio::test]
async fn a_failed_answer_ends_the_run_and_keeps_the_transcript_valid() {
    let error = ModelError::new(ErrorKind::Overloaded, "busy");
    let partial = Turn::text("I will").and_call("echo", json!({"text": "x"}));
    let mut stage = Stage::new([Reply::Fail { partial, error: error.clone() }]);
    assert_eq!(stage.prompt("go").await, RunEnd::Failed(error));
    assert!(stage.story().contains("answer (Error): I will → echo"), "{}", stage.story());
    assert!(!stage.story().contains("begin"), "{}", stage.story());
    assert_eq!(stage.transcript.for_model().len(), 1);
}

#[tokio::test]
async fn a_run_that_never_ends_is_stopped_at_the_turn_limit() {
    let turns: Vec<_> = (0..5).map(|_| Turn::call("echo", json!({"text": "again"}))).collect();
    let mut stage = Stage::new(turns);
    stage.config.max_turns = 3;
    assert_eq!(stage.prompt("loop").await, RunEnd::TurnLimit);
    assert_eq!(stage.llm.requests().len(), 3);
    assert!(stage.story().ends_with("end (7 messages)"), "{}", stage.story());
}

#[tokio::test]
async fn a_watcher_that_cannot_save_ends_the_run() {
    let mut stage = Stage::new([Turn::call("echo", json!({"text": "x"})), Turn::text("never")]);
    stage.port.stop_at = Some("result of");
    assert_eq!(stage.prompt("go").await, RunEnd::Fatal("disk full".into()));
    assert_eq!(stage.llm.requests().len(), 1);
    assert!(stage.conversation().contains("result of echo: x"), "{}", stage.conversation());
}

#[tokio::test]
async fn going_on_without_a_prompt_asks_again_from_where_it_stands() {
    let mut stage = Stage::new([Reply::fail(ModelError::new(ErrorKind::Network, "gone")), Turn::text("back").into()]);
    assert!(matches!(stage.prompt("hello").await, RunEnd::Failed(_)));
    stage.transcript.pop_failed_reply();
    let end = omp_agent::run(&stage.config, &mut stage.transcript, vec![], &mut stage.port).await;
    assert_eq!(end, RunEnd::Finished);
    assert_snapshot!(stage.conversation(), @"
    user: hello
    answer (Stop): back
    ");
}

#[tokio::test]
async fn an_answer_nobody_wants_is_cut_and_the_model_told_why() {
    let mut stage = Stage::new([Turn::text("I will unwrap it."), Turn::text("I will match.")]);
    stage.port.cut_at = Some("unwrap");
    assert_eq!(stage.prompt("go").await, RunEnd::Finished);
    assert_eq!(stage.conversation(), "user: go\nuser: not like that\nanswer (Stop): I will match.");
    assert_eq!(stage.llm.requests()[1].messages.len(), 2);
}

#[tokio::test]
async fn a_budget_ends_the_run_before_the_next_request() {
    let mut stage = Stage::new([Turn::call("echo", json!({"text": "x"})), Turn::text("never")]);
    stage.port.most_messages = Some(1);
    assert_eq!(stage.prompt("go").await, RunEnd::OverBudget("used up".to_owned()));
    assert_eq!(stage.llm.requests().len(), 1);
    assert!(stage.story().ends_with("end (3 messages)"), "{}", stage.story());
}
