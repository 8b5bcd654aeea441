//! A terminal of 60 columns and 18 rows with the application in it, a scripted model and real tools.

use std::cell::RefCell;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use omp_agent::Queues;
use omp_interactive::{
    App, Candidate, Clip, FileIndex, KeyPlaces, Keymap, Leave, Left, Look, Outside, PromptHistory, PromptParts,
    Provider, Secret, Start, Stored, Surroundings, Tty, TtyEvent,
};
use omp_session::{
    ApprovalMode, OpenSession, Policy, Recorder, RetryPolicy, Session, SessionHost, SessionListing, SessionOptions,
    ShellRun, SlashCommand, SlashCommands, SlashReply, UserShell, Wish,
};
use omp_testkit::{Reply, ScriptedLlm, TempWorkspace, mock_model};
use omp_tools::{NoArtifacts, TodoBoard, ToolOptions, Toolbox};
use omp_tui::{Input, Key, Profile, Rgb, Size, Theme};
use omp_types::{CacheRetention, Editor, ImageContent, Message, Model, ThinkingLevel};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

const LIMIT: Duration = Duration::from_secs(20);
pub const WIDTH: usize = 60;
pub const HEIGHT: usize = 18;

/// What a test may want otherwise.
pub struct Options {
    pub mode: ApprovalMode,
    pub llm: ScriptedLlm,
    pub retry: Duration,
    pub history: Vec<Message>,
    pub wish: Wish,
}

impl Options {
    pub fn new<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self {
            mode: ApprovalMode::Yolo,
            llm: ScriptedLlm::new(replies),
            retry: Duration::from_millis(1),
            history: Vec::new(),
            wish: Wish::New { cwd: None, parent: None },
        }
    }
}

pub struct Stage {
    pub workspace: TempWorkspace,
    pub llm: Arc<ScriptedLlm>,
    screen: Rc<RefCell<Glass>>,
    painted: Rc<Notify>,
    events: mpsc::Sender<TtyEvent>,
    app: tokio::task::JoinHandle<Left>,
}

/// What the user sees, and what the terminal was told besides.
struct Glass {
    parser: vt100::Parser,
    titles: Vec<String>,
    notices: Vec<String>,
    bytes: usize,
}

/// Plays a scene with the application.
pub async fn play(options: Options, scene: impl AsyncFnOnce(&mut Stage)) {
    tokio::task::LocalSet::new()
        .run_until(async move {
            let mut stage = Stage::new(options);
            stage.until("mock-model").await;
            scene(&mut stage).await;
        })
        .await;
}

impl Stage {
    fn new(options: Options) -> Self {
        let workspace = TempWorkspace::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n")]).unwrap();
        let llm = Arc::new(options.llm);
        let host = Arc::new(TestHost {
            llm: llm.clone(),
            cwd: workspace.project(),
            mode: options.mode,
            retry: options.retry,
            history: options.history,
        });
        let (events, receiver) = mpsc::channel(1024);
        let screen = Rc::new(RefCell::new(Glass {
            parser: vt100::Parser::new(cells(HEIGHT), cells(WIDTH), 1000),
            titles: Vec::new(),
            notices: Vec::new(),
            bytes: 0,
        }));
        let painted = Rc::new(Notify::new());
        let tty = TestTty { events: receiver, screen: screen.clone(), painted: painted.clone() };
        let app = omp_interactive::run(App {
            tty: Box::new(tty),
            host,
            surroundings: Arc::new(Nowhere),
            prompt: PromptParts { outside: Arc::new(Nowhere), files: Arc::new(Nowhere), history: Arc::new(Nowhere) },
            look: Look { theme: Arc::new(Theme::colorless()), keymap: Keymap::defaults(), thoughts: true },
            start: Start {
                wish: options.wish,
                prompts: Vec::new(),
                choose_session: false,
                folder: workspace.project(),
                home: workspace.home(),
                version: "0".into(),
                warnings: Vec::new(),
            },
        });
        Self { workspace, llm, screen, painted, events, app: tokio::task::spawn_local(app) }
    }

    /// Types text, letter by letter.
    pub async fn type_text(&self, text: &str) {
        for char in text.chars() {
            let key = Key::plain(omp_tui::KeyCode::Char(char));
            self.send(TtyEvent::Input(Input::Key(key))).await;
        }
    }

    /// Presses keys by their names, such as `enter ctrl+o`.
    pub async fn press(&self, keys: &str) {
        for name in keys.split(' ') {
            self.send(TtyEvent::Input(Input::Key(Key::parse(name).unwrap()))).await;
        }
    }

    /// Types a line and sends it.
    pub async fn say(&self, text: &str) {
        self.type_text(text).await;
        self.press("enter").await;
    }

    pub async fn send(&self, event: TtyEvent) {
        self.events.send(event).await.unwrap();
    }

    pub async fn resize(&self, width: usize, height: usize) {
        self.screen.borrow_mut().parser.screen_mut().set_size(cells(height), cells(width));
        self.send(TtyEvent::Resize(Size { width, height })).await;
    }

    /// Waits until the screen shows this.
    pub async fn until(&mut self, needle: &str) {
        self.until_screen(needle, |text| text.contains(needle)).await;
    }

    pub async fn until_gone(&mut self, needle: &str) {
        self.until_screen(needle, |text| !text.contains(needle)).await;
    }

    async fn until_screen(&mut self, what: &str, wanted: impl Fn(&str) -> bool) {
        let waited = tokio::time::timeout(LIMIT, async {
            while !wanted(&self.text()) {
                self.painted.notified().await;
            }
        });
        assert!(waited.await.is_ok(), "waited in vain for {what:?}:\n{}", self.text());
    }

    /// The screen without empty rows at its end, and nothing in it that changes from run to run.
    pub fn text(&self) -> String {
        let glass = self.screen.borrow();
        let project = self.workspace.project().to_string_lossy().into_owned();
        let text = glass.parser.screen().contents();
        let rows = text.lines().map(|row| row.replace(&project, "/project").trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Everything, from the first row of the scrollback.
    pub fn all(&self) -> String {
        let mut glass = self.screen.borrow_mut();
        let screen = glass.parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let above = screen.scrollback();
        let mut rows: Vec<String> = Vec::new();
        for back in (1..=above).rev() {
            screen.set_scrollback(back);
            rows.extend(screen.rows(0, WIDTH as u16).next());
        }
        screen.set_scrollback(0);
        rows.extend(screen.rows(0, WIDTH as u16));
        let project = self.workspace.project().to_string_lossy().into_owned();
        let rows = rows.iter().map(|row| row.replace(&project, "/project").trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    pub fn titles(&self) -> Vec<String> {
        self.screen.borrow().titles.clone()
    }

    pub fn notices(&self) -> Vec<String> {
        self.screen.borrow().notices.clone()
    }

    pub fn bytes(&self) -> usize {
        self.screen.borrow().bytes
    }

    /// Waits for the application to end.
    pub async fn left(&mut self) -> Leave {
        tokio::time::timeout(LIMIT, &mut self.app).await.expect("the application goes on").unwrap().why
    }
}

fn cells(count: usize) -> NonZeroU16 {
    NonZeroU16::new(u16::try_from(count).unwrap()).unwrap()
}

struct TestTty {
    events: mpsc::Receiver<TtyEvent>,
    screen: Rc<RefCell<Glass>>,
    painted: Rc<Notify>,
}

impl Tty for TestTty {
    fn next(&mut self) -> LocalBoxFuture<'_, TtyEvent> {
        async {
            match self.events.recv().await {
                Some(event) => event,
                None => TtyEvent::Closed,
            }
        }
        .boxed_local()
    }

    fn try_next(&mut self) -> Option<TtyEvent> {
        self.events.try_recv().ok()
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut glass = self.screen.borrow_mut();
        glass.parser.process(bytes);
        glass.bytes += bytes.len();
        self.painted.notify_one();
    }

    fn size(&self) -> Size {
        Size { width: WIDTH, height: HEIGHT }
    }

    fn profile(&self) -> Profile {
        Profile::default()
    }

    fn pause(&mut self) {}

    fn resume(&mut self) {}

    fn suspend(&mut self) {}

    fn set_title(&mut self, title: &str) {
        self.screen.borrow_mut().titles.push(title.to_owned());
    }

    fn notify(&mut self, text: &str) {
        self.screen.borrow_mut().notices.push(text.to_owned());
    }
}

struct TestHost {
    llm: Arc<ScriptedLlm>,
    cwd: PathBuf,
    mode: ApprovalMode,
    retry: Duration,
    history: Vec<Message>,
}

impl TestHost {
    fn start(&self, history: Vec<Message>) -> OpenSession {
        let model = Arc::new(Model { reasoning: true, ..mock_model() });
        let todo = TodoBoard::default();
        let toolbox = Toolbox {
            cwd: self.cwd.clone(),
            home: self.cwd.clone(),
            env: [("PI_EDIT_VARIANT", "replace"), ("PATH", "/usr/bin:/bin")].into_iter().collect(),
            artifacts: Arc::new(NoArtifacts),
            options: ToolOptions::read(&|_| None),
            model: model.clone(),
            attended: true,
            terminal: false,
            editor: Editor::default(),
            jobs: Arc::new(omp_tools::Jobs::new(1)),
            todo: todo.clone(),
            resources: Vec::new(),
        };
        let recorder = Recorder::nowhere(&self.cwd);
        let header = recorder.header().clone();
        let (session, actor) = Session::open(SessionOptions {
            llm: self.llm.clone(),
            model,
            thinking: ThinkingLevel::High,
            tools: toolbox.tools(),
            system: "system".into(),
            recorder,
            history,
            policy: Policy { mode: self.mode, ..Policy::default() },
            retry: RetryPolicy { base_delay: self.retry, ..RetryPolicy::default() },
            cache: CacheRetention::Short,
            queues: Queues::default(),
            max_turns: 5,
            attended: true,
            reminders: Vec::new(),
        });
        let commands = SlashCommands::new(vec![Arc::new(Echo), Arc::new(Earlier)]);
        let todos: Arc<dyn omp_session::TodoBoard> = Arc::new(Board(todo));
        let shell = Arc::new(TestShell);
        OpenSession { session, actor, header, commands, shell, python: None, todos: Some(todos), warnings: Vec::new() }
    }
}

impl SessionHost for TestHost {
    fn open_in(&self, _: Editor, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>> {
        async move {
            match wish {
                Wish::New { .. } => Ok(self.start(Vec::new())),
                Wish::Resume { .. } => Ok(self.start(self.history.clone())),
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

struct Echo;

impl SlashCommand for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn description(&self) -> &str {
        "Says it again"
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move { Ok(SlashReply::Text(format!("it says {arguments}"))) }.boxed()
    }
}

/// Goes on with the conversation that the stage was given.
struct Earlier;

impl SlashCommand for Earlier {
    fn name(&self) -> &str {
        "earlier"
    }

    fn description(&self) -> &str {
        "Goes on with an earlier session"
    }

    fn switches_session(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, _: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async { Ok(SlashReply::Switch(Wish::Resume { file: "earlier.jsonl".into(), cwd: None })) }.boxed()
    }
}

/// The task list of the tools, as front ends see it.
struct Board(TodoBoard);

impl omp_session::TodoBoard for Board {
    fn phases(&self) -> Value {
        serde_json::to_value(self.0.phases()).unwrap()
    }

    fn set_phases(&self, _: Value) -> Result<(), String> {
        Err("not here".to_owned())
    }
}

/// Prints what it was asked to run; `wait` waits to be stopped.
struct TestShell;

impl UserShell for TestShell {
    fn run<'a>(
        &'a self,
        command: &'a str,
        progress: &'a (dyn Fn(&str) + Send + Sync),
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<ShellRun, String>> {
        async move {
            let output = format!("ran {command}\n");
            progress(&output);
            if command == "wait" {
                cancel.cancelled().await;
                return Ok(ShellRun { output, cancelled: true, ..ShellRun::default() });
            }
            Ok(ShellRun { output, exit_code: Some(0), ..ShellRun::default() })
        }
        .boxed()
    }
}

/// A machine without anything.
struct Nowhere;

impl Outside for Nowhere {
    fn edit_text<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        async move { Ok(Some(format!("{text} edited"))) }.boxed()
    }

    fn clipboard(&self) -> BoxFuture<'_, Result<Option<Clip>, String>> {
        async { Ok(None) }.boxed()
    }

    fn read_image<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<ImageContent, String>> {
        async move { Err(format!("there is no {path}")) }.boxed()
    }

    fn copy<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        async { Ok(()) }.boxed()
    }
}

impl FileIndex for Nowhere {
    fn complete(&self, _: &str) -> Vec<Candidate> {
        Vec::new()
    }
}

impl PromptHistory for Nowhere {
    fn entries(&self) -> Vec<String> {
        Vec::new()
    }

    fn keep(&self, _: &str) {}
}

impl Surroundings for Nowhere {
    fn branch(&self, _: &Path) -> Option<String> {
        Some("main".to_owned())
    }

    fn themes(&self) -> Vec<String> {
        Vec::new()
    }

    fn theme(&self, name: &str) -> Result<Arc<Theme>, String> {
        Err(format!("there is no theme {name}"))
    }

    fn theme_for(&self, _: Rgb) -> Option<Arc<Theme>> {
        None
    }

    fn roles(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn settings(&self) -> Result<Stored, String> {
        Ok(Box::new(|_| None))
    }

    fn key_places(&self) -> KeyPlaces {
        let provider = Provider { name: "openai".to_owned(), variable: "OPENAI_API_KEY".to_owned() };
        KeyPlaces { providers: vec![provider], file: "~/.omp/agent/.env".to_owned() }
    }

    fn keep_key(&self, provider: &str, key: &Secret) -> Result<String, String> {
        Ok(format!("kept {} letters for {provider}", key.0.len()))
    }

    fn keep_setting(&self, key: &str, _: Value) -> Result<(), String> {
        Err(format!("{key} is not kept here"))
    }
}
