//! Tests of calls: order, concurrency, refusals, invalid arguments, panics.

use insta::assert_snapshot;
use omp_agent::RunEnd;
use omp_testkit::{Call, Turn};
use serde_json::json;

use crate::stage::{Decision, Stage};

/// Runs one answer with calls, then a closing one, and returns the results as the model sees them.
async fn results(turn: Turn) -> String {
    let mut stage = Stage::new([turn, Turn::text("done")]);
    assert_eq!(stage.prompt("go").await, RunEnd::Finished);
    let conversation = stage.conversation();
    conversation.lines().filter(|line| line.starts_with("result")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn shared_calls_run_together_and_results_keep_the_order_of_the_calls() {
    let turn = Turn::call("meet", json!({"text": "first"})).and_call("meet", json!({"text": "second"}));
    let mut stage = Stage::new([turn, Turn::text("done")]);
    assert_eq!(stage.prompt("go").await, RunEnd::Finished);
    assert_snapshot!(stage.story(), @"
    start
    turn
    user: go
    answer (ToolUse):  → meet, meet
    begin meet
    begin meet
    finish meet
    finish meet
    result of meet: first
    result of meet: second
    turn end (2 results)
    turn
    delta done
    answer (Stop): done
    turn end (0 results)
    end (5 messages)
    ");
}

#[tokio::test]
async fn exclusive_calls_run_alone() {
    let turn = Turn::call("echo", json!({"text": "a"}))
        .and_call("alone", json!({"text": "b"}))
        .and_call("echo", json!({"text": "c"}));
    let mut stage = Stage::new([turn, Turn::text("done")]);
    stage.prompt("go").await;
    let order: Vec<_> = stage
        .port
        .lines
        .iter()
        .filter(|line| line.starts_with("begin") || line.starts_with("finish"))
        .cloned()
        .collect();
    assert_eq!(order, ["begin echo", "finish echo", "begin alone", "finish alone", "begin echo", "finish echo"]);
}

#[tokio::test]
async fn every_way_a_call_can_fail_is_answered() {
    assert_snapshot!(results(Turn::call("nope", json!({}))).await, @"result of nope (error): There is no tool `nope`. Available tools: echo, secret, fail, fatal, panic, forever, progress, meet, count, alone.");
    assert_snapshot!(results(Turn::call("meet", json!({"text": 5}))).await, @"result of meet (error): Invalid arguments for `meet`; nothing was run:");
    assert_snapshot!(results(Turn::call("fail", json!({}))).await, @"result of fail (error): no such thing");
    assert_snapshot!(results(Turn::call("panic", json!({}))).await, @"result of panic (error): `panic` failed inside omp: oops. This is a bug in omp, not in the call.");
}

#[tokio::test]
async fn cut_off_and_malformed_arguments_are_answered_and_never_run() {
    for raw in [r#"{"text":"rm -rf bui"#, r#"{"text": rm}"#, "[1,2]", "null"] {
        let turn = Turn::default().with_call(Call::raw("echo", [raw]));
        let text = results(turn).await;
        assert!(
            text.starts_with("result of echo (error): The arguments of `echo` are not one complete JSON object"),
            "{raw}: {text}"
        );
    }
}

#[tokio::test]
async fn two_calls_with_one_id_both_get_a_result() {
    let call = |text: &str| Call::new("echo", json!({"text": text})).id("same");
    let turn = Turn::default().with_call(call("one")).with_call(call("two"));
    assert_eq!(results(turn).await, "result of echo: one\nresult of echo: two");
}

#[tokio::test]
async fn a_fatal_tool_ends_the_run_after_its_result() {
    let mut stage = Stage::new([Turn::call("fatal", json!({})), Turn::text("never")]);
    assert_eq!(stage.prompt("go").await, RunEnd::Fatal("the disk is gone".into()));
    assert!(stage.conversation().ends_with("result of fatal (error): the disk is gone"));
}

#[tokio::test]
async fn the_port_can_refuse_amend_and_rewrite() {
    let turn = Turn::call("echo", json!({"text": "refuse"}))
        .and_call("echo", json!({"text": "amend"}))
        .and_call("echo", json!({"text": "break"}))
        .and_call("secret", json!({"text": "password"}));
    let mut stage = Stage::new([turn, Turn::text("done")]);
    stage.port.decide = Some(|call| match call.arguments["text"].as_str() {
        Some("refuse") => Decision::Refuse("not allowed".into()),
        Some("amend") => Decision::Amend(json!({"text": "amended"})),
        Some("break") => Decision::Amend(json!({"text": 1})),
        _ => Decision::Run,
    });
    stage.prompt("go").await;
    assert_snapshot!(stage.conversation(), @"
    user: go
    answer (ToolUse):  → echo, echo, echo, secret
    result of echo (error): not allowed
    result of echo: amended
    result of echo (error): Invalid arguments for `echo`; nothing was run:
    - text: expected string, got number
    result of secret: [hidden]
    answer (Stop): done
    ");
}

#[tokio::test]
async fn a_call_is_planned_once_and_what_was_judged_runs() {
    let turn = Turn::call("count", json!({"text": "first"}))
        .and_call("count", json!({"text": "amend"}))
        .and_call("count", json!({"text": "refuse"}))
        .and_call("count", json!({"text": 5}))
        .and_call("count", json!({"text": "last"}));
    let mut stage = Stage::new([turn, Turn::text("done")]);
    stage.port.decide = Some(|call| match call.arguments["text"].as_str() {
        Some("amend") => Decision::Amend(json!({"text": "amended"})),
        Some("refuse") => Decision::Refuse("not allowed".into()),
        _ => Decision::Run,
    });
    stage.prompt("go").await;
    assert_eq!(stage.port.judged, ["plan 1: first", "plan 2: amended", "plan 3: last"]);
    assert_snapshot!(stage.conversation(), @"
    user: go
    answer (ToolUse):  → count, count, count, count, count
    result of count: ran plan 1: first
    result of count: ran plan 2: amended
    result of count (error): not allowed
    result of count (error): Invalid arguments for `count`; nothing was run:
    - text: expected string, got number
    result of count: ran plan 3: last
    answer (Stop): done
    ");
}

#[tokio::test]
async fn partial_output_is_passed_on_before_the_result() {
    let mut stage = Stage::new([Turn::call("progress", json!({})), Turn::text("done")]);
    stage.prompt("go").await;
    let lines: Vec<_> = stage.port.lines.iter().map(String::as_str).filter(|line| line.contains("progress")).collect();
    assert_eq!(
        lines,
        [
            "answer (ToolUse):  → progress",
            "begin progress",
            "update progress: half",
            "finish progress",
            "result of progress: whole"
        ]
    );
}
