//! A session in a temporary folder, with its events as short lines.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omp_agent::AnyTool;
use omp_session::{
    AgentEvent, Command, FilesKept, Recorder, RetryPolicy, RunEnd, Session, SessionEvent, SessionFeature, SessionHooks,
    SessionOptions, StandardFeatures,
};
use omp_store::{BlobStore, NewSession, SessionWriter};
use omp_testkit::{Reply, ScriptedLlm, TempWorkspace, mock_model};
use omp_types::{Content, Message, text_of};
use tokio::sync::mpsc;

/// The features of a session with these hooks.
pub fn hooked(hooks: Arc<dyn SessionHooks>) -> Vec<Arc<dyn SessionFeature>> {
    StandardFeatures { hooks: vec![hooks], ..StandardFeatures::default() }.list()
}

/// The features of a session that keeps files.
pub fn keeping(files: impl FilesKept + 'static) -> Vec<Arc<dyn SessionFeature>> {
    StandardFeatures { files: Some(Arc::new(files)), ..StandardFeatures::default() }.list()
}

pub struct Stage {
    pub workspace: TempWorkspace,
    pub llm: Arc<ScriptedLlm>,
    pub session: Session,
    pub events: mpsc::Receiver<SessionEvent>,
    pub file: PathBuf,
}

impl Stage {
    pub fn new<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self::with(ScriptedLlm::new(replies), |_| {})
    }

    pub fn with(llm: ScriptedLlm, adjust: impl FnOnce(&mut SessionOptions)) -> Self {
        let workspace = TempWorkspace::new(&[]).unwrap();
        let llm = Arc::new(llm);
        let cwd = workspace.project();
        let new = NewSession { cwd: &cwd, now: SystemTime::now(), parent_session: None };
        let writer = SessionWriter::create(&workspace.agent_dir(), BlobStore::new(&workspace.agent_dir()), new);
        let file = writer.path().to_owned();
        let mut options = SessionOptions {
            tools: vec![Arc::new(crate::approval::Note) as Arc<dyn AnyTool>],
            system: "system".into(),
            retry: RetryPolicy { base_delay: Duration::from_millis(1), ..RetryPolicy::default() },
            max_turns: 10,
            ..SessionOptions::new(llm.clone(), Arc::new(mock_model()), Recorder::to_file(writer))
        };
        adjust(&mut options);
        let (session, _actor) = Session::open(options);
        let events = session.events();
        Self { workspace, llm, session, events, file }
    }

    pub async fn send(&self, command: Command) {
        self.session.send(command).await.unwrap();
    }

    /// Sends a prompt and collects lines until the session is idle.
    pub async fn prompt(&mut self, text: &str) -> (Vec<String>, RunEnd) {
        self.send(Command::Prompt(vec![Content::text(text)].into())).await;
        self.until_idle(|_| {}).await
    }

    pub async fn until_idle(&mut self, mut on_event: impl FnMut(&SessionEvent)) -> (Vec<String>, RunEnd) {
        let mut lines = Vec::new();
        loop {
            let event = self.events.recv().await.unwrap();
            on_event(&event);
            match event {
                SessionEvent::Idle { end, .. } => return (lines, end),
                other => lines.extend(line(&other)),
            }
        }
    }

    /// The `type` of every line of the session file, with the role of messages.
    pub fn entries(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let entries = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        entries
            .map(|entry| match (entry["message"]["role"].as_str(), entry["customType"].as_str()) {
                (Some(detail), _) | (None, Some(detail)) => format!("{} {detail}", entry["type"].as_str().unwrap()),
                (None, None) => entry["type"].as_str().unwrap().to_owned(),
            })
            .collect()
    }
}

fn line(event: &SessionEvent) -> Option<String> {
    Some(match event {
        SessionEvent::Agent(AgentEvent::MessageEnd { message }) => match &**message {
            Message::Assistant(answer) => format!("answer {:?}: {}", answer.stop_reason, answer.text()),
            Message::ToolResult(result) => {
                let text = text_of(&result.content);
                format!("result{}: {text}", if result.is_error { " (error)" } else { "" })
            }
            other => other.role().to_owned(),
        },
        SessionEvent::AgentEnd { is_terminal, .. } => format!("end (terminal: {is_terminal})"),
        SessionEvent::RetryStart { attempt, max_attempts, reason, .. } => {
            format!("retry {attempt}/{max_attempts}: {reason}")
        }
        SessionEvent::RetryEnd { success, attempt, .. } => format!("retry end after {attempt}: {success}"),
        SessionEvent::Question(question) => format!("question {}", question.id),
        _ => return None,
    })
}
