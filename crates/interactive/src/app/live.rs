//! The session on screen: opens it, handles its events, and closes it when another one is shown.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_session::{
    AgentEvent, Command, ContextSize, OpenSession, PLAN_FILE, RunEnd, SandboxState, Session, SessionEvent,
    SessionSwitch, SwitchFailed, SwitchedSession, TodoBoard, UserShell, Wish,
};
use omp_types::{Editor, Message, TaskPhase};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::git_watch::GitWatch;
use super::screen::Dirty;
use super::status::StatusState;
use super::{BATCH, Leave, News, PATIENCE, Running};
use crate::chrome::{GitFacts, StatusBar, Welcome, Working};
use crate::prompt::Submission;
use crate::transcript::{Past, Scribe, Tone};

/// The result of opening a session.
pub struct Opened {
    pub result: Result<SwitchedSession, SwitchFailed>,
    /// Another conversation was shown before.
    pub switched: bool,
}

pub struct Live {
    pub session: Session,
    actor: JoinHandle<()>,
    pub shell: Arc<dyn UserShell>,
    pub python: Option<Arc<dyn UserShell>>,
    todos: Option<Arc<dyn TodoBoard>>,
    pub events: mpsc::Receiver<SessionEvent>,
    pub scribe: Scribe,
    pub folder: PathBuf,
    /// The state of the repository, as last seen by the watch.
    pub git: Option<GitFacts>,
    pub git_watch: GitWatch,
    /// When the session was opened here.
    opened: Instant,
    /// When the answer began that is streamed now, and the output tokens per second of the last one.
    answering: Option<Instant>,
    rate: Option<f64>,
    /// The task list after the last call.
    pub phases: Vec<TaskPhase>,
    /// The newest prompt that was answered.
    context: ContextSize,
    /// The plan was written during the running work.
    planned: bool,
    contained: Option<SandboxState>,
}

/// Returns hour, minute and second.
fn local_time() -> (u8, u8, u8) {
    let now = jiff::Zoned::now();
    let part = |number: i8| u8::try_from(number).unwrap_or_default();
    (part(now.hour()), part(now.minute()), part(now.second()))
}

impl Live {
    pub fn look_at_todos(&mut self) {
        self.phases = self.todos.as_ref().map(|todos| todos.phases()).unwrap_or_default();
    }

    pub fn status(&self, home: PathBuf, state: &StatusState) -> StatusBar {
        let snapshot = self.session.snapshot();
        let model = &snapshot.model;
        StatusBar {
            model: model.selector(),
            thinking: model.reasoning.then_some(snapshot.thinking),
            context: self.context,
            window: model.context_window,
            usage: snapshot.spending.session,
            rate: self.rate,
            git: self.git.clone(),
            mode: snapshot.approval_mode,
            plans: snapshot.plans,
            repeats: self.session.repeats(),
            contained: self.contained.as_ref().map(|contained| (contained.in_short(), contained.is_weak())),
            folder: self.folder.clone(),
            home,
            title: snapshot.title.clone(),
            session: snapshot.session_id.clone(),
            host: state.host.clone(),
            spent: self.opened.elapsed(),
            clock: local_time(),
            command: state.command.clone(),
        }
    }

    /// Aborts running work and waits until its processes have ended.
    pub fn close(self) -> impl Future<Output = ()> + Send + 'static {
        // The event receiver is dropped first, so that nothing waits for it.
        let Live { session, actor, .. } = self;
        async move {
            if session.snapshot().running {
                // A session that has ended needs no abort.
                let _ = session.send(Command::Abort).await;
            }
            drop(session);
            // An actor that does not end in time is killed with the process.
            let _ = tokio::time::timeout(PATIENCE, actor).await;
        }
    }

    fn count(&mut self, message: &Message) {
        let Some(answer) = message.as_assistant() else { return };
        if let Some(took) = self.answering.take().map(|began| began.elapsed().as_secs_f64()) {
            self.rate = (answer.usage.output > 0 && took > 0.0).then(|| answer.usage.output as f64 / took);
        }
        if let Some(context) = self.session.context_size_after(answer) {
            self.context = context;
        }
    }
}

impl Running {
    /// Opens the first session.
    pub fn open(&mut self, wish: Wish) {
        self.begin_opening(SessionSwitch::new(wish, None), false);
    }

    /// Switches to another session.
    pub async fn switch(&mut self, wish: Wish) {
        let live = self.live.as_ref();
        let switch = SessionSwitch::new(wish, live.map(|live| live.folder.clone()));
        let switch = switch.after(live.map(|live| &live.session));
        if let Some(live) = self.live.take_if(|_| switch.lets_go_first()) {
            self.part_from(live).await;
        }
        self.begin_opening(switch, true);
    }

    fn begin_opening(&mut self, switch: SessionSwitch, switched: bool) {
        self.work.opening = true;
        let host = self.around.host.clone();
        let editor = Editor { screens: Some(self.screens.offered()), ..Editor::default() };
        self.beside(async move {
            let result = switch.open(&*host, editor).await;
            News::Opened(Box::new(Opened { result, switched }))
        });
    }

    pub async fn opened(&mut self, opened: Opened) {
        self.work.opening = false;
        self.screen.mark(Dirty::Now);
        let SwitchedSession { opened: open, ends } = match opened.result {
            Ok(switched) => switched,
            Err(SwitchFailed { problem, reopened }) => {
                if let Some(again) = reopened {
                    self.take_up(*again, true);
                }
                self.note(Tone::Error, &problem);
                if self.live.is_none() {
                    self.go(Leave::Failed);
                    if let Some(left) = &mut self.leave {
                        left.problem = Some(problem);
                    }
                }
                return;
            }
        };
        if let Some(old) = self.live.take() {
            old.session.ends_by(ends);
            tokio::spawn(self.part_from(old));
        }
        self.take_up(open, opened.switched);
    }

    /// Closes a session. Messages that wait for it go back to the editor.
    fn part_from(&mut self, old: Live) -> impl Future<Output = ()> + Send + 'static {
        let waiting = old.session.unqueue();
        if !waiting.is_empty() {
            self.give_back(waiting.iter().map(Submission::of).collect());
        }
        old.close()
    }

    fn take_up(&mut self, open: OpenSession, switched: bool) {
        let OpenSession { session, actor, header, shell, python, todos, safeguards, warnings, .. } = open;
        self.questions.clear();
        self.close_question(None);
        self.work.working = None;
        if switched {
            self.screen.clear();
        }
        let folder = PathBuf::from(&header.cwd);
        let scribe =
            Scribe::new(session.clone(), self.thoughts.clone(), self.around.costs.clone(), self.screen.gallery.clone());
        let context = session.context_size();
        let counts = self.status.look.counts_changes();
        let around = &self.around;
        let git_watch = GitWatch::begin(around.surroundings.clone(), folder.clone(), counts, around.news.clone());
        let mut live = Live {
            events: session.events(),
            session,
            actor,
            shell,
            python,
            todos,
            scribe,
            folder,
            git: None,
            git_watch,
            opened: Instant::now(),
            answering: None,
            rate: None,
            phases: Vec::new(),
            context,
            planned: false,
            contained: safeguards.containment,
        };
        live.look_at_todos();
        self.live = Some(live);
        self.welcome();
        self.tell_all(&warnings);
        self.set_title();
        self.offer_commands();
        self.status_changed();
        self.read_past(false);
    }

    /// Looks at the repository, which commands and other programs may change.
    pub(super) fn look_at_git(&self) {
        if let Some(live) = &self.live {
            live.git_watch.look();
        }
    }

    fn welcome(&mut self) {
        let Some(live) = self.live.as_ref().filter(|_| self.around.habits.greets) else { return };
        self.screen.log.push(Welcome {
            version: self.place.version.clone(),
            folder: live.folder.clone(),
            home: self.place.home.clone(),
            unused: self.place.unused.take(),
            update: self.place.update.take(),
        });
    }

    /// Reads the earlier conversation in a task. Nothing is sent until it is loaded. `moved`: it replaces the conversation
    /// on screen.
    fn read_past(&mut self, moved: bool) {
        let Some(live) = &self.live else { return };
        self.work.opening = true;
        let mut pages = live.session.transcript();
        self.beside(async move {
            let mut past = Past::default();
            while let Some(page) = pages.recv().await {
                page.into_iter().for_each(|message| past.add(message));
            }
            News::Past { past, moved }
        });
    }

    pub async fn past(&mut self, past: Past, moved: bool) {
        self.work.opening = false;
        if moved {
            self.screen.clear();
            self.welcome();
        }
        if let Some(live) = &self.live {
            past.show(&mut self.screen.log, &live.session, &self.thoughts, &self.screen.gallery);
        }
        self.screen.mark(Dirty::Now);
        while !self.work.opening
            && let Some(waiting) = self.work.waiting.pop_front()
        {
            self.say(waiting, super::submit::When::Now).await;
        }
    }

    /// Notifies a user who is not looking at the terminal.
    pub fn call(&mut self, what: &str) {
        let text = format!("{what}: {}", self.session_name());
        self.tty.notify(&text);
    }

    pub fn set_title(&mut self) {
        let title = format!("omp: {}", self.session_name());
        self.tty.set_title(&title);
    }

    /// Returns the title of the session, else the name of its folder.
    fn session_name(&self) -> String {
        let title = self.live.as_ref().and_then(|live| live.session.snapshot().title.clone());
        let folder = self.live.as_ref().map(|live| live.folder.clone()).unwrap_or_else(|| self.place.folder.clone());
        let named = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        title.unwrap_or(named)
    }

    pub async fn session_events(&mut self, first: SessionEvent) {
        self.session_event(first).await;
        for _ in 0..BATCH {
            let Some(event) = self.live.as_mut().and_then(|live| live.events.try_recv().ok()) else { break };
            self.session_event(event).await;
        }
    }

    async fn session_event(&mut self, event: SessionEvent) {
        let Some(live) = &mut self.live else { return };
        live.scribe.hear(&mut self.screen.log, &event);
        self.screen.mark(Dirty::Soon);
        match event {
            SessionEvent::Agent(event) => self.agent_event(&event),
            SessionEvent::RetryStart { .. } => self.retries(true),
            SessionEvent::RetryEnd { .. } => self.retries(false),
            SessionEvent::Question(question) => self.asked(question),
            SessionEvent::Dismissed { id } => self.close_question(Some(id)),
            SessionEvent::Renamed { .. } => self.set_title(),
            SessionEvent::CommandsChanged => self.offer_commands(),
            SessionEvent::Moved => {
                live.context = live.session.context_size();
                live.look_at_todos();
                self.read_past(true);
            }
            SessionEvent::Idle { end, undelivered } => self.idle(&end, &undelivered),
            SessionEvent::CompactionStart { .. } => {
                let working = self.work.working.get_or_insert_with(|| Working::new(Instant::now()));
                working.compacting = true;
            }
            SessionEvent::CompactionEnd { .. } => self.compacted(),
            // The queue is drawn from the snapshot.
            SessionEvent::Queued { .. }
            | SessionEvent::AgentEnd { .. }
            | SessionEvent::Spent(_)
            | SessionEvent::Reminded(_)
            | SessionEvent::RulesFired(_)
            | SessionEvent::Notice { .. }
            | SessionEvent::JobEnded(_)
            | SessionEvent::Refused(_)
            | SessionEvent::Quarantined(_) => {}
        }
    }

    /// Ends the working row if only a requested compaction was running.
    fn compacted(&mut self) {
        let Some(live) = &mut self.live else { return };
        let runs = live.session.snapshot().running;
        live.context = live.session.context_size();
        if let Some(working) = &mut self.work.working {
            working.compacting = false;
        }
        if !runs {
            self.work.working = None;
        }
    }

    fn agent_event(&mut self, event: &AgentEvent) {
        let Some(live) = &mut self.live else { return };
        match event {
            AgentEvent::AgentStart => {
                let working = self.work.working.get_or_insert_with(|| Working::new(Instant::now()));
                working.retrying = false;
            }
            AgentEvent::MessageStart { message } if message.as_assistant().is_some() => {
                live.answering = Some(Instant::now());
            }
            AgentEvent::MessageEnd { message } => live.count(message),
            AgentEvent::ToolStart { arguments, .. } => live.planned |= names_plan(arguments),
            AgentEvent::ToolEnd(_) => live.look_at_todos(),
            _ => {}
        }
        if matches!(event, AgentEvent::ToolStart { .. } | AgentEvent::ToolEnd(_))
            && let Some(working) = &mut self.work.working
        {
            working.doing = live.scribe.doing();
        }
        if matches!(event, AgentEvent::ToolEnd(_)) {
            self.look_at_git();
        }
        if matches!(event, AgentEvent::ToolEnd(_) | AgentEvent::MessageEnd { .. }) {
            self.status_changed();
        }
    }

    fn retries(&mut self, waits: bool) {
        if let Some(working) = &mut self.work.working {
            working.retrying = waits;
        }
    }

    fn idle(&mut self, end: &RunEnd, undelivered: &[omp_session::Prompt]) {
        let took = self.work.working.take().map(|working| working.since.elapsed());
        if let Some(live) = &mut self.live {
            live.look_at_todos();
        }
        let planned =
            self.live.as_mut().is_some_and(|live| std::mem::take(&mut live.planned) && live.session.snapshot().plans);
        if planned && *end == RunEnd::Finished {
            self.planned();
        }
        self.give_back(undelivered.iter().map(Submission::of).collect());
        self.status_changed();
        if took.is_some_and(|took| self.is_worth_a_call(end, took)) && !self.presses.focused {
            let how = match end {
                RunEnd::Finished => "Finished",
                RunEnd::Aborted => "Interrupted",
                _ => "Stopped",
            };
            self.call(how);
        }
        self.screen.mark(Dirty::Now);
    }

    fn is_worth_a_call(&self, end: &RunEnd, took: Duration) -> bool {
        let habits = &self.around.habits;
        let failed = !matches!(end, RunEnd::Finished | RunEnd::Aborted);
        (habits.calls.done && took > habits.long) || (habits.calls.failed && failed)
    }

    /// The session's actor is gone, which only happens after an internal error.
    pub fn session_gone(&mut self) {
        self.live = None;
        self.work.working = None;
        self.note(Tone::Error, "the session has ended\nhint: leave with /exit, then resume it with `omp --continue`");
    }
}

/// Whether a call concerns the plan: by its path, or by the header of an edit.
fn names_plan(arguments: &Value) -> bool {
    let fields = arguments.as_object().into_iter().flat_map(|fields| fields.values());
    fields.filter_map(Value::as_str).any(|text| text.contains(PLAN_FILE))
}
