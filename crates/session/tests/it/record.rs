//! Tests of the content of the session file, and of when it is written.

use std::sync::Arc;

use omp_session::{AgentEvent, Command, RunEnd, SessionEvent};
use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::{Content, ThinkingLevel};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn the_file_has_the_entries_of_the_reference_in_order() {
    let mut stage =
        Stage::with(ScriptedLlm::new([Turn::call("note", json!({"text": "x"})), Turn::text("done")]), |options| {
            options.recorder.model_changed(&options.model.clone());
            options.recorder.thinking_changed(ThinkingLevel::Off);
        });
    assert!(!stage.file.exists(), "nothing is written before the first message");
    let (_, end) = stage.prompt("go").await;
    assert_eq!(end, RunEnd::Finished);
    insta::assert_snapshot!(stage.entries().join("\n"), @"
    title
    session
    model_change
    thinking_level_change
    message user
    message assistant
    custom tool_execution_start
    custom approval_decision
    message toolResult
    message assistant
    ");
}

#[tokio::test]
async fn a_message_is_in_the_file_before_anybody_hears_of_it() {
    let mut stage = Stage::new([Turn::call("note", json!({"text": "x"})), Turn::text("done")]);
    let file = stage.file.clone();
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let mut checked = 0;
    stage
        .until_idle(|event| {
            if let SessionEvent::Agent(AgentEvent::MessageEnd { message }) = event {
                let saved = std::fs::read_to_string(&file).unwrap();
                assert!(saved.contains(&serde_json::to_string(&**message).unwrap()));
                checked += 1;
            }
        })
        .await;
    assert_eq!(checked, 4);
}

#[tokio::test]
async fn a_session_goes_on_from_its_file() {
    let mut first = Stage::new([Turn::call("note", json!({"text": "x"})), Turn::text("done")]);
    first.prompt("go").await;
    let blobs = BlobStore::new(&first.workspace.agent_dir());
    let history = LoadedSession::open(&first.file, blobs).unwrap().context().messages;
    let mut second = Stage::with(ScriptedLlm::new([Turn::text("more")]), |options| options.resumed = history.into());
    second.prompt("and?").await;
    let messages = &second.llm.requests()[0].messages;
    let roles: Vec<_> = messages.iter().map(|message| message.role().to_owned()).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "assistant", "user"]);
}

#[tokio::test]
async fn changing_the_model_is_recorded_before_the_next_message() {
    let mut stage = Stage::new([Turn::text("a"), Turn::text("b")]);
    stage.prompt("one").await;
    let mut other = omp_testkit::mock_model();
    other.id = "other".into();
    stage.send(Command::SetModel(Arc::new(other))).await;
    stage.send(Command::SetThinking(ThinkingLevel::Low)).await;
    stage.prompt("two").await;
    let text = std::fs::read_to_string(&stage.file).unwrap();
    let change = text.find(r#""model":"mock/other""#).unwrap();
    assert!(change < text.find("two").unwrap() && change > text.find("one").unwrap());
    assert_eq!(stage.session.snapshot().model.id, "other");
    assert_eq!(stage.llm.requests()[1].thinking, ThinkingLevel::Low);
}
