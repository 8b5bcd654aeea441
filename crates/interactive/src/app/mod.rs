//! The application: one future that waits for keys, the session and timers, and paints when something has changed.

mod below;
mod command_screen;
mod complete;
mod correct;
mod git_watch;
mod going;
mod keys;
mod live;
mod obey;
mod offer;
mod plan;
mod questions;
mod screen;
mod shell;
mod slash;
mod status;
mod submit;

use std::cell::Cell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use omp_session::{EndReason, Question, SessionHost, SessionListing, TimeLimit, Wish};
use omp_tui::{Completion, Size, Theme};
use omp_types::Content;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use crate::chrome::{GitFacts, StatusLook, Working};
use crate::dialogs::Dialog;
use crate::habits::Habits;
use crate::keymap::Keymap;
use crate::prompt::{Outside, Prompt, PromptParts, PromptStep, Submission, TabQuery};
use crate::surroundings::Surroundings;
use crate::transcript::{AskedAbout, CostLines, Developed, Gallery, Past, PictureWishes};
use crate::tty::{Tty, TtyEvent};
use command_screen::Screens;
use correct::Corrected;
use going::Went;
use live::{Live, Opened};
pub use screen::Redraws;
use screen::{Dirty, Screen};
use shell::ShellTask;
use slash::Ran;
pub use slash::own_names as own_command_names;
use status::StatusState;

/// The parts of the application.
pub struct App {
    pub tty: Box<dyn Tty>,
    pub host: Arc<dyn SessionHost>,
    pub surroundings: Arc<dyn Surroundings>,
    pub prompt: PromptParts,
    pub look: Look,
    pub start: Start,
}

pub struct Look {
    pub theme: Arc<Theme>,
    pub keymap: Keymap,
    /// Whether thinking is shown initially.
    pub thoughts: bool,
    pub costs: CostLines,
    pub pictures: PictureWishes,
    /// Called with the result of each painted frame.
    pub redraws: Option<Redraws>,
    pub habits: Habits,
    pub status: StatusLook,
}

/// What the application does first.
pub struct Start {
    pub wish: Wish,
    /// Sent as soon as the session is open.
    pub prompts: Vec<Vec<Content>>,
    /// Shows the list of earlier sessions at once.
    pub choose_session: bool,
    pub folder: PathBuf,
    pub home: PathBuf,
    pub version: String,
    pub warnings: Vec<String>,
    /// One line about found items that are not used.
    pub unused: Option<String>,
    /// One line about a newer version.
    pub update: Option<String>,
    /// The time limit of the run, which applies even to running work.
    pub limit: TimeLimit,
}

/// How the application ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub why: Leave,
    /// The session that can be resumed.
    pub session: Option<String>,
    /// A message to print after the screen is closed.
    pub problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    Wanted,
    /// SIGINT, which no key sends here.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// SIGHUP, or the terminal was closed.
    HungUp,
    /// The time limit was reached.
    TimeUp,
    /// No session could be opened.
    Failed,
}

/// Boxed: an `async fn` would be compiled again with the binary, which is compiled last and alone.
pub fn run(app: App) -> LocalBoxFuture<'static, Left> {
    Box::pin(run_app(app))
}

async fn run_app(app: App) -> Left {
    let (news, heard) = mpsc::channel(64);
    let App { tty, host, surroundings, prompt, look, start } = app;
    let outside = prompt.outside.clone();
    let vim = look.habits.vim;
    let keymap = Rc::new(look.keymap);
    let screen = Screen::new(&*tty, look.theme, keymap.clone(), Gallery::new(look.pictures), look.redraws);
    let pulse = Arc::new(Notify::new());
    let screens = Screens::new(tty.size(), pulse.clone());
    let host_name = surroundings.host_name();
    let mut running = Running {
        around: Around {
            host,
            surroundings,
            outside,
            keymap,
            habits: look.habits,
            costs: Rc::new(Cell::new(look.costs)),
            news,
            pulse,
        },
        tty,
        screen,
        screens,
        prompt: Prompt::new(prompt).with_vim(vim),
        dialog: None,
        questions: VecDeque::new(),
        live: None,
        work: Work::default(),
        status: StatusState::new(look.status, host_name),
        thoughts: Rc::new(Cell::new(look.thoughts)),
        place: Place {
            folder: start.folder,
            home: start.home,
            version: start.version,
            unused: start.unused,
            update: start.update,
        },
        presses: Presses::default(),
        leave: None,
    };
    running.begin(start.wish, start.prompts, start.choose_session, start.warnings);
    running.read_pane().await;
    // Not before: the frame would be taken for text above omp.
    running.paint();
    running.go_on(heard, start.limit).await;
    running.end().await
}

/// The state of the running application.
pub(crate) struct Running {
    around: Around,
    tty: Box<dyn Tty>,
    screen: Screen,
    /// The screens of commands in a terminal.
    screens: Screens,
    prompt: Prompt,
    dialog: Option<OpenDialog>,
    questions: VecDeque<Question>,
    live: Option<Live>,
    work: Work,
    status: StatusState,
    thoughts: Rc<Cell<bool>>,
    place: Place,
    presses: Presses,
    leave: Option<Left>,
}

/// The fixed parts of the application.
struct Around {
    host: Arc<dyn SessionHost>,
    surroundings: Arc<dyn Surroundings>,
    outside: Arc<dyn Outside>,
    keymap: Rc<Keymap>,
    habits: Habits,
    /// Updated when the settings change.
    costs: Rc<Cell<CostLines>>,
    news: mpsc::Sender<News>,
    /// Notified when a running command has new output.
    pulse: Arc<Notify>,
}

struct OpenDialog {
    dialog: Box<dyn Dialog>,
    /// Whether the dialog asks the user something, rather than being opened by the user. The approval mode can be changed
    /// meanwhile.
    asks: bool,
    /// The id of the question that the dialog shows.
    question: Option<u64>,
    /// What the question is about.
    about: Option<AskedAbout>,
}

/// The work in progress.
#[derive(Default)]
struct Work {
    /// Set while the session runs.
    working: Option<Working>,
    shell: Option<ShellTask>,
    /// A session is being opened, or its conversation is being read.
    opening: bool,
    /// Prompts submitted before the session was open.
    waiting: VecDeque<Submission>,
    /// The number of running slash commands.
    commands: usize,
    /// Closed when the pending change to the list of sessions is done.
    list: Option<oneshot::Receiver<Infallible>>,
    /// A hint for the user, shown until the next key.
    hint: Option<String>,
    /// The last message about a text that may not have reached the clipboard.
    copied: Option<String>,
}

impl Work {
    /// The work that the animated row shows: the session's, else the user's own command.
    fn shown(&self) -> Option<&Working> {
        self.working.as_ref().or_else(|| self.shell.as_ref().map(|shell| &shell.working))
    }

    fn shown_mut(&mut self) -> Option<&mut Working> {
        let Work { working, shell, .. } = self;
        working.as_mut().or_else(|| shell.as_mut().map(|shell| &mut shell.working))
    }
}

/// The current folder, for the welcome rows and the status row.
struct Place {
    folder: PathBuf,
    home: PathBuf,
    /// A note that is shown once.
    unused: Option<String>,
    /// A note about a newer version, shown once.
    update: Option<String>,
    version: String,
}

/// When keys that have a double-press meaning were pressed, and state of the terminal.
struct Presses {
    escape: Option<Instant>,
    /// Whether the current key stopped something as ctrl+c.
    stopped: bool,
    /// Whether the key before the current one did.
    stops_again: bool,
    /// Until when a second ctrl+c exits; a hint is shown until then.
    leaves_until: Option<Instant>,
    /// Whether the current key was pressed within that time.
    leaves: bool,
    focused: bool,
    /// Whether the terminal has a light background.
    light: bool,
}

impl Default for Presses {
    fn default() -> Self {
        Self {
            escape: None,
            stopped: false,
            stops_again: false,
            leaves_until: None,
            leaves: false,
            focused: true,
            light: false,
        }
    }
}

/// Results of background tasks.
enum News {
    Opened(Box<Opened>),
    /// The conversation of the session that was opened last, or of the entry it has moved to.
    Past {
        past: Past,
        moved: bool,
    },
    Ran(Ran),
    Went(Went),
    Corrected(Box<Corrected>),
    ShellEnded(Result<omp_session::ShellRun, String>),
    Sessions(Result<Vec<SessionListing>, String>),
    /// The result of renaming or deleting a session in the list.
    ListChanged(Result<(), String>),
    /// Completions for Tab.
    Completions(TabQuery, Vec<Completion>),
    /// The state of a folder's repository.
    Git {
        folder: PathBuf,
        facts: Option<GitFacts>,
    },
    StatusCommand(Result<String, String>),
    Picture(Developed),
    /// The approval mode was changed during a run.
    ModeChanged,
}

enum Happened {
    Tty(TtyEvent),
    Session(Option<omp_session::SessionEvent>),
    News(News),
    Prompt(PromptStep),
    Pulse,
    Tick,
    TimeUp,
}

/// Caps the session events handled before the screen is updated.
const BATCH: usize = 64;
/// Caps the keys handled before the screen is updated.
const BURST: usize = 256;
/// How long a session may take to close, or to change its mode.
const PATIENCE: Duration = Duration::from_secs(3);

impl Running {
    fn begin(&mut self, wish: Wish, prompts: Vec<Vec<Content>>, choose: bool, warnings: Vec<String>) {
        self.tell_all(&warnings);
        self.work.waiting = prompts.into_iter().map(|content| Submission::of(&content.into())).collect();
        self.tty.set_title("omp");
        self.open(wish);
        if choose {
            self.list_sessions();
        }
    }

    async fn go_on(&mut self, mut heard: mpsc::Receiver<News>, limit: TimeLimit) {
        while self.leave.is_none() {
            self.develop();
            if self.screen.is_due() {
                self.paint();
            }
            match self.wait(&mut heard, limit).await {
                Happened::Tty(event) => self.tty_events(event).await,
                Happened::Session(Some(event)) => self.session_events(event).await,
                Happened::Session(None) => self.session_gone(),
                Happened::News(news) => self.news(news).await,
                Happened::Prompt(step) => self.prompt_step(step).await,
                Happened::Pulse => {
                    self.look_at_screen();
                    self.show_shell();
                }
                Happened::Tick => self.tick().await,
                Happened::TimeUp => self.go(Leave::TimeUp),
            }
        }
    }

    async fn wait(&mut self, heard: &mut mpsc::Receiver<News>, limit: TimeLimit) -> Happened {
        let wake = self.wake();
        let live = &mut self.live;
        let events = async {
            match live {
                Some(live) => live.events.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            event = self.tty.next() => Happened::Tty(event),
            () = limit.reached() => Happened::TimeUp,
            Some(news) = heard.recv() => Happened::News(news),
            event = events => Happened::Session(event),
            step = self.prompt.wait() => Happened::Prompt(step),
            () = self.around.pulse.notified() => Happened::Pulse,
            () = until(wake) => Happened::Tick,
        }
    }

    /// Returns when the next animation step is due; `None` while nothing moves.
    fn wake(&self) -> Option<Instant> {
        let moving = self.work.shown().filter(|_| !self.is_asking()).map(|_| self.screen.next_step());
        let dialog = self.dialog.as_ref().and_then(|open| open.dialog.wakes());
        let status = self.status.wakes();
        [self.screen.due(), moving, self.presses.leaves_until, dialog, self.screens.appears(), status]
            .into_iter()
            .flatten()
            .min()
    }

    async fn tick(&mut self) {
        self.look_at_screen();
        let now = Instant::now();
        self.status_tick(now);
        let due = self.dialog.as_mut().filter(|open| open.dialog.wakes().is_some_and(|due| now >= due));
        if let Some(open) = due {
            let step = open.dialog.woken();
            self.step(step).await;
        }
        if self.presses.leaves_until.take_if(|until| now >= *until).is_some() {
            self.work.hint = None;
            self.screen.mark(Dirty::Now);
        }
        if now >= self.screen.next_step()
            && !self.is_asking()
            && let Some(working) = self.work.shown_mut()
        {
            working.step += 1;
            working.asking = false;
            let stop = self.around.keymap.shown("app.interrupt");
            self.screen.step(now, working, &stop);
        }
    }

    async fn tty_events(&mut self, first: TtyEvent) {
        self.tty_event(first).await;
        for _ in 0..BURST {
            let Some(event) = self.tty.try_next().filter(|_| self.leave.is_none()) else { break };
            self.tty_event(event).await;
        }
    }

    async fn tty_event(&mut self, event: TtyEvent) {
        match event {
            TtyEvent::Input(input) => self.input(input).await,
            TtyEvent::Resize(size) => self.resize(size),
            TtyEvent::Profile(profile) => self.screen.set_profile(profile, self.tty.images()),
            TtyEvent::Background(background) => {
                self.presses.light = background.is_light();
                if let Some(theme) = self.around.surroundings.theme_for(background) {
                    self.screen.set_theme(theme);
                }
            }
            TtyEvent::Stop => self.suspend(),
            TtyEvent::Continued => {
                self.screen.begin_again();
                self.resize(self.tty.size());
                self.read_pane().await;
            }
            TtyEvent::Terminated(why) => self.go(why),
            TtyEvent::Closed => self.go(Leave::HungUp),
        }
    }

    fn resize(&mut self, size: Size) {
        self.screen.resize(size);
        self.screens.resize(size);
    }

    async fn news(&mut self, news: News) {
        match news {
            News::Opened(opened) => self.opened(*opened).await,
            News::Past { past, moved } => self.past(past, moved).await,
            News::Ran(ran) => self.ran(ran).await,
            News::Went(went) => self.went(went).await,
            News::Corrected(corrected) => self.corrected(*corrected),
            News::ShellEnded(run) => self.shell_ended(run).await,
            News::Sessions(sessions) => self.offer_sessions(sessions),
            News::Picture(developed) => {
                self.screen.gallery.developed(developed);
                self.screen.mark(Dirty::Now);
            }
            News::ListChanged(changed) => self.list_changed(changed),
            News::ModeChanged => self.screen.mark(Dirty::Now),
            News::Completions(query, found) => self.completed(&query, found),
            News::Git { folder, facts } => {
                if let Some(live) = self.live.as_mut().filter(|live| live.folder == folder) {
                    live.git = facts;
                    self.screen.mark(Dirty::Soon);
                }
            }
            News::StatusCommand(result) => self.status_command_ran(result),
        }
    }

    /// Runs a task whose result arrives as [`News`].
    fn beside(&self, work: impl Future<Output = News> + Send + 'static) {
        let news = self.around.news.clone();
        // After the application has ended, nobody receives the result.
        tokio::spawn(async move { news.send(work.await).await.is_ok() });
    }

    /// Asks tmux for the text above the next frame.
    async fn read_pane(&mut self) {
        let above = self.around.outside.pane_text().await;
        self.screen.set_above(above);
    }

    /// Decodes the next image.
    fn develop(&self) {
        let Some(job) = self.screen.gallery.next() else { return };
        let number = job.number();
        self.beside(async move {
            let developed = tokio::task::spawn_blocking(move || job.run()).await;
            News::Picture(developed.unwrap_or(Developed { number, picture: None }))
        });
    }

    fn go(&mut self, why: Leave) {
        let snapshot = self.live.as_ref().map(|live| live.session.snapshot());
        let kept = snapshot.filter(|snapshot| snapshot.file.is_some() && snapshot.message_count > 0);
        let session = kept.map(|snapshot| snapshot.session_id.clone());
        self.leave.get_or_insert(Left { why, session, problem: None });
    }

    /// Leaves the transcript on the screen, without the rows that only make sense while the user can type.
    async fn end(mut self) -> Left {
        self.dialog = None;
        self.work.working = None;
        if let Some(shell) = self.work.shell.take() {
            shell.cancel();
        }
        self.screen.set_overlay(None);
        self.screen.leave(&mut *self.tty);
        if let Some(live) = self.live.take() {
            if self.leave.as_ref().is_some_and(|left| left.why == Leave::Wanted) {
                live.session.ends_by(EndReason::Exit);
            }
            live.close().await;
        }
        self.leave.unwrap_or(Left { why: Leave::Wanted, session: None, problem: None })
    }
}

async fn until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
