//! A terminal of 60 columns and 18 rows that runs the application with a scripted model and real tools.

mod host;
mod world;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use omp_interactive::{
    App, CostLines, Habits, Keymap, Leave, Left, Look, PictureWishes, PlainIo, PromptParts, Start, StatusLook, Tty,
    TtyEvent, run_plain,
};
use omp_policy::ApprovalMode;
use omp_session::{SessionHost, TimeLimit, Wish};
use omp_testkit::{Reply, ScriptedLlm, TempWorkspace};
use omp_tui::{CellSize, ImageWay, Input, Key, Profile, Size, Theme};
use omp_types::Message;
use tokio::sync::{Notify, mpsc};

use host::TestHost;
pub use world::{World, picture};

/// Longer than any test takes on a slow and busy machine.
const LIMIT: Duration = Duration::from_secs(60);
pub const WIDTH: usize = 60;
pub const HEIGHT: usize = 18;

/// Options of a test.
pub struct Options {
    pub mode: ApprovalMode,
    pub llm: ScriptedLlm,
    pub retry: Duration,
    pub history: Vec<Message>,
    pub wish: Wish,
    /// The image protocol of the terminal.
    pub images: ImageWay,
    pub limit: Option<Duration>,
    pub unused: Option<String>,
    /// `branchSummary.enabled`
    pub sums_up_branches: bool,
    /// Sessions are stored in the temporary folder.
    pub recorded: bool,
    /// Lines of a keybindings file.
    pub keys: &'static str,
    /// `--resume` without a value.
    pub choose_session: bool,
    pub habits: Habits,
    pub world: World,
}

impl Options {
    pub fn new<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self {
            mode: ApprovalMode::Auto,
            llm: ScriptedLlm::new(replies),
            retry: Duration::from_millis(1),
            history: Vec::new(),
            wish: Wish::New { cwd: None, parent: None },
            images: ImageWay::Text,
            limit: None,
            unused: None,
            sums_up_branches: false,
            recorded: false,
            keys: "",
            choose_session: false,
            habits: Habits::read(Duration::from_secs(10), |_| None),
            world: World::default(),
        }
    }

    /// Options with stored sessions.
    pub fn recorded<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self { recorded: true, ..Self::new(replies) }
    }
}

pub struct Stage {
    pub workspace: TempWorkspace,
    pub llm: Arc<ScriptedLlm>,
    pub world: Arc<World>,
    screen: Rc<RefCell<Glass>>,
    painted: Rc<Notify>,
    events: mpsc::Sender<TtyEvent>,
    app: tokio::task::JoinHandle<Left>,
}

/// The screen of the terminal, and other state that was sent to it.
struct Glass {
    parser: vt100::Parser,
    titles: Vec<String>,
    notices: Vec<String>,
    copied: Vec<String>,
    /// Another program has the terminal.
    away: bool,
    suspended: bool,
    bytes: usize,
    /// The bytes written since the last check.
    written: Vec<u8>,
    images: ImageWay,
    paints: Vec<String>,
    rows_below: usize,
}

/// Runs a scene with the application.
pub async fn play(options: Options, scene: impl AsyncFnOnce(&mut Stage)) {
    play_whole(options, async |mut stage| scene(&mut stage).await).await;
}

/// Runs a scene that starts the application more than once.
pub async fn play_whole(options: Options, scene: impl AsyncFnOnce(Stage)) {
    play_unready(options, async |mut stage| {
        // The branch is shown last, because a thread looks it up.
        stage.until("· main ·").await;
        scene(stage).await;
    })
    .await;
}

/// Runs a scene that begins before the application is ready.
pub async fn play_unready(options: Options, scene: impl AsyncFnOnce(Stage)) {
    tokio::task::LocalSet::new()
        .run_until(async move {
            let workspace = TempWorkspace::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n")]).unwrap();
            scene(Stage::new(workspace, options)).await;
        })
        .await;
}

/// Runs plain mode with the given lines and returns its output.
pub async fn talk_plainly(options: Options, lines: &[&str]) -> (String, Arc<World>) {
    let workspace = TempWorkspace::new(&[("a.txt", "one\n")]).unwrap();
    let host = Arc::new(TestHost {
        llm: Arc::new(options.llm),
        cwd: workspace.project(),
        store: None,
        mode: options.mode,
        retry: options.retry,
        history: options.history,
        sums_up_branches: options.sums_up_branches,
    });
    let world = Arc::new(options.world);
    let (sender, receiver) = mpsc::channel(lines.len().max(1));
    for line in lines {
        sender.send((*line).to_owned()).await.unwrap();
    }
    drop(sender);
    let (_signals, signals) = mpsc::channel(1);
    let mut out = Vec::new();
    let io = PlainIo {
        lines: receiver,
        out: Box::new(&mut out),
        signals,
        attended: false,
        prompt: PromptParts { outside: world.clone(), files: world.clone(), history: world.clone() },
        limit: TimeLimit::begin(Some(LIMIT)),
    };
    let opened = host.open_in(omp_types::Editor::default(), options.wish).await.unwrap();
    run_plain(host, opened, Vec::new(), io).await.unwrap();
    (String::from_utf8(out).unwrap(), world)
}

impl Stage {
    fn new(workspace: TempWorkspace, options: Options) -> Self {
        let llm = Arc::new(options.llm);
        let host = Arc::new(TestHost {
            llm: llm.clone(),
            cwd: workspace.project(),
            store: options.recorded.then(|| workspace.agent_dir()),
            mode: options.mode,
            retry: options.retry,
            history: options.history,
            sums_up_branches: options.sums_up_branches,
        });
        let world = Arc::new(options.world);
        let (keymap, problems) = Keymap::parse(options.keys);
        assert!(problems.is_empty(), "{problems:?}");
        let (events, receiver) = mpsc::channel(1024);
        let screen = Rc::new(RefCell::new(Glass {
            parser: vt100::Parser::new(cells(HEIGHT), cells(WIDTH), 1000),
            titles: Vec::new(),
            notices: Vec::new(),
            copied: Vec::new(),
            away: false,
            suspended: false,
            bytes: 0,
            written: Vec::new(),
            images: options.images,
            paints: Vec::new(),
            rows_below: 0,
        }));
        let paints = screen.clone();
        let painted = Rc::new(Notify::new());
        let tty = TestTty { events: receiver, screen: screen.clone(), painted: painted.clone() };
        let app = omp_interactive::run(App {
            tty: Box::new(tty),
            host,
            surroundings: world.clone(),
            prompt: PromptParts { outside: world.clone(), files: world.clone(), history: world.clone() },
            look: Look {
                theme: Arc::new(Theme::colorless()),
                keymap,
                thoughts: true,
                costs: CostLines { turns: true, misses: true },
                pictures: PictureWishes::default(),
                redraws: Some(Box::new(move |painted| paints.borrow_mut().paints.push(painted.how.to_owned()))),
                habits: options.habits,
                status: StatusLook::read(|key| world.setting(key)).0,
            },
            start: Start {
                wish: options.wish,
                prompts: Vec::new(),
                choose_session: options.choose_session,
                folder: workspace.project(),
                home: workspace.home(),
                version: "0".into(),
                warnings: Vec::new(),
                unused: options.unused,
                update: None,
                limit: TimeLimit::begin(options.limit),
            },
        });
        Self { workspace, llm, world, screen, painted, events, app: tokio::task::spawn_local(app) }
    }

    /// Starts the application again in the same workspace.
    pub async fn again(self, options: Options) -> Self {
        let mut stage = Self::new(self.workspace, options);
        stage.until("· main ·").await;
        stage
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

    pub async fn paste(&self, text: &str) {
        self.send(TtyEvent::Input(Input::Paste(text.to_owned()))).await;
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

    /// Waits until a question with this text is shown and accepts keys.
    pub async fn until_asked(&mut self, needle: &str) {
        const READ: std::time::Duration = std::time::Duration::from_millis(350);
        self.until(needle).await;
        tokio::time::sleep(READ).await;
    }

    pub async fn until_gone(&mut self, needle: &str) {
        self.until_screen(needle, |text| !text.contains(needle)).await;
    }

    /// Waits until the text is shown this many times.
    pub async fn until_count(&mut self, needle: &str, count: usize) {
        self.until_screen(needle, |text| text.matches(needle).count() == count).await;
    }

    async fn until_screen(&mut self, what: &str, wanted: impl Fn(&str) -> bool) {
        self.until_true(what, |stage| wanted(&stage.text())).await;
    }

    pub async fn until_title(&mut self, title: &str) {
        self.until_true(title, |stage| stage.titles().last().is_some_and(|last| last == title)).await;
    }

    /// Waits until the process was suspended.
    pub async fn until_suspended(&mut self) {
        self.until_true("the end of the process's time", |stage| stage.screen.borrow().suspended).await;
    }

    /// Waits for a theme with other colors than these.
    pub async fn until_colors_other_than(&mut self, colors: &BTreeSet<String>) {
        self.until_true("other colours", |stage| stage.colors() != *colors).await;
    }

    async fn until_true(&mut self, what: &str, wanted: impl Fn(&Self) -> bool) {
        let waited = tokio::time::timeout(LIMIT, async {
            while !wanted(self) {
                self.painted.notified().await;
            }
        });
        assert!(waited.await.is_ok(), "waited in vain for {what:?}:\n{}", self.text());
    }

    /// Waits until the status line shows an estimate of the context, or a count of the provider.
    pub async fn until_context(&mut self, is_estimate: bool) {
        let shown = |stage: &Self| stage.screen.borrow().parser.screen().contents();
        self.until_true("the context", |stage| shown(stage).contains("· ~") == is_estimate).await;
    }

    /// Returns the text colors on the screen.
    pub fn colors(&self) -> BTreeSet<String> {
        let glass = self.screen.borrow();
        let screen = glass.parser.screen();
        let places = (0..HEIGHT as u16).flat_map(|row| (0..WIDTH as u16).map(move |column| (row, column)));
        let cells = places.filter_map(|(row, column)| screen.cell(row, column)).filter(|cell| cell.has_contents());
        cells.map(|cell| format!("{:?}", cell.fgcolor())).collect()
    }

    /// Returns the screen without trailing empty rows and without values that change between runs.
    pub fn text(&self) -> String {
        let glass = self.screen.borrow();
        let project = self.workspace.project().to_string_lossy().into_owned();
        let text = glass.parser.screen().contents();
        let rows = text.lines().map(|row| without_estimate(&row.replace(&project, "/project")).trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Returns the screen with a fixed spinner and fixed seconds, independent of timing.
    pub fn still(&self) -> String {
        let still = |row: &str| match row.split_once(" · ") {
            Some((doing, rest)) if rest.ends_with("esc to interrupt") => {
                format!("{} · 0s · esc to interrupt", doing.replace(|c| ('⠀'..='⣿').contains(&c), "*"))
            }
            _ => row.to_owned(),
        };
        self.text().lines().map(still).collect::<Vec<_>>().join("\n")
    }

    /// Returns everything from the first row of the scrollback.
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
        let rows = rows.iter().map(|row| without_estimate(&row.replace(&project, "/project")).trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    pub fn titles(&self) -> Vec<String> {
        self.screen.borrow().titles.clone()
    }

    pub fn notices(&self) -> Vec<String> {
        self.screen.borrow().notices.clone()
    }

    /// Returns the row of the cursor, the last row of the frame, and the number of rows between them that the terminal was
    /// told.
    pub fn below_cursor(&self) -> (usize, usize, usize) {
        let rows = self.text().lines().count();
        let glass = self.screen.borrow();
        let cursor = usize::from(glass.parser.screen().cursor_position().0);
        (cursor, rows - 1, glass.rows_below)
    }

    /// Returns the texts that the terminal was asked to copy.
    pub fn copied(&self) -> Vec<String> {
        self.screen.borrow().copied.clone()
    }

    pub fn bytes(&self) -> usize {
        self.screen.borrow().bytes
    }

    /// Returns the bytes written since the last call.
    pub fn written(&self) -> String {
        let bytes = std::mem::take(&mut self.screen.borrow_mut().written);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until this was written so many times since the last call of [`Self::written`].
    pub async fn until_written(&mut self, what: &str, count: usize) {
        let waited = tokio::time::timeout(LIMIT, async {
            let written = || String::from_utf8_lossy(&self.screen.borrow().written).matches(what).count();
            while written() < count {
                self.painted.notified().await;
            }
        });
        assert!(waited.await.is_ok(), "waited in vain for {count} {what:?}:\n{}", self.text());
    }

    /// Returns how each frame was painted.
    pub fn paints(&self) -> Vec<String> {
        self.screen.borrow().paints.clone()
    }

    /// The terminal reports another image protocol.
    pub async fn show_images(&self, way: ImageWay) {
        self.screen.borrow_mut().images = way;
        self.send(TtyEvent::Profile(Profile::default())).await;
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
        assert!(!glass.away, "the terminal belongs to another program");
        glass.parser.process(bytes);
        glass.bytes += bytes.len();
        glass.written.extend_from_slice(bytes);
        self.painted.notify_one();
    }

    fn size(&self) -> Size {
        Size { width: WIDTH, height: HEIGHT }
    }

    fn profile(&self) -> Profile {
        Profile::default()
    }

    fn images(&self) -> (ImageWay, CellSize) {
        (self.screen.borrow().images, CellSize { width: 10, height: 20 })
    }

    fn set_rows_below(&mut self, rows: usize) {
        self.screen.borrow_mut().rows_below = rows;
    }

    fn pause(&mut self) {
        self.screen.borrow_mut().away = true;
    }

    fn resume(&mut self) {
        self.screen.borrow_mut().away = false;
    }

    fn suspend(&mut self) {
        self.screen.borrow_mut().suspended = true;
        self.painted.notify_one();
    }

    fn set_title(&mut self, title: &str) {
        self.screen.borrow_mut().titles.push(title.to_owned());
        self.painted.notify_one();
    }

    fn notify(&mut self, text: &str) {
        self.screen.borrow_mut().notices.push(text.to_owned());
    }

    fn copy(&mut self, text: &str) -> bool {
        self.screen.borrow_mut().copied.push(text.to_owned());
        true
    }
}

/// The estimated context depends on the descriptions of the tools; it is replaced by 0 %.
fn without_estimate(row: &str) -> String {
    match row.split_once("· ~").and_then(|(before, after)| Some((before, after.split_once('%')?))) {
        Some((before, (number, after))) if number.parse::<f64>().is_ok() => format!("{before}· 0%{after}"),
        _ => row.to_owned(),
    }
}
