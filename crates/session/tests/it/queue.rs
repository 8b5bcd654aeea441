//! Tests of messages that arrive while the session works.

use std::sync::Arc;

use omp_agent::QueueMode;
use omp_config::Settings;
use omp_session::{Command, RunEnd, SessionEvent, queues_from_settings};
use omp_testkit::{Gate, Reply, ScriptedLlm, Turn};
use omp_types::{Content, ErrorKind, Message, ModelError, UserMessage};

use crate::stage::Stage;

fn text(text: &str) -> Vec<Content> {
    vec![Content::text(text)]
}

/// Sends `command` while the first answer streams, then lets everything run.
async fn interrupted_by(command: Command) -> Stage {
    let gate = Gate::new();
    let llm = ScriptedLlm::new([Turn::text("first"), Turn::text("second"), Turn::text("third")]).gated(&gate);
    let mut stage = Stage::with(llm, |_| {});
    stage.send(Command::Prompt(text("go").into())).await;
    gate.blocked().await;
    let waiting = if matches!(command, Command::Prompt(_)) { 1 } else { 2 };
    stage.send(command).await;
    stage.send(Command::FollowUp(text("last").into())).await;
    stage.session.until(|now| now.queued == waiting).await.unwrap();
    gate.open();
    let (_, end) = stage.until_idle(|_| {}).await;
    assert_eq!(end, RunEnd::Finished);
    stage
}

fn prompts_of_request(stage: &Stage, number: usize) -> Vec<String> {
    let requests = stage.llm.requests();
    let messages = &requests[number - 1].messages;
    let users = messages.iter().filter_map(|message| match &**message {
        Message::User(user) => user.content[0].as_text().map(str::to_owned),
        _ => None,
    });
    users.collect()
}

#[tokio::test]
async fn steering_comes_before_follow_ups() {
    let stage = interrupted_by(Command::Steer(text("turn left").into())).await;
    assert_eq!(prompts_of_request(&stage, 3), ["go", "turn left", "last"]);
}

#[tokio::test]
async fn a_prompt_waits_for_the_running_one() {
    let mut stage = interrupted_by(Command::Prompt(text("another").into())).await;
    assert_eq!(prompts_of_request(&stage, 2), ["go", "last"]);
    let (_, end) = stage.until_idle(|_| {}).await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(prompts_of_request(&stage, 3), ["go", "last", "another"]);
}

#[tokio::test]
async fn the_modes_are_the_users_choice() {
    let mut settings = Settings::default();
    settings.set_runtime("followUpMode", "all".into());
    let gate = Gate::new();
    let llm = ScriptedLlm::new([Turn::text("first"), Turn::text("second")]).gated(&gate);
    let mut stage = Stage::with(llm, |options| options.queues = queues_from_settings(&settings));
    stage.send(Command::Prompt(text("go").into())).await;
    gate.blocked().await;
    stage.send(Command::FollowUp(text("one").into())).await;
    stage.send(Command::FollowUp(text("two").into())).await;
    stage.session.until(|now| now.queued == 2).await.unwrap();
    gate.open();
    stage.until_idle(|_| {}).await;
    assert_eq!(prompts_of_request(&stage, 2), ["go", "one", "two"]);
}

#[tokio::test]
async fn steering_an_idle_session_starts_a_run() {
    let mut stage = Stage::new([Turn::text("hello")]);
    stage.send(Command::Steer(text("hi").into())).await;
    let (lines, _) = stage.until_idle(|_| {}).await;
    assert!(lines.contains(&"answer Stop: hello".to_owned()));
}

/// The roles and texts of the last request, without tool results.
fn last_request(stage: &Stage) -> Vec<String> {
    prompts_of_request(stage, stage.llm.requests().len())
}

#[tokio::test]
async fn steering_is_taken_one_at_a_time_or_all_at_once() {
    for (mode, requests, second) in
        [(QueueMode::OneAtATime, 3, vec!["go", "one"]), (QueueMode::All, 2, vec!["go", "one", "two"])]
    {
        let gate = Gate::new();
        let llm = ScriptedLlm::new((0..4).map(|number| Turn::text(number.to_string()))).gated(&gate);
        let mut stage = Stage::with(llm, |_| {});
        stage.send(Command::SetSteeringMode(mode)).await;
        stage.send(Command::Prompt(text("go").into())).await;
        gate.blocked().await;
        stage.send(Command::Steer(text("one").into())).await;
        stage.send(Command::Steer(text("two").into())).await;
        stage.session.until(|now| now.queued == 2).await.unwrap();
        let queued = stage.session.queued();
        assert_eq!((queued.0.len(), queued.1.len(), stage.session.snapshot().queued), (2, 0, 2));
        gate.open();
        stage.until_idle(|_| {}).await;
        assert_eq!(stage.llm.requests().len(), requests, "{mode:?}");
        assert_eq!(prompts_of_request(&stage, 2), second, "{mode:?}");
        assert_eq!(last_request(&stage), ["go", "one", "two"], "{mode:?}");
    }
}

#[tokio::test]
async fn an_abort_gives_back_what_was_not_delivered() {
    let gate = Gate::new();
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text("first")]).gated(&gate), |_| {});
    stage.send(Command::Prompt(text("go").into())).await;
    gate.blocked().await;
    stage.send(Command::FollowUp(text("later").into())).await;
    stage.send(Command::Steer(text("now").into())).await;
    stage.send(Command::Abort).await;
    let mut given_back = Vec::new();
    let (_, end) = stage
        .until_idle(|event| {
            if let SessionEvent::Idle { undelivered, .. } = event {
                given_back.extend(undelivered.iter().map(|prompt| prompt.typed().0));
            }
        })
        .await;
    assert_eq!(end, RunEnd::Aborted);
    assert_eq!(given_back, ["now", "later"]);
    assert_eq!(stage.session.snapshot().queued, 0, "nothing is left to surprise the next prompt");
}

#[tokio::test]
async fn what_is_said_before_a_retry_is_delivered_after_it() {
    let busy = Reply::fail(ModelError::new(ErrorKind::Overloaded, "busy"));
    let gate = Gate::new();
    let llm = ScriptedLlm::new([busy, Turn::text("one").into(), Turn::text("two").into()]).gated(&gate);
    let mut stage = Stage::with(llm, |_| {});
    stage.send(Command::Prompt(text("go").into())).await;
    // The failure may be temporary; the retry has to wait for the message.
    gate.blocked().await;
    gate.pass(2);
    while !matches!(stage.events.recv().await.unwrap(), SessionEvent::RetryStart { .. }) {}
    stage.send(Command::Steer(text("by the way").into())).await;
    while !matches!(stage.events.recv().await.unwrap(), SessionEvent::Queued { waiting: 1 }) {}
    gate.open();
    let (_, end) = stage.until_idle(|_| {}).await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(prompts_of_request(&stage, 2), ["go"], "the retry asks what was asked");
    assert_eq!(prompts_of_request(&stage, 3), ["go", "by the way"]);
}

#[tokio::test]
async fn a_full_queue_loses_nothing() {
    let gate = Gate::new();
    let llm = ScriptedLlm::new((0..4).map(|number| Turn::text(number.to_string()))).gated(&gate);
    let mut stage = Stage::with(llm, |_| {});
    stage.send(Command::SetFollowUpMode(QueueMode::All)).await;
    stage.send(Command::Prompt(text("go").into())).await;
    gate.blocked().await;
    let more = omp_agent::MAX_QUEUED + 2;
    for number in 0..more {
        stage.send(Command::FollowUp(text(&number.to_string()).into())).await;
    }
    // Commands are handled in order, so all earlier ones are handled once this one is.
    stage.send(Command::SetAutoRetry(false)).await;
    stage.session.until(|now| !now.auto_retry && now.queued == omp_agent::MAX_QUEUED).await.unwrap();
    gate.open();
    // The run takes the messages that fit into the queue; the two others become prompts of their own.
    for _ in 0..3 {
        let (_, end) = stage.until_idle(|_| {}).await;
        assert_eq!(end, RunEnd::Finished);
    }
    let said = last_request(&stage);
    let expect: Vec<String> = ["go".to_owned()].into_iter().chain((0..more).map(|number| number.to_string())).collect();
    assert_eq!(said, expect);
}

#[tokio::test]
async fn what_waits_for_the_next_turn_stands_before_it_and_the_oldest_gives_way() {
    let mut stage = Stage::new([Turn::text("fine")]);
    for number in 0..70 {
        let message = Message::User(UserMessage::text(format!("note {number}")));
        stage.send(Command::NextTurn(Arc::new(message))).await;
    }
    stage.prompt("go").await;
    let said = last_request(&stage);
    assert_eq!((said.len(), said[0].as_str(), said[63].as_str()), (65, "note 6", "note 69"));
    assert_eq!(said[64], "go");
}

#[tokio::test]
async fn a_failed_question_is_asked_again_and_an_answered_one_is_not() {
    let no = Reply::fail(ModelError::new(ErrorKind::Auth, "no key"));
    let mut stage = Stage::new([no, Turn::text("yes").into()]);
    stage.prompt("go").await;
    assert!(stage.session.can_retry());
    stage.send(Command::Retry).await;
    let (lines, end) = stage.until_idle(|_| {}).await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(lines, ["answer Stop: yes", "end (terminal: true)"], "nothing new is said");
    assert_eq!(last_request(&stage), ["go"]);
    assert!(!stage.session.can_retry());
}
