//! The session: commands in, events out. Everything a front end needs and nothing of how it is drawn.
//!
//! [`Session`] is a cheap handle to one actor that owns the transcript. The actor is split by noun: `recorder` writes
//! the file, `policy` decides about calls, `retry` about failures, `desk` about questions, `exploration` about going back
//! to a checkpoint, `prompt` about what the model is told. It knows neither providers nor tools; both are handed in.

mod actor;
mod desk;
mod event;
mod exploration;
mod history;
mod outlet;
mod policy;
mod port;
mod prompt;
mod queue_modes;
mod recorder;
mod retry;

use std::sync::Arc;

use omp_agent::{AnyTool, InterruptMode, QueueMode, Queues};
use omp_types::{CacheRetention, Content, Llm, Message, Model, ThinkingLevel};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use desk::{Answer, Question, QuestionKind};
pub use event::{SessionEvent, Snapshot};
pub use omp_agent::{AgentEvent, RunEnd, ToolOutcome, ToolOutput};
pub use policy::{ApprovalMode, Policy, ToolPolicy};
pub use prompt::{PromptParts, system_prompt};
pub use queue_modes::queues_from_settings;
pub use recorder::{Recorder, RecorderError, SessionHeader};
pub use retry::RetryPolicy;

/// Commands that wait for the actor.
const MAX_COMMANDS: usize = 64;

/// What a session is made of.
pub struct SessionOptions {
    pub llm: Arc<dyn Llm>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub system: Arc<str>,
    pub recorder: Recorder,
    /// The conversation to go on with, as it was loaded; it need not be valid.
    pub history: Vec<Message>,
    pub policy: Policy,
    pub retry: RetryPolicy,
    pub cache: CacheRetention,
    /// Where messages wait that are sent during a run, with their modes.
    pub queues: Queues,
    /// Answers one prompt may take before it is stopped.
    pub max_turns: u32,
    /// Whether somebody is there to answer questions.
    pub attended: bool,
}

#[derive(Debug)]
pub enum Command {
    /// Starts a run, or waits for the running one to end.
    Prompt(Vec<Content>),
    /// Interrupts the running work with a message; starts a run when idle.
    Steer(Vec<Content>),
    /// Delivered when the running work is done; starts a run when idle.
    FollowUp(Vec<Content>),
    Abort,
    Answer {
        id: u64,
        answer: Answer,
    },
    SetModel(Arc<Model>),
    SetThinking(ThinkingLevel),
    SetSteeringMode(QueueMode),
    SetFollowUpMode(QueueMode),
    SetInterruptMode(InterruptMode),
}

/// A handle to a session. The actor ends when the last handle is dropped and its run is over.
#[derive(Clone)]
pub struct Session {
    commands: mpsc::Sender<Command>,
    control: Arc<Control>,
    snapshot: watch::Receiver<Arc<Snapshot>>,
}

/// What must reach a running turn at once, without waiting for the actor.
pub(crate) struct Control {
    pub queues: Queues,
    pub desk: Arc<desk::Desk>,
    pub outlet: Arc<outlet::Outlet>,
    pub cancel: std::sync::Mutex<CancellationToken>,
}

/// The session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session has ended")]
pub struct Closed;

impl Session {
    /// Starts the actor on the current runtime. The task ends by itself; joining its handle waits for that.
    pub fn open(options: SessionOptions) -> (Self, tokio::task::JoinHandle<()>) {
        let (commands, receiver) = mpsc::channel(MAX_COMMANDS);
        let outlet = Arc::new(outlet::Outlet::default());
        let control = Arc::new(Control {
            queues: options.queues.clone(),
            desk: Arc::new(desk::Desk::new(outlet.clone())),
            outlet,
            cancel: std::sync::Mutex::default(),
        });
        let actor = actor::Actor::new(options, control.clone());
        let snapshot = actor.watch();
        let task = tokio::spawn(actor.serve(receiver));
        (Self { commands, control, snapshot }, task)
    }

    pub async fn send(&self, command: Command) -> Result<(), Closed> {
        self.commands.send(command).await.map_err(|_| Closed)
    }

    /// Every event from now on. The session waits for slow readers; one that is dropped is forgotten.
    pub fn events(&self) -> mpsc::Receiver<SessionEvent> {
        self.control.outlet.subscribe()
    }

    /// The state as of now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.borrow().clone()
    }
}
