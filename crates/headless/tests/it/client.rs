//! A client on pipes, and a host that creates sessions with a scripted model.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::AnyTool;
use omp_headless::{Client, Exit, HostUris, serve};
use omp_policy::Policy;
use omp_session::{
    OpenSession, OutputSizes, Recorder, Session, SessionHost, ShellRun, SlashCommand, SlashReply, TodoBoard, UserShell,
    Wish,
};
use omp_session_testkit::ScriptedSession;
use omp_store::{BlobStore, LoadedSession, NewSession, SessionWriter, SessionsDir};
use omp_testkit::{Reply, ScriptedLlm, TempWorkspace, mock_model};
use omp_types::{Content, Editor, Message, Model, TaskPhase};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Creates sessions in a temporary folder.
pub struct TestHost {
    pub workspace: TempWorkspace,
    pub llm: Arc<ScriptedLlm>,
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub policy: Policy,
    pub wishes: Mutex<Vec<String>>,
    /// The delay before the first retry.
    pub retry_delay: Duration,
}

impl TestHost {
    pub fn new<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self::with(ScriptedLlm::new(replies))
    }

    pub fn with(llm: ScriptedLlm) -> Self {
        Self {
            workspace: TempWorkspace::new(&[]).unwrap(),
            llm: Arc::new(llm),
            tools: Vec::new(),
            policy: Policy::default(),
            wishes: Mutex::default(),
            retry_delay: Duration::from_millis(1),
        }
    }

    fn start(&self, wish: Wish) -> Result<OpenSession, String> {
        let cwd = self.workspace.project();
        let blobs = BlobStore::new(&self.workspace.agent_dir());
        let fresh = || {
            let new = NewSession { cwd: &cwd, now: SystemTime::now(), parent_session: None };
            SessionWriter::create(&self.workspace.agent_dir(), blobs.clone(), new)
        };
        let open = |file: &PathBuf| LoadedSession::open(file, blobs.clone()).map_err(|error| error.to_string());
        let (writer, history): (SessionWriter, Vec<Message>) = match &wish {
            Wish::New { .. } => (fresh(), Vec::new()),
            Wish::Resume { file, .. } => {
                let mut loaded = open(file)?;
                let history = loaded.context().messages;
                (loaded.into_writer().map_err(|error| error.to_string())?.0, history)
            }
            Wish::Branch { file, leaf } => {
                let context = leaf.as_ref().and_then(|leaf| open(file).ok()?.context_at(leaf));
                (fresh(), context.unwrap_or_default().messages)
            }
            Wish::Move { cwd, .. } if !cwd.is_dir() => return Err(format!("{} is no folder", cwd.display())),
            Wish::Move { file, cwd } => {
                let sessions = SessionsDir::flat(self.workspace.agent_dir().join("moved"));
                let file = sessions.move_to(file, cwd, blobs.clone()).map_err(|error| error.to_string())?;
                let mut loaded = open(&file)?;
                let history = loaded.context().messages;
                (loaded.into_writer().map_err(|error| error.to_string())?.0, history)
            }
            Wish::Fork { .. } => return Err("no command of RPC forks".to_owned()),
        };
        let session = ScriptedSession {
            tools: self.tools.clone(),
            recorder: Recorder::to_file(writer),
            resumed: history.into(),
            policy: self.policy.clone(),
            retry_delay: self.retry_delay,
            commands: vec![Arc::new(Echo)],
            todos: Some(Arc::new(Board::default())),
            ..ScriptedSession::new(&self.llm, &cwd)
        };
        Ok(session.open(Arc::new(FakeShell)))
    }
}

impl SessionHost for TestHost {
    fn open_in(&self, _: Editor, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>> {
        let kind = format!("{wish:?}");
        self.wishes.lock().unwrap().push(kind.split([' ', '{']).next().unwrap_or_default().to_owned());
        let opened = self.start(wish);
        async move { opened }.boxed()
    }

    fn models(&self) -> Vec<Arc<Model>> {
        let other = Model { id: "mock-2".to_owned(), name: "mock-2".to_owned(), reasoning: true, ..mock_model() };
        vec![Arc::new(mock_model()), Arc::new(other)]
    }

    fn export(&self, _session: &Session, to: Option<PathBuf>) -> Result<PathBuf, String> {
        to.ok_or_else(|| "where to?".to_owned())
    }

    fn sessions(&self, _: Option<PathBuf>) -> Result<Vec<omp_session::SessionListing>, String> {
        Ok(Vec::new())
    }

    fn delete(&self, file: &Path) -> Result<(), String> {
        Err(format!("{} is not deleted here", file.display()))
    }
}

/// `/echo x` replies x; `/echo` makes the model answer.
struct Echo;

impl SlashCommand for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn description(&self) -> &str {
        "Says it again"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[words]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        if let Some(cwd) = arguments.strip_prefix("move ") {
            let file = session.snapshot().file.clone().unwrap();
            return async move { Ok(SlashReply::Switch(Wish::Move { file, cwd: cwd.into() })) }.boxed();
        }
        let reply = match arguments {
            "" => Ok(SlashReply::Prompt(vec![Content::text("echo!")].into())),
            "fail" => Err("it failed".to_owned()),
            "again" => Ok(SlashReply::Retry),
            "elsewhere" => Ok(SlashReply::Switch(Wish::New { cwd: None, parent: None })),
            text => Ok(SlashReply::Text(text.to_owned())),
        };
        async move { reply }.boxed()
    }
}

/// Prints the command; `wait` runs until it is aborted.
struct FakeShell;

impl UserShell for FakeShell {
    fn run<'a>(
        &'a self,
        command: &'a str,
        _progress: &'a (dyn Fn(&str) + Send + Sync),
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<ShellRun, String>> {
        async move {
            if command == "wait" {
                cancel.cancelled().await;
                return Ok(ShellRun { cancelled: true, ..ShellRun::default() });
            }
            let mut ran = ShellRun { output: format!("{command}\n"), exit_code: Some(3), ..ShellRun::default() };
            if command == "much" {
                (ran.truncated, ran.artifact_id) = (true, Some("7".to_owned()));
                ran.working_dir = Some("/elsewhere".into());
                let sizes = OutputSizes { total_lines: 900, total_bytes: 90_000, shown_lines: 1, shown_bytes: 5 };
                ran.sizes = Some(sizes);
            }
            Ok(ran)
        }
        .boxed()
    }
}

#[derive(Default)]
struct Board(Mutex<Vec<TaskPhase>>);

impl TodoBoard for Board {
    fn phases(&self) -> Vec<TaskPhase> {
        self.0.lock().unwrap().clone()
    }

    fn set_phases(&self, phases: Value) -> Result<(), String> {
        if !phases.is_array() {
            return Err("phases must be a list".to_owned());
        }
        *self.0.lock().unwrap() = serde_json::from_value(phases).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// A client of a server that runs in the same process.
pub struct Rpc {
    pub host: Arc<TestHost>,
    input: Option<std::io::PipeWriter>,
    lines: mpsc::UnboundedReceiver<Value>,
    served: tokio::task::JoinHandle<std::io::Result<Exit>>,
}

/// Longer than any test takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

impl Rpc {
    pub async fn start(host: TestHost) -> Self {
        let host = Arc::new(host);
        let uris = Arc::new(HostUris::default());
        let first = host.open_in(uris.editor(), Wish::New { cwd: None, parent: None }).await.unwrap();
        let (input, to_server) = std::io::pipe().unwrap();
        let (from_server, output) = std::io::pipe().unwrap();
        let (signal, signals) = mpsc::channel(1);
        let client = Client { input: Box::new(input), output: Box::new(output), signals, uris };
        let server = host.clone();
        let served = tokio::spawn(async move {
            let exit = serve(server, first, client).await;
            drop(signal);
            exit
        });
        let (sender, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in BufReader::new(from_server).lines().map_while(Result::ok) {
                let frame = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(frame).is_err() {
                    return;
                }
            }
        });
        Self { host, input: Some(to_server), lines, served }
    }

    pub fn send(&mut self, frame: &Value) {
        self.send_line(&frame.to_string());
    }

    pub fn send_line(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub async fn next(&mut self) -> Value {
        tokio::time::timeout(LIMIT, self.lines.recv()).await.expect("nothing came in time").expect("the output ended")
    }

    /// Returns the frames up to and including one of this type.
    pub async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            frames.push(self.next().await);
            if frames.last().unwrap()["type"] == kind {
                return frames;
            }
        }
    }

    /// Sends a command and waits for its response.
    pub async fn ask(&mut self, mut command: Value) -> Value {
        command["id"] = "q".into();
        self.send(&command);
        loop {
            let frame = self.next().await;
            if frame["type"] == "response" && (frame["id"] == "q" || frame["success"] == false) {
                return frame;
            }
        }
    }

    /// Sends a prompt and waits for the end of the run.
    pub async fn prompt(&mut self, message: &str) -> Vec<Value> {
        self.send(&json!({"type": "prompt", "message": message}));
        self.until("agent_end").await
    }

    /// Closes the input; returns the remaining frames and the exit code.
    pub async fn finish(mut self) -> (Vec<Value>, Exit) {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(frame) = tokio::time::timeout(LIMIT, self.lines.recv()).await.expect("the server did not end") {
            rest.push(frame);
        }
        (rest, self.served.await.unwrap().unwrap())
    }
}

/// Formats each frame as a short line: its type and its distinguishing field.
pub fn outline(frames: &[Value]) -> Vec<String> {
    let mut lines: Vec<String> = frames.iter().map(line).collect();
    // How text is split into deltas depends on timing.
    lines.dedup();
    lines
}

fn line(frame: &Value) -> String {
    let kind = frame["type"].as_str().unwrap();
    let detail = match kind {
        "response" => {
            let id = frame["id"].as_str().map(|id| format!(" {id}")).unwrap_or_default();
            let rest = if frame["success"] == true { frame.get("data") } else { frame.get("error") };
            let rest = rest.map(|rest| format!(": {rest}")).unwrap_or_default();
            let outcome = if frame["success"] == true { "ok" } else { "failed" };
            format!("{} {outcome}{id}{rest}", frame["command"].as_str().unwrap())
        }
        "message_start" | "message_end" => frame["message"]["role"].as_str().unwrap().to_owned(),
        "message_update" => frame["assistantMessageEvent"]["type"].as_str().unwrap().to_owned(),
        "extension_ui_request" | "host_tool_call" | "host_tool_cancel" | "command_output" | "notice" => {
            frame.to_string()
        }
        _ => String::new(),
    };
    format!("{kind} {detail}").trim_end().to_owned()
}
