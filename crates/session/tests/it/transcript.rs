//! Tests that a user is shown the whole session, whatever is sent to the model.

use std::sync::Arc;

use omp_session::{Recorder, Session};
use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{ScriptedLlm, TempWorkspace, Turn};
use omp_types::{Message, text_of};
use serde_json::json;

use crate::stage::Stage;

/// Each message as `role: text`, and the size of the largest page.
async fn told(session: &Session) -> (Vec<String>, usize) {
    let (mut lines, mut longest) = (Vec::new(), 0);
    let mut pages = session.transcript();
    while let Some(page) = pages.recv().await {
        longest = longest.max(page.len());
        lines.extend(page.iter().map(|message: &Arc<Message>| {
            let text = match &**message {
                Message::User(user) => text_of(&user.content),
                Message::Assistant(answer) => answer.text(),
                Message::ToolResult(result) => text_of(&result.content),
                _ => String::new(),
            };
            format!("{}: {text}", message.role())
        }));
    }
    (lines, longest)
}

/// A file where the first 40 messages were compacted away.
fn compacted(workspace: &TempWorkspace) -> LoadedSession {
    let mut lines =
        vec![json!({"type": "session", "version": 3, "id": "x", "timestamp": "2026-11-15T20:00:03.186Z", "cwd": "/"})];
    let mut parent = json!(null);
    let mut add = |id: String, mut entry: serde_json::Value| {
        entry["id"] = json!(id);
        entry["parentId"] = parent.take();
        entry["timestamp"] = json!("2026-11-15T20:00:03.186Z");
        parent = json!(id);
        lines.push(entry);
    };
    let said = |text: String| json!({"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}});
    for index in 0..40 {
        add(format!("m{index}"), said(format!("old {index}")));
    }
    let summary = json!({"type": "compaction", "summary": "s", "firstKeptEntryId": "c", "tokensBefore": 9});
    add("c".to_owned(), summary);
    add("n".to_owned(), said("new".to_owned()));
    let file = workspace.agent_dir().join("x.jsonl");
    std::fs::create_dir_all(workspace.agent_dir()).unwrap();
    std::fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    LoadedSession::open(&file, BlobStore::new(&workspace.agent_dir())).unwrap()
}

#[tokio::test]
async fn what_was_compacted_away_is_told_some_at_a_time() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let mut loaded = compacted(&workspace);
    let history = loaded.context().messages;
    let (writer, _) = loaded.into_writer().unwrap();
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text("ok")]), |options| {
        (options.recorder, options.resumed) = (Recorder::to_file(writer), history.into());
    });
    stage.prompt("go on").await;
    assert!(stage.session.messages().len() < 6, "the model is told little");
    let (lines, longest) = told(&stage.session).await;
    let mut expect: Vec<String> = (0..40).map(|index| format!("user: old {index}")).collect();
    expect.extend(["custom: ", "user: new", "user: go on", "assistant: ok"].map(str::to_owned));
    assert_eq!(lines, expect);
    assert!(longest <= 16, "{longest} messages at once");
}

#[tokio::test]
async fn without_a_file_there_is_what_is_remembered() {
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text("ok")]), |options| {
        options.recorder = Recorder::nowhere("/".as_ref());
    });
    assert_eq!(told(&stage.session).await.0, [""; 0]);
    stage.prompt("hi").await;
    assert_eq!(told(&stage.session).await.0, ["user: hi", "assistant: ok"]);
}

#[tokio::test]
async fn only_the_branch_that_the_session_stands_on_is_told() {
    let mut stage = Stage::new([Turn::text("a"), Turn::text("b")]);
    assert_eq!(told(&stage.session).await.0, [""; 0], "nothing is written yet");
    stage.prompt("one").await;
    let leaf = stage.session.leaf();
    stage.prompt("two").await;
    assert_eq!(told(&stage.session).await.0.len(), 4);
    stage.session.go_to(leaf).await.unwrap();
    assert_eq!(told(&stage.session).await.0, ["user: one", "assistant: a"]);
    stage.session.go_to(None).await.unwrap();
    assert_eq!(told(&stage.session).await.0, [""; 0]);
}
