//! Messages that arrive while the session works.

use omp_config::Settings;
use omp_session::{Command, RunEnd, queues_from_settings};
use omp_testkit::{Gate, ScriptedLlm, Turn};
use omp_types::{Content, Message};

use crate::stage::Stage;

fn text(text: &str) -> Vec<Content> {
    vec![Content::text(text)]
}

/// Sends `command` while the first answer streams, then lets everything run.
async fn interrupted_by(command: Command) -> Stage {
    let gate = Gate::new();
    let llm = ScriptedLlm::new([Turn::text("first"), Turn::text("second"), Turn::text("third")]).gated(&gate);
    let mut stage = Stage::with(llm, |_| {});
    stage.send(Command::Prompt(text("go"))).await;
    gate.blocked().await;
    stage.send(command).await;
    stage.send(Command::FollowUp(text("last"))).await;
    tokio::task::yield_now().await;
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
    let stage = interrupted_by(Command::Steer(text("turn left"))).await;
    assert_eq!(prompts_of_request(&stage, 3), ["go", "turn left", "last"]);
}

#[tokio::test]
async fn a_prompt_waits_for_the_running_one() {
    let mut stage = interrupted_by(Command::Prompt(text("another"))).await;
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
    stage.send(Command::Prompt(text("go"))).await;
    gate.blocked().await;
    stage.send(Command::FollowUp(text("one"))).await;
    stage.send(Command::FollowUp(text("two"))).await;
    tokio::task::yield_now().await;
    gate.open();
    stage.until_idle(|_| {}).await;
    assert_eq!(prompts_of_request(&stage, 2), ["go", "one", "two"]);
}

#[tokio::test]
async fn steering_an_idle_session_starts_a_run() {
    let mut stage = Stage::new([Turn::text("hello")]);
    stage.send(Command::Steer(text("hi"))).await;
    let (lines, _) = stage.until_idle(|_| {}).await;
    assert!(lines.contains(&"answer Stop: hello".to_owned()));
}
