//! Tests of messages sent while the agent works.

use insta::assert_snapshot;
use omp_agent::{InterruptMode, MAX_QUEUED, QueueMode, Queues, RunEnd};
use omp_testkit::Turn;
use serde_json::json;

use crate::stage::{Stage, user};

/// Steers with `messages` when the first call starts.
fn steer_at_first_call(stage: &mut Stage, messages: &'static [&'static str]) {
    let queues = stage.config.queues.clone();
    let mut pending = Some(messages);
    stage.port.on_line = Some(Box::new(move |line| {
        if line.starts_with("begin") {
            for message in pending.take().into_iter().flatten() {
                assert!(queues.steer(user(message)));
            }
        }
    }));
}

fn two_exclusive_calls() -> Turn {
    Turn::call("alone", json!({"text": "a"})).and_call("alone", json!({"text": "b"}))
}

#[tokio::test]
async fn steering_skips_calls_that_have_not_begun() {
    let mut stage = Stage::new([
        Turn::call("echo", json!({"text": "a"})).and_call("alone", json!({"text": "b"})),
        Turn::text("ok"),
    ]);
    let queues = stage.config.queues.clone();
    stage.port.on_line = Some(Box::new(move |line| {
        if line == "finish echo" {
            assert!(queues.steer(user("stop that")));
        }
    }));
    assert_eq!(stage.prompt("go").await, RunEnd::Finished);
    assert_snapshot!(stage.conversation(), @"
    user: go
    answer (ToolUse):  → echo, alone
    result of echo: a
    result of alone (error): Skipped: the user sent a new message before this call began.
    user: stop that
    answer (Stop): ok
    ");
}

#[tokio::test]
async fn waiting_mode_lets_the_calls_finish_first() {
    let mut stage = Stage::new([two_exclusive_calls(), Turn::text("ok")]);
    stage.config.queues.set_interrupt_mode(InterruptMode::Wait);
    steer_at_first_call(&mut stage, &["by the way"]);
    stage.prompt("go").await;
    assert_snapshot!(stage.conversation(), @"
    user: go
    answer (ToolUse):  → alone, alone
    result of alone: a
    result of alone: b
    user: by the way
    answer (Stop): ok
    ");
}

#[tokio::test]
async fn one_at_a_time_takes_one_message_a_turn_and_all_takes_all() {
    for (mode, requests) in [(QueueMode::OneAtATime, 3), (QueueMode::All, 2)] {
        let mut stage = Stage::new([Turn::call("echo", json!({"text": "a"})), Turn::text("b"), Turn::text("c")]);
        stage.config.queues.set_interrupt_mode(InterruptMode::Wait);
        stage.config.queues.set_steering_mode(mode);
        steer_at_first_call(&mut stage, &["one", "two"]);
        assert_eq!(stage.prompt("go").await, RunEnd::Finished);
        assert_eq!(stage.llm.requests().len(), requests, "{mode:?}");
    }
}

#[tokio::test]
async fn follow_ups_wait_until_the_work_is_done() {
    let mut stage = Stage::new([Turn::call("echo", json!({"text": "a"})), Turn::text("done"), Turn::text("also done")]);
    assert!(stage.config.queues.follow_up(user("and then?")));
    stage.prompt("go").await;
    assert_snapshot!(stage.conversation(), @"
    user: go
    answer (ToolUse):  → echo
    result of echo: a
    answer (Stop): done
    user: and then?
    answer (Stop): also done
    ");
}

#[test]
fn a_queue_has_an_end() {
    let queues = Queues::default();
    for _ in 0..MAX_QUEUED {
        assert!(queues.steer(user("x")));
    }
    assert!(!queues.steer(user("x")));
    assert_eq!(queues.clear().len(), MAX_QUEUED);
}
