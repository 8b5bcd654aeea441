//! Tests of titles that are generated in the background.

use std::sync::Arc;

use omp_session::{Command, Recorder, RunEnd, SessionEvent, SessionFeature, StandardFeatures, Titling};
use omp_store::TitleSource;
use omp_testkit::{Reply, ScriptedLlm, Turn, mock_model};
use omp_types::{Content, ErrorKind, Model, ModelError};

use crate::stage::Stage;

fn titled(replies: impl IntoIterator<Item = Reply>) -> Stage {
    let mut small = mock_model();
    small.id = "small".into();
    Stage::with(ScriptedLlm::new(replies), |options| options.features = with_title(small))
}

fn with_title(model: Model) -> Vec<Arc<dyn SessionFeature>> {
    let titling = Some(Titling::new(Arc::new(model), None));
    StandardFeatures { titling, ..StandardFeatures::default() }.list()
}

async fn next_title(stage: &mut Stage) -> String {
    loop {
        if let SessionEvent::Renamed { title } = stage.events.recv().await.unwrap() {
            return title;
        }
    }
}

#[tokio::test]
async fn the_first_exchange_gives_the_title_and_nobody_waits_for_it() {
    let mut stage =
        titled([Turn::text("Sure.").into(), Turn::text("\"Fix the login\"").into(), Turn::text("Done.").into()]);
    let (lines, end) = stage.prompt("the login is broken").await;
    assert_eq!((lines.last().unwrap().as_str(), end), ("end (terminal: true)", RunEnd::Finished));
    assert_eq!(next_title(&mut stage).await, "Fix the login");
    assert_eq!(stage.session.snapshot().title.as_deref(), Some("Fix the login"));
    let file = std::fs::read_to_string(&stage.file).unwrap();
    assert!(file.contains(r#""source":"auto""#), "{file}");
    let asked = &stage.llm.requests()[1];
    assert_eq!((asked.model.id.as_str(), asked.tools.len(), asked.max_tokens), ("small", 0, Some(256)));
    stage.prompt("go on").await;
    let requests = stage.llm.requests();
    assert_eq!(requests.len(), 3, "a title is asked for once");
    assert_eq!(requests[2].messages.len(), 3, "the conversation knows nothing of it");
}

#[tokio::test]
async fn a_title_of_the_users_is_never_replaced() {
    let mut stage = titled([Turn::text("Sure.").into()]);
    stage.session.rename("Mine", TitleSource::User).unwrap();
    stage.prompt("hello").await;
    stage.prompt("hello again").await;
    assert_eq!(stage.llm.requests().len(), 2, "no title is asked for");
    assert_eq!(stage.session.snapshot().title.as_deref(), Some("Mine"));
}

#[tokio::test]
async fn a_failure_is_noted_and_told_to_nobody() {
    let broken = Reply::fail(ModelError::new(ErrorKind::Auth, "no key for the small model"));
    let mut stage = titled([Turn::text("Sure.").into(), broken, Turn::text("More.").into()]);
    stage.prompt("hello").await;
    stage.llm.until_requests(2).await;
    let (lines, end) = stage.prompt("more").await;
    assert_eq!(end, RunEnd::Finished);
    assert!(!lines.iter().any(|line| line.contains("small model")), "{lines:?}");
    assert_eq!(stage.session.snapshot().title, None);
    assert!(stage.entries().contains(&"custom title_failed".to_owned()), "{:?}", stage.entries());
}

#[tokio::test]
async fn without_an_answer_or_a_file_there_is_no_title() {
    let mut stage = titled([Reply::fail(ModelError::new(ErrorKind::Auth, "no")), Turn::text("Sure.").into()]);
    stage.prompt("hello").await;
    assert_eq!(stage.llm.requests().len(), 1);
    let llm = ScriptedLlm::new([Turn::text("Sure.")]);
    let mut unkept = Stage::with(llm, |options| {
        options.recorder = Recorder::nowhere(std::path::Path::new("/"));
        options.features = with_title(mock_model());
    });
    unkept.send(Command::Prompt(vec![Content::text("hello")].into())).await;
    unkept.until_idle(|_| {}).await;
    unkept.prompt("again").await;
    assert_eq!(unkept.llm.requests().len(), 2);
}
