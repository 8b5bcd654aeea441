//! Tests that an abort at any moment leaves a valid transcript and a last event.

use std::sync::Arc;

use insta::assert_snapshot;
use omp_agent::RunEnd;
use omp_testkit::{Gate, ScriptedLlm, Turn};
use omp_types::Message;
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn abort_while_the_answer_streams_keeps_what_had_come() {
    let gate = Gate::new();
    gate.pass(4);
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text(["one ", "two ", "three"])]).gated(&gate));
    let cancel = stage.config.cancel.clone();
    let (end, ()) = tokio::join!(stage.prompt("go"), async {
        gate.blocked().await;
        cancel.cancel();
    });
    assert_eq!(end, RunEnd::Aborted);
    assert_snapshot!(stage.conversation(), @"
    user: go
    answer (Aborted): one two
    ");
    assert!(stage.story().ends_with("end (2 messages)"), "{}", stage.story());
}

#[tokio::test]
async fn abort_during_a_call_answers_it_and_those_after_it() {
    let turn = Turn::call("echo", json!({"text": "quick"}))
        .and_call("forever", json!({}))
        .and_call("alone", json!({"text": "never"}));
    let mut stage = Stage::new([turn]);
    let cancel = stage.config.cancel.clone();
    stage.port.on_line = Some(Box::new(move |line| {
        if line == "finish echo" {
            cancel.cancel();
        }
    }));
    assert_eq!(stage.prompt("go").await, RunEnd::Aborted);
    assert_snapshot!(stage.conversation(), @"
    user: go
    answer (ToolUse):  → echo, forever, alone
    result of echo: quick
    result of forever (error): Aborted by the user.
    result of alone (error): Aborted by the user.
    ");
}

/// Cancels after the n-th line, for every n: calls and results stay paired in every case.
#[tokio::test]
async fn abort_at_every_moment() {
    for moment in 0..24 {
        let mut stage = Stage::new([
            Turn::text("a").and_call("echo", json!({"text": "1"})).and_call("alone", json!({"text": "2"})),
            Turn::text("b").and_call("progress", json!({})),
            Turn::text("c"),
        ]);
        let cancel = stage.config.cancel.clone();
        let mut count = 0;
        stage.port.on_line = Some(Box::new(move |_| {
            if count == moment {
                cancel.cancel();
            }
            count += 1;
        }));
        stage.prompt("go").await;
        assert!(stage.story().contains("\nend ("), "{moment}: {}", stage.story());
        assert_paired(&stage.transcript.for_model());
    }
}

fn assert_paired(messages: &[Arc<Message>]) {
    let mut rest = messages;
    while let [first, after @ ..] = rest {
        let calls: Vec<_> = first.as_assistant().into_iter().flat_map(|answer| answer.tool_calls()).collect();
        let (results, after) = after.split_at(calls.len());
        for (call, result) in calls.iter().zip(results) {
            assert!(matches!(&**result, Message::ToolResult(result) if result.tool_call_id == call.id));
        }
        rest = after;
    }
}
