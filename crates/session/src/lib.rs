//! The session: takes commands and emits events. It has everything a front end needs except the display.
//!
//! [`Session`] is a cheap handle to one actor that owns the transcript. Its modules are split by noun: `recorder` writes
//! the file, `approvals` decides about calls, `retry` about failures, `desk` about questions, `prompt` builds the system
//! prompt, `control` holds the state that must be reachable while a prompt runs. [`SessionFeature`]s take part in its runs.
//! The session depends on neither providers nor tools; both are passed in. A program that needs more than one session uses
//! a [`SessionHost`].

mod actor;
mod approval;
mod control;
mod event;
mod factory;
mod features;
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

use omp_agent::{AnyTool, InterruptMode, QueueMode, Queues, ToolSet};
use omp_compaction::{BranchNote, Compacted, CompactionOptions, ShakeMode};
use omp_policy::{ApprovalMode, ApprovalRule, Policy, RuleLevel, RuleScope};
use omp_secrets::Veil;
use omp_store::Custom;
use omp_types::{Access, AccessMap, CacheRetention, Llm, Message, Model, ServiceTier, ThinkingLevel};
use tokio::sync::{mpsc, oneshot};

// Modules are imported under their own names, without their folder.
use approval::{access, approvals, desk, refused, safeguards, web_address};
use control::Control;
use record::{recorder, resumed, secrets, stripped};
use runs::{aside, call_files, compacting, maintenance, pictures, queue_modes, retry, run_end, standing, time_limit};
use transcripts::{branch_points, conversation, history, stats, tree};

/// The content of cards, for commands that show one.
pub use omp_view as view;

pub use approvals::{CallDetails, DECISION_ENTRY, Decided, RuleKeeper, words_of_refusal};
pub use branch_points::BranchPoint;
pub use conversation::conversation;
pub use desk::{Answer, Question, QuestionKind};
pub use event::{Reminded, SessionEvent, Snapshot};
pub use factory::{SessionFactory, SubSession};
pub use features::{
    AcceptedMessages, BackgroundJobs, CallSeen, CallVerdict, EndReason, FeatureMessage, FilesInTheWay, FilesKept,
    HookPermission, HookPoint, HookReply, HookScene, JobEnded, Overwritten, QUARANTINE_ENTRY, Quarantined, RulesFired,
    SessionCx, SessionFeature, SessionHooks, StandardFeatures, StartSource, StreamRules, TTSR_INJECTION, Titling,
    UNDO_ENTRY,
};
pub use host::{
    OfferedModel, OpenSession, OutputSizes, RanBy, SessionHost, SessionListing, ShellRun, TodoBoard, UserShell, Wish,
};
pub use omp_agent::{AgentEvent, Choice, ChoiceOption, Effect, RunEnd, ToolOutcome, ToolOutput};
pub use omp_store::{EntryId, TitleSource, TreeFilter};
pub use outlet::{Observed, Observer};
pub use plan::{PLAN_APPROVED, PLAN_APPROVED_EDITED, PLAN_FILE};
pub use prepared::{CallLimit, CallQuestion, Prepared, Prompt};
pub use prompt::{
    ContextReport, ContextSize, Environment, FolderTree, GitState, INCLUDE_WORKSPACE_TREE, LookAround, Measured,
    NamedText, Opening, PartCost, PartKind, PromptListItem, PromptParts, Replacement, SETTINGS as PROMPT_SETTINGS,
    Section, SystemPrompt, TemplateError, context_report,
};
pub use queue_modes::queues_from_settings;
pub use recorder::{Recorder, RecorderError, RunningRecorder, SessionHeader};
pub use refused::Refused;
pub use resumed::Resumed;
pub use retry::{RetryPolicy, ToldRetries, with_retry_hint};
pub use safeguards::{Safeguards, SandboxState, UndoState};
pub use settings::SETTINGS;
pub use slash::{
    ArgumentValues, Attached, Called, CalledCommand, CommandChoice, CommandGroup, CommandScreen, CommandSource, MENU,
    MISSING_COMMANDS, MenuEntry, Obeyed, ShownInstead, SlashCommand, SlashCommands, SlashReply, TERMINAL_ONLY,
    TypedPrompt, menu_entry,
};
pub use sources::OWN_SOURCE;
pub use spending::{
    Account, BreakCause, BreakCost, BudgetLimits, Estimate, MOST_TURNS, PrefixBreak, RequestParts, RunBudget,
    SPENDING_SETTINGS, SessionBudget, SideUsage, Spent, TurnSpent, cached_percent, cost_line,
};
pub use standing::{LONGEST_REPEAT, MOST_REPEATS, RepeatLimit};
pub use stats::{ContextUsage, SessionStats, TokenStats, stats};
pub use stripped::STRIPPED;
pub use switch::{SessionSwitch, SwitchFailed, SwitchedSession};
pub use time_limit::TimeLimit;
pub use tree::{TreeError, TreeNode, tree_text};
pub use web_address::WebAddress;

/// Maximum answers to one prompt. High enough for real work, low enough to end a loop.
const MAX_TURNS: u32 = 500;

/// Maximum commands that wait for the actor.
const MAX_COMMANDS: usize = 64;

/// Delay before an abort is sent again while work is still queued.
const ABORT_AGAIN: std::time::Duration = std::time::Duration::from_millis(20);

/// The inputs of a session.
pub struct SessionOptions {
    pub llm: Arc<dyn Llm>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub tools: Vec<Arc<dyn AnyTool>>,
    /// The slash commands of the source [`OWN_SOURCE`].
    pub commands: Vec<Arc<dyn SlashCommand>>,
    pub system: SystemPrompt,
    pub recorder: Recorder,
    /// Replaces secrets by placeholders in everything that is written and sent.
    pub veil: Arc<Veil>,
    /// The state of the session that is resumed.
    pub resumed: Resumed,
    /// How the session began; passed to features and hooks.
    pub begun: StartSource,
    pub policy: Policy,
    /// What calls may touch.
    pub access: Access,
    /// Stores the rules that the user adds; without it they end with the session.
    pub rule_keeper: Option<Arc<dyn RuleKeeper>>,
    pub retry: RetryPolicy,
    pub cache: CacheRetention,
    /// The queues for messages sent during a run, with their modes.
    pub queues: Queues,
    /// Maximum answers to one prompt.
    pub max_turns: u32,
    /// Whether a user is there to answer questions.
    pub attended: bool,
    /// The service tier to request, if the provider has tiers.
    pub tier: Option<ServiceTier>,
    /// Reads the state of the project, which is sent with the first prompt.
    pub look_around: Option<LookAround>,
    /// The features of the session, in this order: [`StandardFeatures::list`].
    pub features: Vec<Arc<dyn SessionFeature>>,
    pub compaction: CompactionOptions,
    /// The limits of the tokens and the cost.
    pub budget: SessionBudget,
}

impl SessionOptions {
    /// Options for a new, unattended session without tools, with unrestricted access and without secrets to hide.
    pub fn new(llm: Arc<dyn Llm>, model: Arc<Model>, recorder: Recorder) -> Self {
        Self {
            llm,
            model,
            thinking: ThinkingLevel::Off,
            tools: Vec::new(),
            commands: Vec::new(),
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
            budget: SessionBudget::default(),
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
    /// Appends a message to the conversation without requesting an answer, after the running work.
    Append(Arc<Message>),
    /// Requests an answer again after a failure or an abort, without a new message.
    Retry,
    Abort,
    /// Replied to when all earlier commands are done.
    Settle(oneshot::Sender<()>),
    /// A job has ended: an idle session continues, unless the model already knows of it.
    Wake,
    /// Ends the wait before a retry; the failure is then final.
    AbortRetry,
    /// Asks an attending user whether files may be overwritten. The sender does not wait for the answer.
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
    /// Effective from the next call on, also in the running prompt. Overrides the setting, which only gives the initial
    /// mode.
    SetApprovalMode(ApprovalMode),
    /// Effective from the next call on. In plan mode the model explores and writes a plan; it changes nothing else.
    SetPlanMode(bool),
    /// Replaces the tools of a source, from the next prompt on. The session's own tools have the source [`OWN_SOURCE`]. A
    /// tool whose name is taken by another source is left out, and the user is notified.
    SetTools {
        source: String,
        tools: Vec<Arc<dyn AnyTool>>,
    },
    /// Compacts the conversation; a running prompt is aborted first. The reply is the result, or an error as a sentence.
    Compact {
        instructions: Option<String>,
        reply: oneshot::Sender<Result<Compacted, String>>,
    },
    /// Leaves out heavy content without a model. The reply is about how many tokens that saves, or an error as a sentence.
    Shake {
        mode: ShakeMode,
        reply: oneshot::Sender<Result<u64, String>>,
    },
    /// Has the model write a handoff document with which the conversation starts over. The reply is the document, or an
    /// error as a sentence.
    Handoff {
        focus: Option<String>,
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// Replaces the text of the last summary.
    EditSummary {
        summary: String,
        reply: oneshot::Sender<Result<Compacted, String>>,
    },
    /// Moves to another entry of the file; `None` means before the first entry.
    GoTo {
        leaf: Option<EntryId>,
        note: BranchNote,
        reply: oneshot::Sender<Result<(), GoToError>>,
    },
}

/// Why the session did not move.
#[derive(Debug, thiserror::Error)]
pub enum GoToError {
    #[error("a turn is running\nhint: wait until it ends, or abort it first")]
    Busy,
    #[error("this session is not saved, so it has no tree")]
    Unrecorded,
    #[error("this session has no entry `{0}`")]
    NoEntry(EntryId),
    #[error(transparent)]
    Open(#[from] omp_store::OpenError),
    #[error("{0}")]
    NotSummarized(String),
    #[error("an extension cancelled the move")]
    Vetoed,
    /// Clients match this exact text.
    #[error("Branch summary cancelled")]
    Cancelled,
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// A handle to a session. The actor ends when the last handle is dropped and its run is over.
#[derive(Clone)]
pub struct Session {
    // Declared before the commands, so that the file is released before the actor sees that all handles are gone.
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

    /// Sends a command. Images in prompts are converted first, so that no provider refuses them.
    pub async fn send(&self, command: Command) -> Result<(), Closed> {
        let aborts = matches!(command, Command::Abort);
        if aborts && self.control.is_deaf() {
            self.control.abort();
        }
        let command = pictures::prepared(command, &self.control).await;
        self.commands.send(command).await.map_err(|_| Closed)?;
        // Cancels directly if so many commands are postponed that the actor reads no more.
        if aborts && self.control.is_deaf() {
            self.control.abort();
        }
        Ok(())
    }

    /// Aborts the running work and all commands sent before, and waits until they are done.
    pub async fn abort_all(&self) -> Result<(), Closed> {
        let (reply, settled) = oneshot::channel();
        let wait = async {
            self.send(Command::Settle(reply)).await?;
            settled.await.map_err(|_| Closed)
        };
        tokio::pin!(wait);
        loop {
            let snapshot = self.snapshot();
            // Hooks that run at the session's start are allowed to finish.
            if snapshot.running || snapshot.compacting {
                self.control.abort();
            }
            tokio::select! {
                biased;
                settled = &mut wait => return settled,
                // Work that was queued behind the aborted run may have started meanwhile.
                () = tokio::time::sleep(ABORT_AGAIN) => {}
            }
        }
    }

    /// Subscribes to all events from now on. The session waits for slow readers; a dropped reader is removed.
    pub fn events(&self) -> mpsc::Receiver<SessionEvent> {
        self.control.outlet.subscribe()
    }

    /// Subscribes without making the session wait: a slow reader loses events and gets their number.
    pub fn observe(&self) -> Observer {
        self.control.outlet.observe()
    }

    /// The current state.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.control.snapshot()
    }

    /// Waits until the state satisfies the condition. Commands are handled in order, so a command that was sent may not be
    /// done yet.
    pub async fn until(&self, wished: impl FnMut(&Snapshot) -> bool) -> Result<(), Closed> {
        self.control.until(wished).await
    }

    /// Whether a prompt is running. A prompt that has already reported its end is waited for, so that a reader of that
    /// event can continue.
    pub async fn works(&self) -> bool {
        let settled = self.until(|now| !now.running || !now.answered || now.compacting).await;
        settled.is_ok() && self.snapshot().running
    }

    /// The messages of the user from which the conversation can be branched, of all branches, oldest first.
    pub fn branch_points(&self) -> Result<Vec<BranchPoint>, String> {
        let Some(source) = self.control.recorder().source() else { return Ok(Vec::new()) };
        let written = source.load_if_written().map_err(|error| error.to_string())?;
        Ok(written.map(|session| branch_points::branch_points(&session)).unwrap_or_default())
    }

    /// The conversation as it would be sent to the model now.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.control.messages()
    }

    /// The entry that the next one will follow. `None` before the first entry, and for a session without a file.
    pub fn leaf(&self) -> Option<EntryId> {
        self.control.recorder().leaf()
    }

    /// The working folder, from the session header.
    pub fn cwd(&self) -> String {
        self.control.recorder().header().cwd.clone()
    }

    pub fn tools(&self) -> ToolSet {
        self.control.tools()
    }

    /// The current slash commands of all sources. [`SessionEvent::CommandsChanged`] reports changes.
    pub fn commands(&self) -> SlashCommands {
        self.control.commands()
    }

    /// Replaces the slash commands of a source.
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

    /// Asks the user to open an address in a browser, such as that of a login. `false` if they refuse; an error if no user
    /// can be asked, or the address is not allowed.
    pub async fn open_url(&self, url: &str, reason: &str) -> Result<bool, String> {
        if !self.control.attended {
            return Err("nobody can be asked to open an address here".to_owned());
        }
        let questions = features::AskedAloud(self.control.clone());
        omp_agent::Questions::open_url(&questions, url.to_owned(), reason.to_owned()).await
    }

    /// Moves to another entry of the file; the messages after it stay in the file as a branch.
    pub async fn go_to(&self, leaf: Option<EntryId>) -> Result<(), GoToError> {
        self.go_to_with(leaf, BranchNote::AsSet).await
    }

    /// Moves to an entry and optionally adds a summary of the branch that is left. An abort cancels the move.
    pub async fn go_to_with(&self, leaf: Option<EntryId>, note: BranchNote) -> Result<(), GoToError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::GoTo { leaf, note, reply }).await?;
        answer.await.map_err(|_| Closed)?
    }

    /// Whether moving to the entry leaves entries that are not on the path to it.
    pub fn leaves_branch(&self, leaf: Option<&EntryId>) -> Result<bool, String> {
        let Some(source) = self.control.recorder().source() else { return Ok(false) };
        compacting::abandoned(&source, leaf).map(|left| !left.is_empty())
    }

    /// Compacts the conversation to a summary and its newest messages. `instructions` tell the model what matters.
    pub async fn compact(&self, instructions: Option<String>) -> Result<Compacted, String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Compact { instructions, reply }).await.map_err(|closed| closed.to_string())?;
        answer.await.map_err(|_| Closed.to_string())?
    }

    /// Leaves out heavy content, and returns about how many tokens that saves.
    pub async fn shake(&self, mode: ShakeMode) -> Result<u64, String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Shake { mode, reply }).await.map_err(|closed| closed.to_string())?;
        answer.await.map_err(|_| Closed.to_string())?
    }

    /// Has the model write a handoff document with which the conversation starts over. `focus` tells it what matters.
    pub async fn handoff(&self, focus: Option<String>) -> Result<String, String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Handoff { focus, reply }).await.map_err(|closed| closed.to_string())?;
        answer.await.map_err(|_| Closed.to_string())?
    }

    /// The summary that replaces the compacted messages; `None` if nothing was compacted.
    pub fn summary(&self) -> Option<String> {
        omp_compaction::summary_in(&self.control.messages())
    }

    /// Replaces the text of the summary.
    pub async fn edit_summary(&self, summary: String) -> Result<Compacted, String> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::EditSummary { summary, reply }).await.map_err(|closed| closed.to_string())?;
        answer.await.map_err(|_| Closed.to_string())?
    }

    /// Answers a question from the conversation without becoming part of it. Neither is stored.
    pub async fn ask_aside(&self, question: &str) -> Result<String, String> {
        let (control, llm) = (self.control.clone(), self.control.llm.clone());
        aside::ask(&control, &*llm, question).await
    }

    /// Forces the first answer to the next prompt to call this tool.
    pub fn force_tool(&self, tool: Option<&str>) {
        self.control.standing().force(tool);
    }

    /// Sets the reason that hooks get when the session ends. To be called before the last handle is dropped.
    pub fn ends_by(&self, reason: EndReason) {
        self.control.standing().end = reason;
    }

    /// Sets the limits of the session, and removes those of the run, on behalf of the user.
    pub fn set_limits(&self, limits: BudgetLimits) {
        self.control.spending().set_limits(limits);
        self.control.tell_spending();
    }

    /// The service tier to request, if the provider has tiers.
    pub fn service_tier(&self) -> Option<ServiceTier> {
        self.control.standing().tier()
    }

    /// Effective from the next prompt on.
    pub fn set_service_tier(&self, tier: Option<ServiceTier>) {
        self.control.standing().set_tier(tier);
    }

    /// Repeats the next prompt each time it is done, until the limit is reached, something fails or it is aborted. `None`
    /// ends the repetition.
    pub fn repeat(&self, limit: Option<RepeatLimit>) {
        self.control.standing().repeat(limit, std::time::Instant::now());
    }

    pub fn repeats(&self) -> bool {
        self.control.standing().repeats()
    }

    /// Messages queued behind the running work: steering messages, then follow-ups.
    pub fn queued(&self) -> (Vec<Arc<Message>>, Vec<Arc<Message>>) {
        self.control.queues.waiting()
    }

    /// Empties the queues and returns the prompts, which will not be delivered.
    pub fn unqueue(&self) -> Vec<Prompt> {
        self.control.unqueue()
    }

    /// Whether the last message is unanswered, so that [`Command::Retry`] has something to ask.
    pub fn can_retry(&self) -> bool {
        history::is_unanswered(&self.control.messages())
    }

    /// The entries of the session's file as a tree, in display order.
    pub fn tree(&self) -> Result<Vec<TreeNode>, TreeError> {
        let source = self.control.recorder().source().ok_or(TreeError::Unrecorded)?;
        let written = source.load_if_written()?;
        Ok(written.map(|session| tree::tree(&session, source.leaf.as_ref())).unwrap_or_default())
    }

    /// One tree per filter; the file is read once.
    pub fn trees(&self, filters: &[TreeFilter]) -> Result<Vec<Vec<TreeNode>>, TreeError> {
        let source = self.control.recorder().source().ok_or(TreeError::Unrecorded)?;
        let entries = source.load_if_written()?.map(|session| session.tree(source.leaf.as_ref())).unwrap_or_default();
        Ok(filters.iter().map(|filter| tree::tree_of(&entries, *filter)).collect())
    }

    /// Gives the session a title.
    pub fn rename(&self, title: &str, source: TitleSource) -> Result<(), RecorderError> {
        self.control.rename(title, source)
    }

    /// Sets or removes the label of an entry.
    pub fn label(&self, target: &EntryId, label: Option<&str>) -> Result<(), RecorderError> {
        self.control.recorder().label(target, label)
    }

    /// Shows a notice to the user without waiting. A reader that lags far behind misses it.
    pub fn tell(&self, notice: String) {
        self.control.tell(notice);
    }

    /// What calls may touch.
    pub fn access(&self) -> Access {
        self.control.approvals().access.clone()
    }

    /// The current approval rules.
    pub fn rules(&self) -> Vec<ApprovalRule> {
        self.control.policy().rules.iter().cloned().collect()
    }

    /// Adds a rule, effective from the next call on, and stores it in the user's settings. An error is a sentence for the
    /// user.
    pub fn add_rule(&self, level: RuleLevel, rule: &str) -> Result<(), String> {
        approvals::add_rule(&self.control, level, rule, RuleScope::User)
    }

    pub fn remove_rule(&self, level: RuleLevel, rule: &str) -> Result<(), String> {
        approvals::remove_rule(&self.control, level, rule)
    }

    /// The decisions about calls since the session was opened, oldest first.
    pub fn decisions(&self) -> Vec<Decided> {
        self.control.approvals().decided.iter().cloned().collect()
    }

    /// Writes data to the session file that the model does not see.
    pub fn note(&self, custom: Custom) -> Result<(), RecorderError> {
        self.control.recorder().note(custom)
    }
}
