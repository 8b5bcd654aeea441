//! Finding out what a call has changed may take long: tests that an abort does not wait for it and that nothing is lost.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use omp_session::{CallSeen, Command, FilesKept, RunEnd, SessionEvent, UNDO_ENTRY};
use omp_store::Custom;
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::Content;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::stage::{Stage, keeping};

/// Reports nothing until it is cancelled.
struct Endless {
    looks: Arc<Notify>,
}

impl FilesKept for Endless {
    fn begin_turn<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        future::ready(Ok(())).boxed()
    }

    fn before_call<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        future::ready(Err("not all is covered".to_owned())).boxed()
    }

    fn after_call<'a>(&'a self, call_id: &'a str, abort: &'a CancellationToken) -> BoxFuture<'a, CallSeen> {
        async move {
            self.looks.notify_one();
            abort.cancelled().await;
            let data = Some(json!({"turn": "t", "callId": call_id}));
            let entry = Some(Custom { custom_type: UNDO_ENTRY.to_owned(), data });
            CallSeen { entry, problem: Some("it takes long".to_owned()) }
        }
        .boxed()
    }

    fn end_turn<'a>(&'a self, abort: &'a CancellationToken) -> BoxFuture<'a, Result<(), String>> {
        abort.cancelled().map(Ok).boxed()
    }

    fn changed_by<'a>(&'a self, _: &'a [Value]) -> BoxFuture<'a, Option<String>> {
        future::ready(None).boxed()
    }

    fn rewind<'a>(&'a self, _: &'a [Value]) -> BoxFuture<'a, String> {
        future::ready(String::new()).boxed()
    }
}

#[tokio::test]
async fn an_abort_does_not_wait_for_the_look_after_a_call_and_nothing_is_lost() {
    let looks = Arc::new(Notify::new());
    let llm = ScriptedLlm::new([Turn::call("note", json!({"text": "x"})), Turn::text("done")]);
    let mut stage = Stage::with(llm, |options| options.features = keeping(Endless { looks: looks.clone() }));
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let session = stage.session.clone();
    tokio::spawn(async move {
        looks.notified().await;
        session.send(Command::Abort).await.unwrap();
    });
    let mut notices = Vec::new();
    let (lines, end) = stage
        .until_idle(|event| {
            if let SessionEvent::Notice { text, .. } = event {
                notices.push(text.clone());
            }
        })
        .await;
    assert_eq!(end, RunEnd::Aborted);
    assert!(lines.iter().any(|line| line == "result: noted x"), "{lines:?}");
    assert_eq!(notices, ["not all is covered", "it takes long"]);
    let file = std::fs::read_to_string(&stage.file).unwrap();
    assert!(file.contains(&format!("\"customType\":\"{UNDO_ENTRY}\"")), "{file}");
}
