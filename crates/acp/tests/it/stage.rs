//! A client that exchanges raw frames with an agent whose model is scripted.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_policy::{ApprovalMode, Policy};
use omp_session::{BudgetLimits, OpenSession, Session, SessionHost, SessionListing, ShellRun, UserShell, Wish};
use omp_session_testkit::{AddressTool, ScriptedSession};
use omp_testkit::{Reply, ScriptedLlm, TempWorkspace, mock_model};
use omp_tools::Toolbox;
use omp_types::{Editor, Model};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio_util::sync::CancellationToken;

const LIMIT: Duration = Duration::from_secs(30);

pub struct Stage {
    pub workspace: TempWorkspace,
    pub llm: Arc<ScriptedLlm>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: Option<WriteHalf<DuplexStream>>,
    agent: tokio::task::JoinHandle<()>,
    /// Session ids in the order of their appearance.
    ids: Vec<String>,
    transcript: VecDeque<String>,
}

/// A running agent and the client's end of the connection.
pub struct Agent {
    pub workspace: TempWorkspace,
    pub llm: Arc<ScriptedLlm>,
    pub stream: DuplexStream,
    pub task: tokio::task::JoinHandle<()>,
}

impl Agent {
    pub fn start<R: Into<Reply>>(
        limits: BudgetLimits,
        mode: ApprovalMode,
        replies: impl IntoIterator<Item = R>,
    ) -> Self {
        let workspace = TempWorkspace::new(&[("a.txt", "one\ntwo\nthree\n")]).unwrap();
        let llm = Arc::new(ScriptedLlm::new(replies));
        let host = TestHost { llm: llm.clone(), cwd: workspace.project(), mode, limits };
        let (stream, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = split(theirs);
        let task = tokio::spawn(omp_acp::serve(Arc::new(host), input, output, std::future::pending()));
        Self { workspace, llm, stream, task }
    }
}

impl Stage {
    pub fn new<R: Into<Reply>>(mode: ApprovalMode, replies: impl IntoIterator<Item = R>) -> Self {
        Self::within(BudgetLimits::default(), mode, replies)
    }

    /// Starts sessions with a budget.
    pub fn within<R: Into<Reply>>(
        limits: BudgetLimits,
        mode: ApprovalMode,
        replies: impl IntoIterator<Item = R>,
    ) -> Self {
        let Agent { workspace, llm, stream, task: agent } = Agent::start(limits, mode, replies);
        let (read, write) = split(stream);
        let lines = BufReader::new(read).lines();
        Self { workspace, llm, lines, input: Some(write), agent, ids: Vec::new(), transcript: VecDeque::new() }
    }

    /// Initializes the connection and opens one session.
    pub async fn with_session<R: Into<Reply>>(
        mode: ApprovalMode,
        replies: impl IntoIterator<Item = R>,
    ) -> (Self, String) {
        Self::with_client(json!({}), mode, replies).await
    }

    /// Initializes the connection with client capabilities and opens one session.
    pub async fn with_client<R: Into<Reply>>(
        capabilities: Value,
        mode: ApprovalMode,
        replies: impl IntoIterator<Item = R>,
    ) -> (Self, String) {
        let mut stage = Self::new(mode, replies);
        let session = stage.greet(capabilities).await;
        (stage, session)
    }

    /// Initializes the connection and opens a session.
    pub async fn greet(&mut self, capabilities: Value) -> String {
        self.request(0, "initialize", json!({"protocolVersion": 1, "clientCapabilities": capabilities})).await;
        self.until_answer(0).await;
        let cwd = self.workspace.project();
        self.request(1, "session/new", json!({"cwd": cwd, "mcpServers": []})).await;
        let answer = self.until_answer(1).await;
        self.frame().await;
        self.transcript.clear();
        answer["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    pub async fn request(&mut self, id: u64, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    pub async fn prompt(&mut self, id: u64, session: &str, text: &str) {
        let blocks = json!([{"type": "text", "text": text}]);
        self.request(id, "session/prompt", json!({"sessionId": session, "prompt": blocks})).await;
    }

    /// Waits for a request of the agent.
    pub async fn asked(&mut self, method: &str) -> Value {
        self.until(|frame| frame["method"] == method && frame.get("id").is_some()).await
    }

    /// Answers a request of the agent.
    pub async fn answer(&mut self, asked: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).await;
    }

    pub async fn send(&mut self, frame: Value) {
        self.raw(&frame.to_string()).await;
    }

    pub async fn raw(&mut self, line: &str) {
        self.note("->", line);
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next frame from the agent.
    pub async fn frame(&mut self) -> Value {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await.expect("the agent is silent").unwrap();
        let line = line.expect("the agent has hung up");
        let frame: Value = serde_json::from_str(&line).unwrap();
        if let Some(id) = frame["result"]["sessionId"].as_str() {
            self.ids.push(id.to_owned());
        }
        self.note("<-", &line);
        frame
    }

    pub async fn until_answer(&mut self, id: u64) -> Value {
        self.until(|frame| frame["id"] == id && frame.get("method").is_none()).await
    }

    pub async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.frame().await;
            if wanted(&frame) {
                return frame;
            }
        }
    }

    /// Closes the input and waits for the agent to end.
    pub async fn end(&mut self) {
        drop(self.input.take().map(|mut input| tokio::spawn(async move { input.shutdown().await })));
        tokio::time::timeout(LIMIT, &mut self.agent).await.expect("the agent goes on").unwrap();
    }

    /// Returns all frames since the last call, without values that change between runs.
    pub fn transcript(&mut self) -> String {
        self.transcript.drain(..).collect::<Vec<_>>().join("\n")
    }

    fn note(&mut self, direction: &str, line: &str) {
        let project = self.workspace.project().canonicalize().unwrap();
        let mut line = line.replace(&*project.to_string_lossy(), "/project");
        line = line.replace(&*self.workspace.project().to_string_lossy(), "/project");
        for (index, id) in self.ids.iter().enumerate() {
            line = line.replace(id, &format!("session-{}", index + 1));
        }
        let line = line.replace("\"jsonrpc\":\"2.0\",", "");
        self.transcript.push_back(format!("{direction} {line}"));
    }
}

struct TestHost {
    llm: Arc<ScriptedLlm>,
    cwd: PathBuf,
    mode: ApprovalMode,
    limits: BudgetLimits,
}

impl TestHost {
    fn start(&self, editor: Editor, cwd: Option<PathBuf>) -> OpenSession {
        let cwd = cwd.unwrap_or_else(|| self.cwd.clone());
        let mut session = ScriptedSession::new(&self.llm, &cwd);
        let env = [("PI_EDIT_VARIANT", "replace")].into_iter().collect();
        let alone = Toolbox::uncontained(cwd.clone(), cwd, session.model.clone());
        session.tools = Toolbox { env, attended: true, editor, ..alone }.tools();
        session.tools.push(Arc::new(AddressTool));
        session.policy = Policy { mode: self.mode, ..Policy::default() };
        session.max_turns = 3;
        let opened = session.open(Arc::new(NoShell));
        opened.session.set_limits(self.limits);
        opened
    }
}

impl SessionHost for TestHost {
    fn open_in(&self, editor: Editor, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>> {
        async move {
            match wish {
                Wish::New { cwd, .. } => Ok(self.start(editor, cwd)),
                other => Err(format!("{other:?} is not played here")),
            }
        }
        .boxed()
    }

    fn models(&self) -> Vec<Arc<Model>> {
        vec![Arc::new(mock_model())]
    }

    fn export(&self, _: &Session, _: Option<PathBuf>) -> Result<PathBuf, String> {
        Err("nothing is exported here".to_owned())
    }

    fn sessions(&self, _: Option<PathBuf>) -> Result<Vec<SessionListing>, String> {
        Ok(Vec::new())
    }

    fn delete(&self, file: &Path) -> Result<(), String> {
        Err(format!("{} is not deleted here", file.display()))
    }
}

struct NoShell;

impl UserShell for NoShell {
    fn run<'a>(
        &'a self,
        _: &'a str,
        _: &'a (dyn Fn(&str) + Send + Sync),
        _: CancellationToken,
    ) -> BoxFuture<'a, Result<ShellRun, String>> {
        async { Err("there is no shell".to_owned()) }.boxed()
    }
}
