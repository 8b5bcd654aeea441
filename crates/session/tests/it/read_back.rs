//! Tests that a model can read back messages that a compaction removed.

use std::path::PathBuf;
use std::sync::Arc;

use omp_agent::AnyTool;
use omp_session::{Command, Recorder, Session, SessionEvent, SessionOptions};
use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{ScriptedLlm, Turn, mock_model};
use omp_tools::{Files, History, HistoryResource, NoArtifacts, Read, Router};
use omp_types::{Content, Message, text_of};
use serde_json::json;

use crate::stage::Stage;

const CONSTRAINT: &str = "Constraint 0: never touch `gen_0/*.rs`; step 0 of the work.";

/// Reads the history in the same way as `omp`.
struct FileHistory(PathBuf, BlobStore);

impl History for FileHistory {
    fn transcript(&self) -> Result<String, String> {
        Err("not asked for here".into())
    }

    fn span(&self, first: &str, last: &str) -> Result<String, String> {
        let session = LoadedSession::open(&self.0, self.1.clone()).map_err(|error| error.to_string())?;
        let span = session.span(&first.into(), &last.into()).ok_or("no such span")?;
        Ok(span.read(0..span.len()).0.iter().map(|told| text_of(told.message.content()) + "\n").collect())
    }
}

fn told(messages: &[Arc<Message>]) -> String {
    messages.iter().map(|it| text_of(it.content()) + "\n").collect()
}

#[tokio::test]
async fn the_model_reads_back_what_was_taken_out() {
    let answers = (0..8).map(|number| format!("secret {number} is {}\n{}", number * 7919, "noise ".repeat(900)));
    let summary = ["## State\nNothing is remembered.".to_owned(), "Steps of the work".to_owned()];
    let llm = ScriptedLlm::new(answers.chain(summary).map(|text| Turn::text(text.as_str())));
    let mut stage = Stage::with(llm, |options| options.compaction.settings.limits.keep_recent_tokens = 2_000);
    stage.prompt(CONSTRAINT).await;
    for number in 1..8 {
        stage.prompt(&format!("Now do step {number} of the work.")).await;
    }
    stage.session.compact(None).await.unwrap();
    let sent = told(&stage.session.messages());
    let url = sent.lines().find(|line| line.starts_with("history://")).and_then(|line| line.split(' ').next()).unwrap();
    let read = Turn::call("read", json!({"path": format!("{url}:1-40")}));
    let llm = Arc::new(ScriptedLlm::new([read, Turn::text("ok")]));
    let session = taken_up(&stage, llm.clone());
    let mut events = session.events();
    session.send(Command::Prompt(vec![Content::text("What was secret 0?")].into())).await.unwrap();
    while !matches!(events.recv().await, Some(SessionEvent::Idle { .. }) | None) {}
    let requests = llm.requests();
    let [first, second] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    assert!(told(&first.messages).contains(CONSTRAINT));
    assert!(!told(&first.messages).contains("secret 0 is 0"));
    let last = &second.messages[second.messages.len() - 1..];
    assert!(told(last).contains("secret 0 is 0"), "{}", told(last));
}

/// Resumes the session with a model that can read.
fn taken_up(stage: &Stage, llm: Arc<ScriptedLlm>) -> Session {
    let blobs = BlobStore::new(&stage.workspace.agent_dir());
    let history = LoadedSession::open(&stage.file, blobs.clone()).unwrap().context().messages;
    let mut router = Router::new(Arc::new(NoArtifacts));
    router.register(Arc::new(HistoryResource(Arc::new(FileHistory(stage.file.clone(), blobs)))));
    let files = Arc::new(Files::new(stage.workspace.project(), None));
    let options = SessionOptions {
        tools: vec![Arc::new(Read::new(files, Arc::new(router))) as Arc<dyn AnyTool>],
        system: "system".into(),
        resumed: history.into(),
        max_turns: 10,
        ..SessionOptions::new(llm, Arc::new(mock_model()), Recorder::nowhere(&stage.workspace.project()))
    };
    Session::open(options).0
}
