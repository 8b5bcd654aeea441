//! Tests that reading the state of a session costs the same for any length, and that it agrees with the events.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use omp_session::{CallSeen, Command, FilesKept, SessionEvent};
use omp_testkit::{Effort, Gate, ScriptedLlm, Turn};
use omp_types::{Content, Message, UserMessage};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::stage::{Stage, keeping};

const MESSAGES: usize = 100_000;
/// The time limit for the reads, and how many are made; a few would be too fast to measure.
const LIMIT: Duration = Duration::from_millis(5);
const LOOKS: u32 = 1000;

#[tokio::test]
async fn a_look_at_a_session_of_100_000_messages_is_cheap() {
    let history: Vec<Message> =
        (0..MESSAGES).map(|number| Message::User(UserMessage::text(number.to_string()))).collect();
    let stage = Stage::with(ScriptedLlm::new([Turn::text("unused")]), |options| options.resumed = history.into());
    let effort = Effort::begin();
    for _ in 0..LOOKS {
        assert_eq!(stage.session.snapshot().message_count, MESSAGES);
    }
    let each = effort.spent() / LOOKS;
    assert!(each < LIMIT, "{each:?}");
}

/// Delays the end of each turn until it is released.
struct Slow(Arc<Semaphore>);

impl FilesKept for Slow {
    fn begin_turn<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        future::ready(Ok(())).boxed()
    }

    fn before_call<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        future::ready(Ok(())).boxed()
    }

    fn after_call<'a>(&'a self, _: &'a str, _: &'a CancellationToken) -> BoxFuture<'a, CallSeen> {
        future::ready(CallSeen::default()).boxed()
    }

    fn end_turn<'a>(&'a self, abort: &'a CancellationToken) -> BoxFuture<'a, Result<(), String>> {
        async move {
            tokio::select! {
                let_go = self.0.acquire() => let_go.map(drop).map_err(|closed| closed.to_string()),
                () = abort.cancelled() => Ok(()),
            }
        }
        .boxed()
    }

    fn changed_by<'a>(&'a self, _: &'a [Value]) -> BoxFuture<'a, Option<String>> {
        future::ready(None).boxed()
    }

    fn rewind<'a>(&'a self, _: &'a [Value]) -> BoxFuture<'a, String> {
        future::ready(String::new()).boxed()
    }
}

#[tokio::test]
async fn a_prompt_that_has_told_its_end_is_waited_for_and_not_called_work() {
    let let_go = Arc::new(Semaphore::new(0));
    let llm = ScriptedLlm::new([Turn::text("done")]);
    let mut stage = Stage::with(llm, |options| options.features = keeping(Slow(let_go.clone())));
    assert!(!stage.session.works().await);
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    while !matches!(stage.events.recv().await.unwrap(), SessionEvent::AgentEnd { is_terminal: true, .. }) {}
    assert!(stage.session.snapshot().running);
    let mut works = Box::pin(stage.session.works());
    assert_eq!(future::poll_immediate(&mut works).await, None);
    let_go.add_permits(1);
    assert!(!works.await);
}

#[tokio::test]
async fn an_abort_ends_the_wait_for_files() {
    let llm = ScriptedLlm::new([Turn::text("done"), Turn::text("done")]);
    let mut stage = Stage::with(llm, |options| options.features = keeping(Slow(Arc::new(Semaphore::new(0)))));
    for _ in 0..2 {
        stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
        while !matches!(stage.events.recv().await.unwrap(), SessionEvent::AgentEnd { is_terminal: true, .. }) {}
        assert!(stage.session.snapshot().running);
        stage.send(Command::Abort).await;
        while !matches!(stage.events.recv().await.unwrap(), SessionEvent::Idle { .. }) {}
        assert!(!stage.session.snapshot().running);
    }
}

#[tokio::test]
async fn a_prompt_that_is_being_answered_is_work() {
    let gate = Gate::new();
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text("done")]).gated(&gate), |_| {});
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    gate.blocked().await;
    assert!(stage.session.works().await);
    gate.open();
    stage.until_idle(|_| {}).await;
    assert!(!stage.session.works().await);
}
