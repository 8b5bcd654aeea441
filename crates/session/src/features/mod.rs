//! What takes part in the runs of a session: a feature is one entry of a list, and the list is the order.
//!
//! [`SessionFeature`] has a method for each moment of a session; a feature has those that it needs. Before something happens
//! the features are asked in their order, after it the other way round, so that the first of them has the first and the last
//! word. What they may do to the session is in [`SessionCx`].

mod budget;
mod dispatch;
mod exploration;
mod hooks;
mod jobs;
mod notified;
mod quarantine;
mod said;
mod standard;
mod stream_rules;
mod title;
mod undo;

use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use omp_agent::{AgentEvent, CheckedCall, RunEnd, Stop, ToolOutcome, ToolRole};
use omp_compaction::{BeforeSummary, Compacted, Compacting, CompactionPlan, TreeMove, TreePlan};
use omp_store::{Context, Custom};
use omp_types::{AssistantMessage, Message, ModelError, ToolCall, Transcript};
use serde_json::Value;

use crate::control::Control;
use crate::event::SessionEvent;
use crate::recorder::{Recorder, RecorderError};
use crate::resumed::Resumed;
use crate::spending::RequestParts;

pub use hooks::{EndReason, HookPermission, HookPoint, HookReply, HookScene, SessionHooks, StartSource};
pub use jobs::{BackgroundJobs, JobEnded};
pub(crate) use jobs::{Waking, Woken};
pub(crate) use notified::{AskedAloud, PERMISSION};
pub use quarantine::{QUARANTINE_ENTRY, Quarantined};
pub use said::Said;
pub(crate) use said::hidden;
pub use standard::StandardFeatures;
pub use stream_rules::{RulesFired, StreamRules, TTSR_INJECTION};
pub use title::Titling;
pub(crate) use undo::ask_to_overwrite;
pub use undo::{CallSeen, FilesInTheWay, FilesKept, Overwritten, UNDO_ENTRY};

/// Takes part in a session. Every moment has a usual answer, which changes nothing.
#[expect(unused_variables, reason = "the usual answers need nothing")]
pub trait SessionFeature: Send + Sync {
    /// What the session's file brings, before anything happens.
    fn resume(&self, cx: &SessionCx, resumed: &Resumed) {}

    /// The session begins; nothing was said yet.
    fn start<'a>(&'a self, cx: &'a SessionCx, source: StartSource) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// A prompt begins, with these messages.
    fn begin_prompt<'a>(&'a self, cx: &'a SessionCx, said: &'a [Arc<Message>]) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// A run begins with a prompt, or a repeated prompt begins again.
    fn begin_run(&self) {}

    /// What of these messages is said to the model, with what besides. `Err` says why nothing is.
    fn hear<'a>(&'a self, cx: &'a SessionCx, said: Vec<Arc<Message>>) -> BoxFuture<'a, Heard> {
        Box::pin(ready(Ok(said)))
    }

    /// Text that the model reads right before the prompt.
    fn news(&self) -> Option<Said> {
        None
    }

    /// Asked before every request: why the run ends here.
    fn stops_run(&self) -> Option<String> {
        None
    }

    /// Text that the model reads with the next request.
    fn before_request(&self) -> Option<Said> {
        None
    }

    /// A request as it will be sent. `Some` ends the run instead.
    fn weigh_request(&self, cx: &SessionCx, parts: &RequestParts, transcript: &Transcript) -> Option<RunEnd> {
        None
    }

    /// Something happens in the run. What is given back is told before it.
    fn hear_event(&self, cx: &SessionCx, event: &AgentEvent) -> Result<Vec<SessionEvent>, Stop> {
        Ok(Vec::new())
    }

    /// The event is in the file. The event that is returned is sent after it.
    fn after_event(&self, cx: &SessionCx, event: &AgentEvent) -> Option<SessionEvent> {
        None
    }

    /// A message is about to be written.
    fn before_record(&self, message: &Message, recorder: &mut Recorder) -> Result<(), RecorderError> {
        Ok(())
    }

    fn after_record(&self, message: &Message, recorder: &mut Recorder) -> Result<(), RecorderError> {
        Ok(())
    }

    /// Asked after every piece of an answer: whether the rest of it is not wanted.
    fn cuts(&self, partial: &AssistantMessage) -> bool {
        false
    }

    /// An answer was cut off and ends the transcript, from which it may be taken back. What is given back is said next.
    fn after_cut(&self, cx: &SessionCx, transcript: &mut Transcript) -> Option<Said> {
        None
    }

    /// The model wants to call a tool; the arguments are valid and may be amended. Asked before the user is.
    fn before_call<'a>(&'a self, cx: &'a SessionCx, call: &'a mut CheckedCall<'_>) -> BoxFuture<'a, Word> {
        Box::pin(ready(Word::default()))
    }

    /// The call may run, as it is given here.
    fn call_runs(&self, call: &ToolCall) {}

    /// Something begins that may change files: a call, or what hooks do.
    fn before_change<'a>(&'a self, cx: &'a SessionCx, id: &'a str, what: &'a str) -> BoxFuture<'a, ()> {
        nothing()
    }

    fn after_change<'a>(&'a self, cx: &'a SessionCx, id: &'a str) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// May change what the model and the file will see of a call. What is given back stands behind the results of the turn.
    fn after_call<'a>(&'a self, cx: &'a SessionCx, outcome: &'a mut ToolOutcome) -> BoxFuture<'a, Option<Said>> {
        Box::pin(ready(None))
    }

    /// An answer and its results are in the transcript.
    fn after_turn(&self, cx: &SessionCx, transcript: &mut Transcript) -> Result<(), Stop> {
        Ok(())
    }

    /// The model has nothing more to do. What is given back is said to it, and the run goes on.
    fn before_finish<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, Option<Said>> {
        Box::pin(ready(None))
    }

    /// A request was refused. The conversation to try instead; `written` is the request as it stood on the wire.
    fn after_refusal(
        &self,
        cx: &SessionCx,
        error: &ModelError,
        refused: &Transcript,
        written: &dyn Fn() -> Option<Value>,
    ) -> Option<Transcript> {
        None
    }

    /// The run is over. The conversation in its place, where it has to be another one.
    fn end_run(&self, end: &RunEnd) -> Option<Transcript> {
        None
    }

    /// The prompt is done, with all its runs. An abort does not wait for this.
    fn end_prompt<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// Everybody knows that it is done.
    fn idle(&self, cx: &SessionCx, end: &RunEnd) {}

    /// A message as it may be sent.
    fn as_sent(&self, message: Message) -> Message {
        message
    }

    /// Why the conversation must not be shortened.
    fn before_compaction<'a>(
        &'a self,
        cx: &'a SessionCx,
        by_hand: bool,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Option<String>> {
        Box::pin(ready(None))
    }

    /// Before anything is summarized: cancels it, or has written the summary. The first that wants something counts.
    fn before_summary(&self, plan: &CompactionPlan<'_>) -> BeforeSummary {
        BeforeSummary::Go
    }

    /// What the summarizing model is told besides.
    fn compacting(&self, plan: &CompactionPlan<'_>) -> Compacting {
        Compacting::default()
    }

    /// A summary is in the file. `from_extension`: no model has written it.
    fn compacted(&self, compacted: &Compacted, from_extension: bool) {}

    /// The conversation was shortened.
    fn after_compaction<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// No run goes on, and the conversation is another one now.
    fn conversation_replaced(&self) {}

    /// Before the session goes on from another entry: cancels it, or has written the summary of the branch that is left.
    fn before_move(&self, plan: &TreePlan<'_>) -> BeforeSummary {
        BeforeSummary::Go
    }

    /// The session goes on from another entry of its file.
    fn moved(&self, cx: &SessionCx, moved: &TreeMove, context: &Context) {}

    /// The user is wanted, for a reason that Claude Code has a name for.
    fn user_wanted<'a>(&'a self, cx: &'a SessionCx, kind: &'static str, message: &'a str) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// The session ends.
    fn end<'a>(&'a self, cx: &'a SessionCx, reason: EndReason) -> BoxFuture<'a, ()> {
        nothing()
    }
}

fn nothing() -> BoxFuture<'static, ()> {
    Box::pin(ready(()))
}

/// What is said to the model, or why nothing is.
pub type Heard = Result<Vec<Arc<Message>>, String>;

/// What a feature says to a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Word {
    /// Set when the call must not run: the text that the model reads instead of a result.
    pub refusal: Option<String>,
    /// What is wanted of its approval.
    pub permission: Option<HookPermission>,
}

impl Word {
    pub fn refuse(why: impl Into<String>) -> Self {
        Self { refusal: Some(why.into()), ..Self::default() }
    }
}

/// The session, as its features reach it.
#[derive(Clone)]
pub struct SessionCx {
    pub(crate) control: Arc<Control>,
}

impl SessionCx {
    /// Keeps data beside the conversation that the model does not see.
    pub fn note(&self, custom: Custom) -> Result<(), RecorderError> {
        self.control.recorder().note(custom)
    }

    /// What the session needs a tool for.
    pub fn tool_role(&self, tool: &str) -> Option<ToolRole> {
        self.control.tools().role(tool)
    }

    /// Tells the user something that stops nothing, and waits for slow readers.
    pub async fn notice(&self, source: &'static str, text: String) {
        self.control.outlet.send(SessionEvent::Notice { source, text }).await;
    }

    /// The model is told with the next prompt.
    pub fn say_with_next_prompt(&self, message: Arc<Message>) {
        self.control.wait_for_next_turn(message);
    }

    /// Whether a prompt is worked on.
    pub fn is_working(&self) -> bool {
        self.control.snapshot().running
    }

    /// Goes on beside the conversation, at most until the session ends.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.control.spawn(work);
    }

    /// Spawns work that asks the user; does nothing in a session without one.
    pub fn spawn_asking(&self, asking: impl Future<Output = ()> + Send + 'static) {
        if self.control.attended {
            self.control.spawn(asking);
        }
    }
}
