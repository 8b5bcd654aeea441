//! State shared by a session's handles and its actor: everything that must be reachable while a prompt runs.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_agent::{AnyTool, Queues, ToolSet};
use omp_compaction::{CompactionSettings, Prospect};
use omp_policy::{ApprovalMode, Policy};
use omp_secrets::Veil;
use omp_store::{Custom, TitleSource};
use omp_types::{AssistantMessage, CacheRetention, Llm, Message};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::approvals::Approvals;
use crate::compacting;
use crate::desk::Desk;
use crate::event::{SessionEvent, Snapshot};
use crate::features::{SessionFeature, Waking};
use crate::outlet::Outlet;
use crate::plan;
use crate::prepared::Prompt;
use crate::prompt::{LookAround, SystemPrompt, Told};
use crate::recorder::{RecorderError, RunningRecorder};
use crate::secrets;
use crate::slash::{SlashCommand, SlashCommands};
use crate::sources::{OWN_SOURCE, Sources};
use crate::spending::{RequestParts, Spending};
use crate::standing::Standing;
use crate::{Closed, Command};

/// Messages that may wait for the next prompt; the oldest is dropped.
const MAX_NEXT_TURN: usize = 64;

/// Type of the entry that records an approval mode chosen by the user.
const MODE_ENTRY: &str = "approval_mode_change";

pub(crate) struct Control {
    pub queues: Queues,
    pub desk: Arc<Desk>,
    pub outlet: Arc<Outlet>,
    /// Replaces secrets by placeholders in everything that is stored, and restores them in calls.
    pub veil: Arc<Veil>,
    pub told: Told,
    pub llm: Arc<dyn Llm>,
    pub cache: CacheRetention,
    standing: Mutex<Standing>,
    recorder: Mutex<RunningRecorder>,
    offered: Offered,
    messages: Mutex<Vec<Arc<Message>>>,
    next_turn: Mutex<VecDeque<Arc<Message>>>,
    cancel: Mutex<Cancel>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    /// Whether failures are retried.
    auto_retry: AtomicBool,
    compaction: CompactionControl,
    policy: Mutex<Policy>,
    approvals: Mutex<Approvals>,
    spending: Mutex<Spending>,
    /// The features of the session, in this order.
    pub features: Vec<Arc<dyn SessionFeature>>,
    /// Whether a user is there to answer questions.
    pub attended: bool,
    pub waking: Waking,
    /// Lets background tasks send commands.
    pub commands: mpsc::WeakSender<Command>,
    /// Background tasks, which end with the session.
    background: Mutex<JoinSet<()>>,
    /// Set while the postponed commands are at their limit and no further command is read.
    deaf: AtomicBool,
}

/// How the conversation is compacted, for questions that arise while the compactor is in use.
struct CompactionControl {
    settings: CompactionSettings,
    /// Whether a full context is compacted automatically.
    is_automatic: AtomicBool,
}

/// Cancels the running prompt, or its wait before a retry.
#[derive(Default)]
struct Cancel {
    prompt: CancellationToken,
    retry: CancellationToken,
}

/// The inputs of [`Control::new`].
pub(crate) struct Parts {
    pub queues: Queues,
    pub system: SystemPrompt,
    pub llm: Arc<dyn Llm>,
    pub cache: CacheRetention,
    pub recorder: RunningRecorder,
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub slash_commands: Vec<Arc<dyn SlashCommand>>,
    pub snapshot: Snapshot,
    pub auto_retry: bool,
    pub compaction: CompactionSettings,
    pub policy: Policy,
    pub approvals: Approvals,
    pub spending: Spending,
    pub standing: Standing,
    pub veil: Arc<Veil>,
    pub look_around: Option<LookAround>,
    pub features: Vec<Arc<dyn SessionFeature>>,
    pub attended: bool,
    pub commands: mpsc::WeakSender<Command>,
}

impl Control {
    pub fn new(parts: Parts) -> Self {
        let veil = parts.veil;
        let outlet = Arc::new(Outlet::new(veil.clone()));
        let is_automatic = AtomicBool::new(parts.snapshot.auto_compaction);
        Self {
            queues: parts.queues,
            desk: Arc::new(Desk::new(outlet.clone())),
            outlet,
            veil,
            told: Told::new(parts.system, &parts.snapshot.model, parts.look_around),
            llm: parts.llm,
            cache: parts.cache,
            standing: Mutex::new(parts.standing),
            recorder: Mutex::new(parts.recorder),
            offered: Offered::new(parts.tools, parts.slash_commands),
            messages: Mutex::default(),
            next_turn: Mutex::default(),
            cancel: Mutex::default(),
            snapshot: watch::Sender::new(Arc::new(parts.snapshot)),
            auto_retry: AtomicBool::new(parts.auto_retry),
            compaction: CompactionControl { settings: parts.compaction, is_automatic },
            policy: Mutex::new(parts.policy),
            approvals: Mutex::new(parts.approvals),
            spending: Mutex::new(parts.spending),
            features: parts.features,
            attended: parts.attended,
            waking: Waking::default(),
            commands: parts.commands,
            background: Mutex::default(),
            deaf: AtomicBool::new(false),
        }
    }

    /// Runs a background task, at most until the session ends.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut background = lock(&self.background);
        while background.try_join_next().is_some() {}
        background.spawn(work);
    }

    /// Ends the background tasks.
    pub fn end_background(&self) {
        lock(&self.background).abort_all();
    }

    pub fn recorder(&self) -> MutexGuard<'_, RunningRecorder> {
        lock(&self.recorder)
    }

    pub fn standing(&self) -> MutexGuard<'_, Standing> {
        lock(&self.standing)
    }

    pub fn spending(&self) -> MutexGuard<'_, Spending> {
        lock(&self.spending)
    }

    /// The parts of the next request apart from the conversation.
    pub fn would_ask(&self, now: &Snapshot) -> RequestParts {
        RequestParts {
            model: now.model.clone(),
            system: self.told.system(),
            tools: self.tools().specs().clone(),
            thinking: now.thinking,
            cache: self.cache,
            forced: self.standing().terms().tool.is_some(),
        }
    }

    /// Accounts for an answer that is not part of the conversation.
    pub fn spent_beside(&self, kind: &'static str, answer: &AssistantMessage) {
        self.spending().beside(kind, answer);
        self.tell_spending();
    }

    /// Publishes the tokens and cost so far in the snapshot.
    pub fn tell_spending(&self) {
        let spending = self.spending();
        let (usage, account) = (spending.used(), Arc::new(spending.account()));
        drop(spending);
        self.change(|snapshot| (snapshot.usage, snapshot.spending) = (usage, account));
    }

    pub fn rename(&self, title: &str, source: TitleSource) -> Result<(), RecorderError> {
        self.recorder().rename(title, source)?;
        self.tell_title(title);
        Ok(())
    }

    /// Sets the title of a session that has none.
    pub fn rename_unnamed(&self, title: &str, source: TitleSource) -> Result<(), RecorderError> {
        let mut recorder = self.recorder();
        if recorder.title().is_some() {
            return Ok(());
        }
        recorder.rename(title, source)?;
        drop(recorder);
        self.tell_title(title);
        Ok(())
    }

    fn tell_title(&self, title: &str) {
        self.change(|snapshot| snapshot.title = Some(title.to_owned()));
        self.outlet.offer(SessionEvent::Renamed { title: title.to_owned() });
    }

    pub fn tools(&self) -> ToolSet {
        lock(&self.offered.tools).joined.clone()
    }

    pub fn set_tools(&self, source: &str, tools: Vec<Arc<dyn AnyTool>>) {
        let left_out = lock(&self.offered.tools).set(source, tools);
        if !left_out.is_empty() {
            let names = left_out.join("`, `");
            self.tell(format!("tools of {source} are ignored, because other tools have these names: `{names}`"));
        }
    }

    pub fn commands(&self) -> SlashCommands {
        let commands = lock(&self.offered.commands);
        let (commands, _) = commands.by_name(|command| command.name().to_owned());
        SlashCommands::new(commands.into_iter().cloned().collect())
    }

    pub fn set_commands(&self, source: &str, commands: Vec<Arc<dyn SlashCommand>>) {
        lock(&self.offered.commands).set(source, commands);
        self.outlet.offer(SessionEvent::CommandsChanged);
    }

    pub fn messages(&self) -> Vec<Arc<Message>> {
        lock(&self.messages).clone()
    }

    pub fn set_messages(&self, messages: &[Arc<Message>]) {
        *lock(&self.messages) = secrets::hide_all(&self.veil, messages);
    }

    pub fn add_message(&self, message: Arc<Message>) {
        lock(&self.messages).push(self.veil.hide_message(&message));
    }

    /// Starts or ends plan mode, effective also for calls of the running prompt. The model is notified with the next
    /// prompt.
    pub fn set_plan_mode(&self, on: bool) {
        let mut recorder = self.recorder();
        if recorder.plans() == on {
            return;
        }
        recorder.plan_mode_changed(on);
        drop(recorder);
        let mut waiting = lock(&self.next_turn);
        let before = waiting.len();
        waiting.retain(|message| !plan::is_told(message));
        let taken_back = waiting.len() < before;
        drop(waiting);
        if !taken_back {
            self.wait_for_next_turn(plan::told(on));
        }
        self.change(|snapshot| snapshot.plans = on);
    }

    pub fn plans(&self) -> bool {
        self.recorder().plans()
    }

    pub fn wait_for_next_turn(&self, message: Arc<Message>) {
        let mut waiting = lock(&self.next_turn);
        if waiting.len() >= MAX_NEXT_TURN {
            waiting.pop_front();
        }
        waiting.push_back(message);
    }

    pub fn take_next_turn(&self) -> Vec<Arc<Message>> {
        lock(&self.next_turn).drain(..).collect()
    }

    /// Starts a new prompt and returns its cancellation token.
    pub fn begin(&self) -> CancellationToken {
        let mut cancel = lock(&self.cancel);
        *cancel = Cancel::default();
        cancel.prompt.clone()
    }

    pub fn is_deaf(&self) -> bool {
        self.deaf.load(Ordering::Acquire)
    }

    pub fn set_deaf(&self, deaf: bool) {
        self.deaf.store(deaf, Ordering::Release);
    }

    pub fn abort(&self) {
        lock(&self.cancel).prompt.cancel();
    }

    /// The cancellation token of the running prompt, or of the last one.
    pub fn prompt_token(&self) -> CancellationToken {
        lock(&self.cancel).prompt.clone()
    }

    /// Starts a wait before a retry and returns its cancellation token.
    pub fn begin_retry(&self) -> CancellationToken {
        let mut cancel = lock(&self.cancel);
        cancel.retry = cancel.prompt.child_token();
        cancel.retry.clone()
    }

    pub fn abort_retry(&self) {
        lock(&self.cancel).retry.cancel();
    }

    pub fn retries(&self) -> bool {
        self.auto_retry.load(Ordering::Relaxed)
    }

    pub fn set_auto_retry(&self, on: bool) {
        self.auto_retry.store(on, Ordering::Relaxed);
        self.change(|snapshot| snapshot.auto_retry = on);
    }

    pub fn compacts(&self) -> bool {
        self.compaction.is_automatic.load(Ordering::Relaxed)
    }

    pub fn set_auto_compaction(&self, on: bool) {
        self.compaction.is_automatic.store(on, Ordering::Relaxed);
        self.change(|snapshot| snapshot.auto_compaction = on);
    }

    /// Says why a compaction on request would remove nothing. `None` if it would, or if the file cannot be read.
    pub fn nothing_to_compact(&self) -> Option<String> {
        Prospect {
            settings: &self.compaction.settings,
            model: &self.snapshot().model,
            recorded: compacting::recorded(self).ok()?,
            messages: &self.messages(),
            system: &self.told.system(),
            tools: self.tools().specs(),
        }
        .nothing_to_compact()
    }

    pub fn set_compacting(&self, on: bool) {
        self.change(|snapshot| snapshot.compacting = on);
    }

    pub fn policy(&self) -> MutexGuard<'_, Policy> {
        lock(&self.policy)
    }

    pub fn approvals(&self) -> MutexGuard<'_, Approvals> {
        lock(&self.approvals)
    }

    /// Shows a notice to the user without waiting.
    pub fn tell(&self, notice: String) {
        self.outlet.offer(SessionEvent::Notice { source: "session", text: notice });
    }

    /// Sets the mode that the user wants; sessions opened from this one keep it.
    pub fn choose_approval_mode(&self, mode: ApprovalMode) {
        self.standing().chosen_mode = Some(mode);
        let before = std::mem::replace(&mut self.policy().mode, mode);
        if before != mode {
            let data = serde_json::json!({"from": before.as_str(), "to": mode.as_str()});
            self.recorder().keep(Some(Custom { custom_type: MODE_ENTRY.to_owned(), data: Some(data) }));
        }
        self.change(|snapshot| snapshot.approval_mode = mode);
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        let current = self.snapshot.borrow().clone();
        if current.queued == self.queues.len() {
            return current;
        }
        Arc::new(Snapshot { queued: self.queues.len(), ..(*current).clone() })
    }

    pub async fn until(&self, mut wished: impl FnMut(&Snapshot) -> bool) -> Result<(), Closed> {
        let mut states = self.snapshot.subscribe();
        states.wait_for(|snapshot| wished(snapshot)).await.map(drop).map_err(|_| Closed)
    }

    pub fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        self.snapshot.send_modify(|snapshot| change(Arc::make_mut(snapshot)));
    }

    /// Queues a prompt behind the running work. Returns it if the queue is full.
    pub fn queue(&self, prompt: Prompt, push: impl FnOnce(&Queues, Arc<Message>) -> bool) -> Option<Prompt> {
        let message = self.standing().prepared.message(&prompt);
        if !push(&self.queues, message.clone()) {
            return self.standing().prepared.prompt(&message);
        }
        self.change(|snapshot| snapshot.queued = self.queues.len());
        self.outlet.offer(SessionEvent::Queued { waiting: self.queues.len() });
        None
    }

    /// Empties the queues and returns the prompts, which will not be delivered.
    pub fn unqueue(&self) -> Vec<Prompt> {
        let waited = self.queues.clear();
        let mut standing = self.standing();
        waited.iter().filter_map(|message| standing.prepared.prompt(message)).collect()
    }
}

/// What the sources of a session offer: tools for the model, slash commands for the user.
struct Offered {
    tools: Mutex<Tools>,
    commands: Mutex<Sources<Arc<dyn SlashCommand>>>,
}

impl Offered {
    fn new(tools: Vec<Arc<dyn AnyTool>>, commands: Vec<Arc<dyn SlashCommand>>) -> Self {
        let mut sources = Sources::default();
        sources.set(OWN_SOURCE, commands);
        Self { tools: Mutex::new(Tools::new(tools)), commands: Mutex::new(sources) }
    }
}

/// The tools of all sources.
struct Tools {
    sources: Sources<Arc<dyn AnyTool>>,
    joined: ToolSet,
}

impl Tools {
    fn new(own: Vec<Arc<dyn AnyTool>>) -> Self {
        let mut tools = Self { sources: Sources::default(), joined: ToolSet::default() };
        tools.set(OWN_SOURCE, own);
        tools
    }

    /// Replaces the tools of a source. Returns the names that are already taken by other sources.
    fn set(&mut self, source: &str, tools: Vec<Arc<dyn AnyTool>>) -> Vec<String> {
        self.sources.set(source, tools);
        let (kept, left_out) = self.sources.by_name(|tool| tool.name().into_owned());
        self.joined = ToolSet::new(kept.into_iter().cloned().collect());
        left_out.into_iter().filter(|(of, _)| *of == source).map(|(_, name)| name).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
