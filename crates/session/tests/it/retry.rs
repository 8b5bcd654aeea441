//! Tests of failures that are retried, and of those that are not.

use std::time::Duration;

use omp_session::{Command, RetryPolicy, RunEnd, SessionEvent};
use omp_testkit::{Reply, ScriptedLlm, Turn};
use omp_types::{Content, ErrorKind, ModelError};

use crate::stage::Stage;

fn fail(kind: ErrorKind) -> Reply {
    Reply::Fail { partial: Turn::text("half"), error: ModelError::new(kind, "no luck") }
}

#[tokio::test]
async fn a_passing_failure_is_retried_and_leaves_no_trace_in_the_next_request() {
    let mut stage = Stage::new([fail(ErrorKind::Overloaded), fail(ErrorKind::Network), Turn::text("made it").into()]);
    let (lines, end) = stage.prompt("go").await;
    assert_eq!(end, RunEnd::Finished);
    insta::assert_snapshot!(lines.join("\n"), @"
    user
    answer Error: half
    end (terminal: false)
    retry 1/10: no luck
    answer Error: half
    end (terminal: false)
    retry 2/10: no luck
    answer Stop: made it
    end (terminal: true)
    retry end after 2: true
    ");
    let requests = stage.llm.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.messages.len() == 1));
}

#[tokio::test]
async fn a_lasting_failure_is_reported_after_the_last_retry() {
    let mut stage = Stage::new((0..12).map(|_| fail(ErrorKind::Protocol)));
    let (lines, end) = stage.prompt("go").await;
    assert!(matches!(end, RunEnd::Failed(_)));
    assert_eq!(stage.llm.requests().len(), 11);
    assert_eq!(lines.last().unwrap(), "retry end after 10: false");
    let (_, end) = stage.prompt("again").await;
    assert!(matches!(end, RunEnd::Failed(_)), "the session goes on");
}

#[tokio::test]
async fn what_cannot_help_is_not_retried() {
    for kind in [ErrorKind::Auth, ErrorKind::BadRequest, ErrorKind::ContextOverflow, ErrorKind::Refused] {
        let mut stage = Stage::new([fail(kind)]);
        let (_, end) = stage.prompt("go").await;
        assert!(matches!(end, RunEnd::Failed(_)));
        assert_eq!(stage.llm.requests().len(), 1, "{kind:?}");
    }
}

#[tokio::test]
async fn an_abort_ends_the_wait_before_a_retry() {
    let patient = RetryPolicy {
        base_delay: Duration::from_secs(3600),
        max_delay: Duration::from_secs(7200),
        ..RetryPolicy::default()
    };
    let mut stage = Stage::with(ScriptedLlm::new([fail(ErrorKind::Overloaded)]), |options| options.retry = patient);
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let session = stage.session.clone();
    let (_, end) = stage
        .until_idle(move |event| {
            if let SessionEvent::RetryStart { .. } = event {
                let session = session.clone();
                tokio::spawn(async move { session.send(Command::Abort).await.unwrap() });
            }
        })
        .await;
    assert_eq!(end, RunEnd::Aborted);
}
