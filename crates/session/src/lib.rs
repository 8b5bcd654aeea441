//! The session: commands in, events out. Everything a front end needs and nothing of how it is drawn.
//!
//! [`Session`] is a cheap handle to one actor that owns the transcript. The actor is split by noun: `recorder` writes the
//! file, `approvals` decides about calls, `retry` about failures, `desk` about questions, `prompt` about what the model is
//! told, `control` holds what must be reached while a prompt runs. What takes part in its runs is a list of
//! [`SessionFeature`]s. It knows neither providers nor tools; both are handed in. Who needs more than one session holds a
//! [`SessionHost`].

mod actor;
mod approval;
mod control;
mod event;
mod factory;
mod features;
mod file_commands;
mod host;
mod inbox;
mod outlet;
mod plan;
mod port;
mod prepared;
mod prompt;
mod record;
mod runs;
mod settings;
mod slash;
mod sources;
mod spending;
mod switch;
mod transcripts;

use std::sync::Arc;

use omp_agent::{AnyTool, ArrivingCall, InterruptMode, Outcome, QueueMode, Queues, ToolSet};
use omp_compaction::{BranchNote, Compacted, CompactionOptions};
use omp_policy::{ApprovalMode, ApprovalRule, Policy, RuleLevel};
use omp_secrets::Veil;
use omp_store::Custom;
use omp_types::{Access, AccessMap, CacheRetention, Llm, Message, Model, ServiceTier, ThinkingLevel};
use omp_view::{CallKind, View};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

// Modules are known by their own names, whichever folder they lie in.
use approval::{access, approvals, desk, refused, safeguards, web_address};
use control::Control;
use record::{recorder, resumed, secrets, stripped};
use runs::{aside, compacting, maintenance, pictures, queue_modes, retry, run_end, standing, time_limit};
use transcripts::{branch_points, conversation, history, stats, tree};

pub use approvals::{CallDetails, DECISION_ENTRY, Decided, RuleKeeper};
pub use branch_points::BranchPoint;
pub use conversation::conversation;
pub use desk::{Answer, Question, QuestionKind};
pub use event::{Reminded, SessionEvent, Snapshot};
pub use factory::{SessionFactory, SubSession};
pub use features::{
    BackgroundJobs, CallSeen, EndReason, FilesInTheWay, FilesKept, Heard, HookPermission, HookPoint, HookReply,
    HookScene, JobEnded, Overwritten, QUARANTINE_ENTRY, Quarantined, RulesFired, Said, SessionCx, SessionFeature,
    SessionHooks, StandardFeatures, StartSource, StreamRules, TTSR_INJECTION, Titling, UNDO_ENTRY, Word,
};
pub use file_commands::{Arguments, Expanded, Piece, expand};
pub use host::{OpenSession, OutputSizes, RanBy, SessionHost, SessionListing, ShellRun, TodoBoard, UserShell, Wish};
pub use omp_agent::{AgentEvent, Choice, ChoiceOption, Effect, RunEnd, ToolOutcome, ToolOutput};
pub use omp_store::{EntryId, TitleSource, TreeFilter};
pub use outlet::{Observed, Observer};
pub use plan::{PLAN_APPROVED, PLAN_FILE};
pub use prepared::{CallLimit, Prepared, Prompt};
pub use prompt::{
    ContextReport, Environment, GitState, INCLUDE_WORKSPACE_TREE, Listed, LookAround, Measured, NamedText, Opening,
    PartCost, PartKind, PromptParts, Replacement, SETTINGS as PROMPT_SETTINGS, Section, SystemPrompt, TemplateError,
    Tree, context_report,
};
pub use queue_modes::queues_from_settings;
pub use recorder::{Recorder, RecorderError, SessionHeader};
pub use refused::Refused;
pub use resumed::Resumed;
pub use retry::{RetryPolicy, ToldRetries};
pub use safeguards::{Contained, Kept, Safeguards};
pub use settings::SETTINGS;
pub use slash::{
    Attached, Called, CalledCommand, CommandSource, MISSING_COMMANDS, Obeyed, SlashCommand, SlashCommands, SlashReply,
    TERMINAL_ONLY, TypedPrompt,
};
pub use sources::OWN_SOURCE;
pub use spending::{
    Account, Beside, BreakCause, Broken, BudgetLimits, Estimate, MOST_TURNS, PrefixBreak, RequestParts, RunBudget,
    SPENDING_SETTINGS, Spent, TurnSpent, cached_percent, cost_line,
};
pub use standing::{LONGEST_REPEAT, MOST_REPEATS, RepeatLimit};
pub use stats::{ContextUsage, SessionStats, TokenStats, stats};
pub use stripped::STRIPPED;
pub use switch::{SessionSwitch, SwitchFailed, SwitchedSession};
pub use time_limit::TimeLimit;
pub use tree::{TreeError, TreeNode, tree_text};
pub use web_address::WebAddress;

/// Answers one prompt may take. High enough for real work, low enough to end a loop.
const MAX_TURNS: u32 = 500;

/// Commands that wait for the actor.
const MAX_COMMANDS: usize = 64;

/// Pause before an abort is sent again while work is still queued.
const ABORT_AGAIN: std::time::Duration = std::time::Duration::from_millis(20);

/// What a session is made of.
pub struct SessionOptions {
    pub llm: Arc<dyn Llm>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub system: SystemPrompt,
    pub recorder: Recorder,
    /// Hides secrets in all that is written and told.
    pub veil: Arc<Veil>,
    /// What the session goes on with.
    pub resumed: Resumed,
    /// How the session began; features and hooks are told.
    pub begun: StartSource,
    pub policy: Policy,
    /// What calls may touch.
    pub access: Access,
    /// Where rules are kept that the user gives; without it none of them outlives the session.
    pub rule_keeper: Option<Arc<dyn RuleKeeper>>,
    pub retry: RetryPolicy,
    pub cache: CacheRetention,
    /// Where messages wait that are sent during a run, with their modes.
    pub queues: Queues,
    /// Answers one prompt may take before it is stopped.
    pub max_turns: u32,
    /// Whether somebody is there to answer questions.
    pub attended: bool,
    /// Which service tier is asked for, where the provider knows tiers.
    pub tier: Option<ServiceTier>,
    /// The state of the project, told with the first prompt.
    pub look_around: Option<LookAround>,
    /// What takes part in its runs, in this order: [`StandardFeatures::list`].
    pub features: Vec<Arc<dyn SessionFeature>>,
    pub compaction: CompactionOptions,
}

impl SessionOptions {
    /// A new session without tools, with nobody there, that may touch everything and says what the model says.
    pub fn new(llm: Arc<dyn Llm>, model: Arc<Model>, recorder: Recorder) -> Self {
        Self {
            llm,
            model,
            thinking: ThinkingLevel::Off,
            tools: Vec::new(),
            system: "".into(),
            access: Access::new(AccessMap::open(&recorder.header().cwd)),
            recorder,
            veil: Arc::default(),
            resumed: Resumed::default(),
            begun: StartSource::Startup,
            policy: Policy::default(),
            rule_keeper: None,
            retry: RetryPolicy::default(),
            cache: CacheRetention::Short,
            queues: Queues::default(),
            max_turns: MAX_TURNS,
            attended: false,
            tier: None,
            look_around: None,
            features: StandardFeatures::default().list(),
            compaction: CompactionOptions::default(),
        }
    }
}

pub enum Command {
    /// Starts a run, or waits for the running one to end.
    Prompt(Prompt),
    /// Interrupts the running work with a message; starts a run when idle.
    Steer(Prompt),
    /// Delivered when the running work is done; starts a run when idle.
    FollowUp(Prompt),
    /// Delivered together with the next prompt, before it.
    NextTurn(Arc<Message>),
    /// Becomes part of the conversation without asking for an answer, after the running work.
    Append(Arc<Message>),
    /// Asks again after a failure or an abort, without saying anything new.
    Retry,
    Abort,
    /// Answered when everything that was sent before is done.
    Settle(oneshot::Sender<()>),
    /// A job has ended: an idle session goes on with that, unless the model knows it already.
    Wake,
    /// Ends the wait before a retry: the failure stands.
    AbortRetry,
    /// Asks, where somebody is there, whether files are overwritten. Nobody waits for the answer.
    AskToOverwrite(FilesInTheWay),
    Answer {
        id: u64,
        answer: Answer,
    },
    SetModel(Arc<Model>),
    SetThinking(ThinkingLevel),
    SetSteeringMode(QueueMode),
    SetFollowUpMode(QueueMode),
    SetInterruptMode(InterruptMode),
    SetAutoRetry(bool),
    SetAutoCompaction(bool),
    /// From the next call on, also of the running prompt. The user's own word: settings only say how a session begins.
    SetApprovalMode(ApprovalMode),
    /// From the next call on. In plan mode the model looks around and writes a plan; it changes nothing else.
    SetPlanMode(bool),
    /// What a source of tools brings now, in place of what it brought before, from the next prompt on. The session's own
    /// are those of [`OWN_SOURCE`]; a name that another source has already is left out, and the user is told.
    SetTools {
        source: String,
        tools: Vec<Arc<dyn AnyTool>>,
    },
    /// Shortens the conversation; a run that goes on is aborted first. The answer is what is left, or a sentence.
    Compact {
        instructions: Option<String>,
        reply: oneshot::Sender<Result<Compacted, String>>,
    },
    /// Has a document written with which the conversation begins anew. The answer is the document, or a sentence.
    Handoff {
        focus: Option<String>,
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// Puts other words in the place of the last summary.
    EditSummary {
        summary: String,
        reply: oneshot::Sender<Result<Compacted, String>>,
    },
    /// Goes on from another entry of the file, `None` for before the first.
    GoTo {
        leaf: Option<EntryId>,
        note: BranchNote,
        reply: oneshot::Sender<Result<(), GoToError>>,
    },
}

/// Why the session stays where it is.
#[derive(Debug, thiserror::Error)]
pub enum GoToError {
    #[error("the session is working\nhint: wait for it, or abort it first")]
    Busy,
    #[error("this session is not recorded, so it has no tree to move in")]
    Unrecorded,
    #[error("there is no entry `{0}` in this session")]
    NoEntry(EntryId),
    #[error(transparent)]
    Open(#[from] omp_store::OpenError),
    #[error("{0}")]
    NotSummarized(String),
    #[error("an extension has cancelled the move")]
    Vetoed,
    /// In these words clients know it.
    #[error("Branch summary cancelled")]
    Cancelled,
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// A handle to a session. The actor ends when the last handle is dropped and its run is over.
#[derive(Clone)]
pub struct Session {
    // Before the commands, so that the file is let go of by the time the actor learns that nobody is left.
    control: Arc<Control>,
    commands: mpsc::Sender<Command>,
}

/// The session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session has ended")]
pub struct Closed;

impl Session {
    /// Starts the actor on the current runtime. The task ends by itself; joining its handle waits for that.
    pub fn open(options: SessionOptions) -> (Self, tokio::task::JoinHandle<()>) {
        let (commands, receiver) = mpsc::channel(MAX_COMMANDS);
        let (actor, control) = actor::Actor::new(options, commands.downgrade());
        let task = tokio::spawn(actor.serve(receiver));
        (Self { commands, control }, task)
    }

    /// Pictures of prompts are prepared first, so that no provider refuses them.
    pub async fn send(&self, command: Command) -> Result<(), Closed> {
        let aborts = matches!(command, Command::Abort);
        if aborts && self.control.is_deaf() {
            self.control.abort();
        }
        let command = pictures::prepared(command, &self.control).await;
        self.commands.send(command).await.map_err(|_| Closed)?;
        // Also where so many commands wait that this one would not be heard.
        if aborts && self.control.is_deaf() {
            self.control.abort();
        }
        Ok(())
    }

    /// Aborts what runs and what was sent before, and waits until nothing of it is left.
    pub async fn abort_all(&self) -> Result<(), Closed> {
        let (reply, settled) = oneshot::channel();
        let wait = async {
            self.send(Command::Settle(reply)).await?;
            settled.await.map_err(|_| Closed)
        };
        tokio::pin!(wait);
        loop {
            let snapshot = self.snapshot();
            // Hooks that hear of the session's start are let finish.
            if snapshot.running || snapshot.compacting {
                self.control.abort();
            }
            tokio::select! {
                biased;
                settled = &mut wait => return settled,
                // What waited behind an aborted run has begun meanwhile.
                () = tokio::time::sleep(ABORT_AGAIN) => {}
            }
        }
    }

    /// Every event from now on. The session waits for slow readers; one that is dropped is forgotten.
    pub fn events(&self) -> mpsc::Receiver<SessionEvent> {
        self.control.outlet.subscribe()
    }

    /// Subscribes without making the session wait: a slow reader loses events and is told how many.
    pub fn observe(&self) -> Observer {
        self.control.outlet.observe()
    }

    /// The state as of now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.control.snapshot()
    }

    /// Waits until the state is as wished. Commands are obeyed one after the other, so one that was sent is not yet done.
    pub async fn until(&self, wished: impl FnMut(&Snapshot) -> bool) -> Result<(), Closed> {
        self.control.until(wished).await
    }

    /// Whether a prompt is worked on. One that has told its end is waited for: who heard that may go on.
    pub async fn works(&self) -> bool {
        let settled = self.until(|now| !now.running || !now.answered || now.compacting).await;
        settled.is_ok() && self.snapshot().running
    }

    /// The messages of the user from which the conversation can be taken up anew, all branches, oldest first.
    pub fn branch_points(&self) -> Result<Vec<BranchPoint>, String> {
        let Some(source) = self.control.recorder().source() else { return Ok(Vec::new()) };
        let written = source.load_if_written().map_err(|error| error.to_string())?;
        Ok(written.map(|session| branch_points::branch_points(&session)).unwrap_or_default())
    }

    /// The conversation as the model would be told it now.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.control.messages()
    }

    /// The entry that what comes next will follow. `None` before the first, and for a session without a file.
    pub fn leaf(&self) -> Option<EntryId> {
        self.control.recorder().leaf()
    }

    /// The folder it is about, as its header has it.
    pub fn cwd(&self) -> String {
        self.control.recorder().header().cwd.clone()
    }

    pub fn tools(&self) -> ToolSet {
        self.control.tools()
    }

    /// The slash commands of all sources, as of now. [`SessionEvent::CommandsChanged`] tells when they are others.
    pub fn commands(&self) -> SlashCommands {
        self.control.commands()
    }

    /// What a source of slash commands brings now, in place of what it brought before.
    pub fn set_commands(&self, source: &str, commands: Vec<Arc<dyn SlashCommand>>) {
        self.control.set_commands(source, commands);
    }

    pub fn system_prompt(&self) -> Arc<str> {
        self.control.told.system()
    }

    /// Asks the user to choose; `None` when the question was dismissed. Only for attended sessions.
    pub async fn choose(&self, choice: Choice) -> Option<Vec<String>> {
        omp_agent::Questions::choose(&*self.control.desk, choice).await
    }

    /// How a call looks. `None` for a tool that is not there.
    pub fn view(&self, tool: &str, arguments: &Value, outcome: Outcome<&Value>) -> Option<View> {
        self.control.tools().view(tool, arguments, outcome)
    }

    /// What sort of thing the calls of a tool do.
    pub fn call_kind(&self, tool: &str) -> CallKind {
        self.control.tools().kind(tool)
    }

    /// What a call would do, as far as its arguments have arrived.
    pub fn preview(&self, tool: &str, call: ArrivingCall<'_>) -> Option<View> {
        secrets::preview(&self.control.veil, &**self.control.tools().find(tool)?.0, call)
    }

    /// Goes on from another entry of the file; what was said after it stays in the file as a branch.
    pub async fn go_to(&self, leaf: Option<EntryId>) -> Result<(), GoToError> {
        self.go_to_with(leaf, BranchNote::AsSet).await
    }

    /// Goes to an entry and, if wanted, adds a summary of the branch that is left. An abort keeps the session where it is.
    pub async fn go_to_with(&self, leaf: Option<EntryId>, note: BranchNote) -> Result<(), GoToError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::GoTo { leaf, note, reply }).await?;
        answer.await.map_err(|_| Closed)?
    }

    /// Whether going on from another entry leaves something behind that is not on the way to it.
    pub fn leaves_branch(&self, leaf: Option<&EntryId>) -> Result<bool, String> {
        let Some(source) = self.control.recorder().source() else { return Ok(false) };
        compacting::abandoned(&source, leaf).map(|left| !left.is_empty())
    }

    /// Shortens the conversation to a summary and its newest messages. `instructions` say what matters.
    pub async fn compact(&self, instructions: Option<String>) -> Result<Compacted, String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Compact { instructions, reply }).await.map_err(|closed| closed.to_string())?;
        answer.await.map_err(|_| Closed.to_string())?
    }

    /// Has a document written with which the conversation begins anew. `focus` says what matters.
    pub async fn handoff(&self, focus: Option<String>) -> Result<String, String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Handoff { focus, reply }).await.map_err(|closed| closed.to_string())?;
        answer.await.map_err(|_| Closed.to_string())?
    }

    /// What the model is told of what was taken out; `None` when nothing was.
    pub fn summary(&self) -> Option<String> {
        omp_compaction::summary_in(&self.control.messages())
    }

    /// Puts other words in the place of the summary.
    pub async fn edit_summary(&self, summary: String) -> Result<Compacted, String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::EditSummary { summary, reply }).await.map_err(|closed| closed.to_string())?;
        answer.await.map_err(|_| Closed.to_string())?
    }

    /// This front end can show a run that nobody has asked for.
    pub fn allow_waking(&self) {
        self.control.waking.allow();
    }

    /// Answers a question from the conversation, which goes on without it. Nothing of it is kept.
    pub async fn ask_aside(&self, question: &str) -> Result<String, String> {
        let (control, llm) = (self.control.clone(), self.control.llm.clone());
        aside::ask(&control, &*llm, question).await
    }

    /// The first answer to the next prompt has to call this tool.
    pub fn force_tool(&self, tool: Option<&str>) {
        self.control.standing().force(tool);
    }

    /// Why it will end, for hooks that hear of the end. Said before the last handle is dropped.
    pub fn ends_by(&self, reason: EndReason) {
        self.control.standing().end = reason;
    }

    /// The user's own word: these limits hold for the session, and the run has none any more.
    pub fn set_limits(&self, limits: BudgetLimits) {
        self.control.spending().set_limits(limits);
        self.control.tell_spending();
    }

    /// Which service tier is asked for, where the provider knows tiers.
    pub fn service_tier(&self) -> Option<ServiceTier> {
        self.control.standing().tier()
    }

    /// From the next prompt on.
    pub fn set_service_tier(&self, tier: Option<ServiceTier>) {
        self.control.standing().set_tier(tier);
    }

    /// The next prompt is said again whenever it is done, until the limit is reached, something fails or it is aborted.
    /// `None` ends that.
    pub fn repeat(&self, limit: Option<RepeatLimit>) {
        self.control.standing().repeat(limit, std::time::Instant::now());
    }

    pub fn repeats(&self) -> bool {
        self.control.standing().repeats()
    }

    /// Messages that wait for the running work: steering first, then follow-ups.
    pub fn queued(&self) -> (Vec<Arc<Message>>, Vec<Arc<Message>>) {
        self.control.queues.waiting()
    }

    /// Takes the waiting messages back: none of them will be delivered.
    pub fn unqueue(&self) -> Vec<Prompt> {
        self.control.unqueue()
    }

    /// Whether there is a question that was not answered, so that [`Command::Retry`] has something to ask.
    pub fn can_retry(&self) -> bool {
        history::is_unanswered(&self.control.messages())
    }

    /// The entries of the session's file as a tree, in the order they are shown.
    pub fn tree(&self) -> Result<Vec<TreeNode>, TreeError> {
        let source = self.control.recorder().source().ok_or(TreeError::Unrecorded)?;
        let written = source.load_if_written()?;
        Ok(written.map(|session| tree::tree(&session, source.leaf.as_ref())).unwrap_or_default())
    }

    /// The tree once for each filter; the file is read once.
    pub fn trees(&self, filters: &[TreeFilter]) -> Result<Vec<Vec<TreeNode>>, TreeError> {
        let source = self.control.recorder().source().ok_or(TreeError::Unrecorded)?;
        let entries = source.load_if_written()?.map(|session| session.tree(source.leaf.as_ref())).unwrap_or_default();
        Ok(filters.iter().map(|filter| tree::tree_of(&entries, *filter)).collect())
    }

    /// Gives the session a title.
    pub fn rename(&self, title: &str, source: TitleSource) -> Result<(), RecorderError> {
        self.control.rename(title, source)
    }

    /// Names an entry, or takes its name away.
    pub fn label(&self, target: &EntryId, label: Option<&str>) -> Result<(), RecorderError> {
        self.control.recorder().label(target, label)
    }

    /// Tells the user something that stops nothing. Who lags far behind misses it.
    pub fn tell(&self, notice: String) {
        self.control.tell(notice);
    }

    /// What calls may touch.
    pub fn access(&self) -> Access {
        self.control.approvals().access.clone()
    }

    /// The rules on what calls do, as they hold now.
    pub fn rules(&self) -> Vec<ApprovalRule> {
        self.control.policy().rules.iter().cloned().collect()
    }

    /// From the next call on, and in the user's settings. A problem is a sentence for the user.
    pub fn add_rule(&self, level: RuleLevel, rule: &str) -> Result<(), String> {
        approvals::add_rule(&self.control, level, rule)
    }

    pub fn remove_rule(&self, level: RuleLevel, rule: &str) -> Result<(), String> {
        approvals::remove_rule(&self.control, level, rule)
    }

    /// What was decided about calls since the session was opened, the newest last.
    pub fn decisions(&self) -> Vec<Decided> {
        self.control.approvals().decided.iter().cloned().collect()
    }

    /// Keeps data beside the conversation that the model does not see.
    pub fn note(&self, custom: Custom) -> Result<(), RecorderError> {
        self.control.recorder().note(custom)
    }
}
