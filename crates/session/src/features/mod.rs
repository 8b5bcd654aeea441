//! Features that take part in the runs of a session, in the order of a list.
//!
//! [`SessionFeature`] has a method for each moment of a session; a feature implements those that it needs. Before an event
//! the features are called in their order, after it in reverse, so that the first feature has the first and the last word.
//! [`SessionCx`] holds what a feature may do to the session.

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
use crate::recorder::{RecorderError, RunningRecorder};
use crate::resumed::Resumed;
use crate::spending::RequestParts;

pub use hooks::{EndReason, HookPermission, HookPoint, HookReply, HookScene, SessionHooks, StartSource};
pub use jobs::{BackgroundJobs, JobEnded};
pub(crate) use jobs::{Waking, Woken};
pub(crate) use notified::{AskedAloud, PERMISSION};
pub use quarantine::{QUARANTINE_ENTRY, Quarantined};
pub use said::FeatureMessage;
pub(crate) use said::hidden;
pub use standard::StandardFeatures;
pub use stream_rules::{RulesFired, StreamRules, TTSR_INJECTION};
pub use title::Titling;
pub(crate) use undo::ask_to_overwrite;
pub use undo::{CallSeen, FilesInTheWay, FilesKept, Overwritten, UNDO_ENTRY};

/// Takes part in a session. The default implementation of every method changes nothing.
#[expect(unused_variables, reason = "the usual answers need nothing")]
pub trait SessionFeature: Send + Sync {
    /// Restores state from the session file, before anything else happens.
    fn resume(&self, cx: &SessionCx, resumed: &Resumed) {}

    /// The session starts; there was no prompt yet.
    fn start<'a>(&'a self, cx: &'a SessionCx, source: StartSource) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// A prompt starts, with these messages.
    fn begin_prompt<'a>(&'a self, cx: &'a SessionCx, said: &'a [Arc<Message>]) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// A run starts, for a new prompt or for a repeated one.
    fn begin_run(&self) {}

    /// Filters or extends the messages before the model gets them. `Err` says why none are sent.
    fn hear<'a>(&'a self, cx: &'a SessionCx, said: Vec<Arc<Message>>) -> BoxFuture<'a, AcceptedMessages> {
        Box::pin(ready(Ok(said)))
    }

    /// Text to be placed right before the prompt.
    fn news(&self) -> Option<FeatureMessage> {
        None
    }

    /// Called before every request. `Some` ends the run, with the reason.
    fn stops_run(&self) -> Option<String> {
        None
    }

    /// Text to be added to the next request.
    fn before_request(&self) -> Option<FeatureMessage> {
        None
    }

    /// Checks a request as it will be sent. `Some` ends the run instead.
    fn weigh_request(&self, cx: &SessionCx, parts: &RequestParts, transcript: &Transcript) -> Option<RunEnd> {
        None
    }

    /// Handles an event of the run. The returned events are sent before it.
    fn hear_event(&self, cx: &SessionCx, event: &AgentEvent) -> Result<Vec<SessionEvent>, Stop> {
        Ok(Vec::new())
    }

    /// The event is written to the file. The returned event is sent after it.
    fn after_event(&self, cx: &SessionCx, event: &AgentEvent) -> Option<SessionEvent> {
        None
    }

    /// Called before a message is written to the file.
    fn before_record(&self, message: &Message, recorder: &mut RunningRecorder) -> Result<(), RecorderError> {
        Ok(())
    }

    fn after_record(&self, message: &Message, recorder: &mut RunningRecorder) -> Result<(), RecorderError> {
        Ok(())
    }

    /// Called after every piece of an answer; `true` cuts the answer off.
    fn cuts(&self, partial: &AssistantMessage) -> bool {
        false
    }

    /// The answer was cut off. It is the last message of the transcript, from which it may be removed. The returned message
    /// is sent next.
    fn after_cut(&self, cx: &SessionCx, transcript: &mut Transcript) -> Option<FeatureMessage> {
        None
    }

    /// The model wants to call a tool; its arguments are valid and may be amended. Called before the user is asked.
    fn before_call<'a>(&'a self, cx: &'a SessionCx, call: &'a mut CheckedCall<'_>) -> BoxFuture<'a, CallVerdict> {
        Box::pin(ready(CallVerdict::default()))
    }

    /// The call was allowed and runs as given here.
    fn call_runs(&self, call: &ToolCall) {}

    /// A call or a hook starts that may change files.
    fn before_change<'a>(&'a self, cx: &'a SessionCx, id: &'a str, what: &'a str) -> BoxFuture<'a, ()> {
        nothing()
    }

    fn after_change<'a>(&'a self, cx: &'a SessionCx, id: &'a str) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// May change the result of a call before the model sees it and the file records it. The returned message comes after
    /// the results of the turn.
    fn after_call<'a>(
        &'a self,
        cx: &'a SessionCx,
        outcome: &'a mut ToolOutcome,
    ) -> BoxFuture<'a, Option<FeatureMessage>> {
        Box::pin(ready(None))
    }

    /// An answer and its tool results were added to the transcript.
    fn after_turn(&self, cx: &SessionCx, transcript: &mut Transcript) -> Result<(), Stop> {
        Ok(())
    }

    /// The model has finished. If a message is returned, it is sent to the model and the run goes on.
    fn before_finish<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, Option<FeatureMessage>> {
        Box::pin(ready(None))
    }

    /// The provider refused a request. Returns the conversation to try instead; `written` is the request as it was sent.
    fn after_refusal(
        &self,
        cx: &SessionCx,
        error: &ModelError,
        refused: &Transcript,
        written: &dyn Fn() -> Option<Value>,
    ) -> Option<Transcript> {
        None
    }

    /// The run is over. Returns a conversation if it has to be replaced.
    fn end_run(&self, end: &RunEnd) -> Option<Transcript> {
        None
    }

    /// The prompt is done, with all its runs. An abort does not wait for this.
    fn end_prompt<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// The end of the prompt was reported to all front ends.
    fn idle(&self, cx: &SessionCx, end: &RunEnd) {}

    /// Converts a message to the form in which it may be sent.
    fn as_sent(&self, message: Message) -> Message {
        message
    }

    /// Returns a reason if the conversation must not be compacted.
    fn before_compaction<'a>(
        &'a self,
        cx: &'a SessionCx,
        by_hand: bool,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Option<String>> {
        Box::pin(ready(None))
    }

    /// Called before anything is summarized: cancels the compaction or provides the summary. The first feature that does
    /// either wins.
    fn before_summary(&self, plan: &CompactionPlan<'_>) -> BeforeSummary {
        BeforeSummary::Go
    }

    /// Additional text for the model that writes the summary.
    fn compacting(&self, plan: &CompactionPlan<'_>) -> Compacting {
        Compacting::default()
    }

    /// A summary was written to the file. `from_extension`: it was not written by a model.
    fn compacted(&self, compacted: &Compacted, from_extension: bool) {}

    /// The conversation was compacted.
    fn after_compaction<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// The conversation was replaced while no run is active.
    fn conversation_replaced(&self) {}

    /// Called before the session moves to another entry: cancels the move or provides the summary of the branch that is
    /// left.
    fn before_move(&self, plan: &TreePlan<'_>) -> BeforeSummary {
        BeforeSummary::Go
    }

    /// The session has moved to another entry of its file.
    fn moved(&self, cx: &SessionCx, moved: &TreeMove, context: &Context) {}

    /// The session needs the attention of the user. `kind` is a name that Claude Code defines.
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

/// The messages for the model, or the reason why there are none.
pub type AcceptedMessages = Result<Vec<Arc<Message>>, String>;

/// A feature's reply to a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallVerdict {
    /// Set when the call must not run: the text that the model reads instead of a result.
    pub refusal: Option<String>,
    /// The decision on the approval of the call.
    pub permission: Option<HookPermission>,
}

impl CallVerdict {
    pub fn refuse(why: impl Into<String>) -> Self {
        Self { refusal: Some(why.into()), ..Self::default() }
    }
}

/// Gives features access to the session.
#[derive(Clone)]
pub struct SessionCx {
    pub(crate) control: Arc<Control>,
}

impl SessionCx {
    /// Writes data to the session file that the model does not see.
    pub fn note(&self, custom: Custom) -> Result<(), RecorderError> {
        self.control.recorder().note(custom)
    }

    /// The role that a tool has for the session.
    pub fn tool_role(&self, tool: &str) -> Option<ToolRole> {
        self.control.tools().role(tool)
    }

    /// Shows a notice to the user, and waits for slow readers of events.
    pub async fn notice(&self, source: &'static str, text: String) {
        self.control.outlet.send(SessionEvent::Notice { source, text }).await;
    }

    /// Sends the message to the model with the next prompt.
    pub fn say_with_next_prompt(&self, message: Arc<Message>) {
        self.control.wait_for_next_turn(message);
    }

    /// Whether a prompt is running.
    pub fn is_working(&self) -> bool {
        self.control.snapshot().running
    }

    /// Runs a background task, at most until the session ends.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.control.spawn(work);
    }

    /// Runs a background task that asks the user; does nothing in an unattended session.
    pub fn spawn_asking(&self, asking: impl Future<Output = ()> + Send + 'static) {
        if self.control.attended {
            self.control.spawn(asking);
        }
    }
}
