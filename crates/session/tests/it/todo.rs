//! Tests that a resumed session restores the todo list of the earlier run.

use std::sync::Arc;

use omp_agent::AnyTool;
use omp_session::RunEnd;
use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{ScriptedLlm, Turn};
use omp_tools::{Todo, TodoStorage};
use serde_json::json;

use crate::stage::Stage;

fn todo() -> Vec<Arc<dyn AnyTool>> {
    vec![Arc::new(Todo::new(TodoStorage::Session))]
}

#[tokio::test]
async fn what_is_open_is_there_after_a_resume() {
    let plan = json!({"ops": [{"op": "init", "list": [{"phase": "Build", "items": ["one", "two", "three"]}]}]});
    let script = ScriptedLlm::new([
        Turn::call("todo", plan),
        Turn::call("todo", json!({"ops": [{"op": "done", "task": "one"}]})),
        // A failed call leaves no state behind.
        Turn::call("todo", json!({"ops": [{"op": "rm"}, {"op": "start", "task": "nine"}]})),
        Turn::text("done"),
    ]);
    let mut first = Stage::with(script, |options| options.tools = todo());
    let (lines, end) = first.prompt("go").await;
    assert_eq!(end, RunEnd::Finished);
    assert!(lines.iter().any(|line| line.starts_with("result (error): Errors: Task \"nine\" not found")), "{lines:?}");

    let blobs = BlobStore::new(&first.workspace.agent_dir());
    let history = LoadedSession::open(&first.file, blobs).unwrap().context().messages;
    let script = ScriptedLlm::new([Turn::call("todo", json!({"ops": [{"op": "view"}]})), Turn::text("done")]);
    let mut resumed = Stage::with(script, |options| {
        options.tools = todo();
        options.resumed = history.into();
    });
    let (lines, _) = resumed.prompt("go on").await;
    let result = lines.iter().find(|line| line.starts_with("result")).unwrap();
    insta::assert_snapshot!(result, @r#"
    result: Remaining items (2):
      - two [in_progress] (Build)
      - three [pending] (Build)
    Overall: 0/2 done, 2 open.
    Active phase 1/1 "Build" (0/2).
      Build:
        - [ ] two (in progress)
        - [ ] three
    "#);
}
