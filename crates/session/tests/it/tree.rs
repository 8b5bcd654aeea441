//! Tests of moving in the tree of a session, labels, notes, and messages that request no answer.

use std::sync::Arc;

use omp_session::{Command, GoToError, Recorder, RunEnd};
use omp_store::{BlobStore, Custom, EntryId, LoadedSession, TitleSource};
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::{Content, Message, UserMessage};

use crate::stage::Stage;

fn entry_ids(stage: &Stage) -> Vec<EntryId> {
    let blobs = BlobStore::new(&stage.workspace.agent_dir());
    LoadedSession::open(&stage.file, blobs).unwrap().context().entry_ids
}

fn said(stage: &Stage) -> Vec<String> {
    let text = |message: &Message| match message {
        Message::User(user) => omp_types::text_of(&user.content),
        Message::Assistant(answer) => answer.text(),
        other => other.role().to_owned(),
    };
    stage.session.messages().iter().map(|message| text(message)).collect()
}

#[tokio::test]
async fn the_session_goes_on_from_another_entry_and_loses_nothing() {
    let mut stage = Stage::new([Turn::text("one"), Turn::text("two"), Turn::text("three")]);
    stage.prompt("a").await;
    stage.prompt("b").await;
    let ids = entry_ids(&stage);
    stage.session.go_to(Some(ids[1].clone())).await.unwrap();
    assert_eq!(said(&stage), ["a", "one"]);
    stage.prompt("c").await;
    assert_eq!(said(&stage), ["a", "one", "c", "three"]);
    let heard = stage.llm.requests().last().unwrap().messages.len();
    assert_eq!(heard, 3, "the model is told the new branch only");
    let blobs = BlobStore::new(&stage.workspace.agent_dir());
    let mut file = LoadedSession::open(&stage.file, blobs).unwrap();
    assert_eq!(file.context().messages.len(), 4);
    assert_eq!(file.context_at(&ids[3]).unwrap().messages.len(), 4, "the branch that was left is still there");

    stage.session.go_to(None).await.unwrap();
    assert_eq!(said(&stage), [""; 0]);
}

#[tokio::test]
async fn a_place_that_does_not_exist_is_refused() {
    let mut stage = Stage::new([Turn::text("one")]);
    stage.prompt("a").await;
    let error = stage.session.go_to(Some("feedbeef".into())).await.unwrap_err();
    assert!(matches!(error, GoToError::NoEntry(_)), "{error}");
    assert_eq!(said(&stage), ["a", "one"]);

    let unrecorded = Stage::with(ScriptedLlm::new([Turn::text("one")]), |options| {
        options.recorder = Recorder::nowhere(std::path::Path::new("."));
    });
    let error = unrecorded.session.go_to(Some("feedbeef".into())).await.unwrap_err();
    assert!(matches!(error, GoToError::Unrecorded), "{error}");
}

#[tokio::test]
async fn a_title_a_label_and_a_note_are_in_the_file() {
    let mut stage = Stage::new([Turn::text("one")]);
    stage.prompt("a").await;
    let first = entry_ids(&stage).remove(0);
    stage.session.rename("A better name", TitleSource::User).unwrap();
    stage.session.label(&first, Some("start")).unwrap();
    stage.session.note(Custom { custom_type: "mine".to_owned(), data: None }).unwrap();
    assert_eq!(stage.session.snapshot().title.as_deref(), Some("A better name"));
    let kinds = stage.entries();
    assert_eq!(kinds[kinds.len() - 3..], ["title_change", "label", "custom mine"]);
}

#[tokio::test]
async fn a_message_that_asks_for_nothing_is_told_with_the_next_prompt() {
    let message = |text: &str| Arc::new(Message::User(UserMessage::new(vec![Content::text(text)])));
    let mut stage = Stage::new([Turn::text("one")]);
    stage.send(Command::Append(message("by the way"))).await;
    stage.send(Command::NextTurn(message("first of all"))).await;
    let (_, end) = stage.prompt("go").await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(said(&stage), ["by the way", "first of all", "go", "one"]);
    assert_eq!(stage.llm.requests().len(), 1);
}
