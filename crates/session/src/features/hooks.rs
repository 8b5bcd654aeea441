//! Connects hooks to a session: what they are given, and how their replies affect it.
//!
//! A session only knows hook points; the code that runs the hook commands for a point is passed in.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{CheckedCall, RunEnd, ToolOutcome, ToolOutput};
use omp_policy::ApprovalMode;
use omp_store::Custom;
use omp_types::{Content, Message, ToolCall, text_of};
use serde_json::{Value, json};

use super::notified::WAITING;
use super::{AcceptedMessages, CallVerdict, FeatureMessage, SessionCx, SessionFeature, hidden};
use crate::control::Control;
use crate::host::Wish;

/// How often hooks may keep one prompt from ending.
const MOST_HELD: u32 = 8;
/// The custom type of messages that give the model the output of a hook.
const MESSAGE_TYPE: &str = "hook";
/// The custom type of entries that record hook decisions about calls.
const DECISION_ENTRY: &str = "hook_decision";
/// The source named in notices of hooks.
const SOURCE: &str = "hooks";
/// The user is notified of hooks that take longer than this.
const SLOW: Duration = Duration::from_secs(3);

/// Runs the hooks of a session.
pub trait SessionHooks: Send + Sync {
    /// Runs all hooks registered for the point and waits for them. Dropping the future ends them.
    fn fire<'a>(&'a self, scene: &'a HookScene, point: HookPoint<'a>) -> BoxFuture<'a, HookReply>;

    /// Whether any hook is registered for the point.
    fn wants(&self, _point: &HookPoint<'_>) -> bool {
        true
    }

    /// How long the session has to be idle before hooks are notified that it waits for the user.
    fn patience(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// The names of the hooks that are being waited for, as shown to the user.
    fn named(&self, _point: &HookPoint<'_>) -> String {
        "hooks".to_owned()
    }
}

/// The data that every hook of a session gets at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct HookScene {
    pub session_id: String,
    /// `None` where the session is not recorded.
    pub transcript: Option<PathBuf>,
    pub cwd: String,
    pub mode: ApprovalMode,
    pub plans: bool,
    pub model: String,
}

/// An event that is about to happen or has happened.
#[derive(Clone, Debug)]
pub enum HookPoint<'a> {
    BeforeCall {
        call: &'a ToolCall,
    },
    /// The call has run.
    AfterCall {
        call_id: &'a str,
        tool: &'a str,
        arguments: &'a Value,
        output: &'a ToolOutput,
    },
    /// The user has sent a prompt.
    Prompt {
        text: &'a str,
    },
    /// The model has finished. `held`: a hook has already prevented the end of the same prompt.
    Stop {
        held: bool,
        /// The last text of the model.
        said: &'a str,
    },
    Start(StartSource),
    End {
        reason: &'static str,
    },
    BeforeCompaction {
        by_hand: bool,
        instructions: Option<&'a str>,
    },
    /// The session needs the attention of the user.
    Notification {
        kind: &'static str,
        message: &'a str,
    },
}

/// How a session, or its context, began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartSource {
    Startup,
    Resume,
    Clear,
    Compact,
}

/// Why a session ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndReason {
    /// A new session replaces it.
    Clear,
    /// Another session is resumed.
    Resume,
    /// The user has left.
    Exit,
    #[default]
    Other,
}

impl EndReason {
    /// The reason for which the old session ends when this one is opened.
    pub fn before(wish: &Wish) -> Self {
        match wish {
            Wish::New { .. } => EndReason::Clear,
            Wish::Resume { .. } => EndReason::Resume,
            // The session continues, in whole or in part.
            Wish::Fork { .. } | Wish::Branch { .. } | Wish::Move { .. } => EndReason::Other,
        }
    }

    /// The name that Claude Code uses.
    pub fn as_str(self) -> &'static str {
        match self {
            EndReason::Clear => "clear",
            EndReason::Resume => "resume",
            EndReason::Exit => "prompt_input_exit",
            EndReason::Other => "other",
        }
    }
}

/// The combined reply of all hooks of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookReply {
    /// For the user.
    pub notices: Vec<String>,
    /// For the model.
    pub context: Vec<String>,
    /// Set when the event must not happen: the reason, for whoever caused the event.
    pub blocked: Option<String>,
    /// Set when the run ends here: the reason, for the user.
    pub halted: Option<String>,
    /// The hook's decision about a call.
    pub permission: Option<HookPermission>,
    /// New arguments for a call.
    pub amended: Option<Value>,
    /// Text that replaces the output of a finished call for the model.
    pub output: Option<String>,
}

impl HookReply {
    /// Merges two replies. For fields that hold one value, the first reply wins.
    fn and(self, other: Self) -> Self {
        Self {
            notices: [self.notices, other.notices].concat(),
            context: [self.context, other.context].concat(),
            blocked: self.blocked.or(other.blocked),
            halted: self.halted.or(other.halted),
            permission: match (self.permission, other.permission) {
                (Some(ask @ HookPermission::Ask { .. }), _) | (_, Some(ask @ HookPermission::Ask { .. })) => Some(ask),
                (one, other) => one.or(other),
            },
            amended: self.amended.or(other.amended),
            output: self.output.or(other.output),
        }
    }
}

/// A hook's decision on the approval of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookPermission {
    /// Skips the question that the mode would ask. Rules and dangerous calls still lead to a question.
    Allow,
    Ask {
        reason: String,
    },
}

/// The hooks of a session, in independent sets.
pub(super) struct Hooks {
    sets: Vec<Arc<dyn SessionHooks>>,
    turn: Mutex<HookTurn>,
}

/// The effects of hooks on the running prompt.
#[derive(Debug, Default)]
struct HookTurn {
    /// Calls that are allowed and have not ended, with the text that the model gets with their results.
    running: HashMap<String, Vec<String>>,
    /// Text that the model gets with the result of the call that is being decided.
    context: Vec<String>,
    halted: Option<String>,
    held: u32,
}

impl Hooks {
    pub fn new(sets: Vec<Arc<dyn SessionHooks>>) -> Self {
        Self { sets, turn: Mutex::default() }
    }

    fn turn(&self) -> MutexGuard<'_, HookTurn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants(&self, point: &HookPoint<'_>) -> bool {
        self.sets.iter().any(|set| set.wants(point))
    }

    /// Runs the hooks of all sets and merges their replies.
    async fn fire(&self, cx: &SessionCx, point: HookPoint<'_>) -> HookReply {
        let scene = cx.control.hook_scene();
        let mut reply = HookReply::default();
        for set in &self.sets {
            reply = reply.and(fire_set(&**set, cx, &scene, point.clone()).await);
        }
        for text in std::mem::take(&mut reply.notices) {
            cx.notice(SOURCE, text).await;
        }
        reply
    }

    /// `None` if the user aborted the work meanwhile.
    async fn fire_unless_aborted(&self, cx: &SessionCx, point: HookPoint<'_>) -> Option<HookReply> {
        let cancel = cx.control.prompt_token();
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            reply = self.fire(cx, point) => Some(reply),
        }
    }

    /// Runs the hooks for the start of the session or of its context. Their output is sent with the next prompt.
    async fn began(&self, cx: &SessionCx, source: StartSource) {
        let reply = self.fire_unless_aborted(cx, HookPoint::Start(source)).await;
        let context = reply.and_then(|reply| context_message(&reply.context));
        context.into_iter().for_each(|message| cx.say_with_next_prompt(message));
    }

    async fn said_to_call(&self, cx: &SessionCx, checked: &mut CheckedCall<'_>) -> CallVerdict {
        let call = checked.call();
        let point = HookPoint::BeforeCall { call };
        let reply = match self.wants(&point) {
            true => {
                let id = format!("{}-before", call.id);
                cx.control.before_change(&id, "PreToolUse hooks").await;
                let reply = self.fire(cx, point).await;
                cx.control.after_change(&id).await;
                reply
            }
            false => HookReply::default(),
        };
        let decided = |what: Value| note_decision(cx, call, what);
        if let Some(why) = reply.halted {
            self.turn().halted = Some(why.clone());
            decided(json!({"decision": "stopped", "reason": why}));
            return CallVerdict::refuse(format!("`{}` was not run: a hook stopped the turn: {why}", call.name));
        }
        if let Some(why) = reply.blocked {
            decided(json!({"decision": "blocked", "reason": why}));
            return CallVerdict::refuse(format!("`{}` was not run: a hook of the user refused it: {why}", call.name));
        }
        self.turn().context = reply.context;
        let permission = reply.permission;
        let Some(arguments) = reply.amended else { return CallVerdict { permission, refusal: None } };
        let amended = checked.amend(arguments);
        let call = checked.call();
        if let Err(invalid) = amended {
            let why = format!(
                "`{}` was not run: a hook of the user changed its arguments to ones that are not valid: {}",
                call.name,
                invalid.problems.join("; ")
            );
            note_decision(cx, call, json!({"decision": "refused", "reason": why}));
            return CallVerdict::refuse(why);
        }
        note_decision(cx, call, json!({"decision": "amended", "arguments": call.arguments}));
        cx.notice(SOURCE, format!("a hook changed the arguments of `{}`", call.name)).await;
        CallVerdict { permission, refusal: None }
    }

    /// Adds the output of hooks about a finished call to its result.
    async fn said_to_result(&self, cx: &SessionCx, outcome: &mut ToolOutcome) {
        let before = self.turn().running.remove(&outcome.call_id);
        let Some(before) = before else { return };
        let point = HookPoint::AfterCall {
            call_id: &outcome.call_id,
            tool: &outcome.name,
            arguments: &outcome.arguments,
            output: &outcome.output,
        };
        let reply = self.fire_unless_aborted(cx, point).await.unwrap_or_default();
        if let Some(why) = reply.halted {
            self.turn().halted.get_or_insert(why);
        }
        if let Some(text) = reply.output {
            note(cx, json!({"callId": outcome.call_id, "tool": outcome.name, "decision": "output replaced"}));
            cx.notice(SOURCE, format!("a hook replaced the output of `{}`", outcome.name)).await;
            outcome.output.content = vec![Content::text(text)];
        }
        let said = before.into_iter().chain(reply.blocked).chain(reply.context);
        outcome.output.content.extend(said.map(|text| Content::text(told(&text))));
    }

    async fn said_to_messages(&self, cx: &SessionCx, messages: Vec<Arc<Message>>) -> AcceptedMessages {
        let (mut said, mut refused) = (Vec::new(), None);
        for message in messages {
            let Message::User(user) = &*message else {
                said.push(message);
                continue;
            };
            let text = text_of(&user.content);
            let Some(reply) = self.fire_unless_aborted(cx, HookPoint::Prompt { text: &text }).await else {
                said.push(message);
                continue;
            };
            if let Some(why) = reply.halted.or(reply.blocked) {
                refused = Some(format!("a hook stopped the prompt: {why}"));
                continue;
            }
            said.push(message);
            said.extend(context_message(&reply.context));
        }
        match refused {
            Some(why) if said.is_empty() => Err(why),
            Some(why) => {
                cx.notice(SOURCE, why).await;
                Ok(said)
            }
            None => Ok(said),
        }
    }

    /// The message for a model that wants to stop, if a hook has one.
    async fn said_to_stop(&self, cx: &SessionCx) -> Option<FeatureMessage> {
        let held = {
            let turn = self.turn();
            if turn.halted.is_some() {
                return None;
            }
            turn.held
        };
        let messages = cx.control.messages();
        let last = messages.iter().rev().find_map(|message| message.as_assistant());
        let said = last.map(|answer| text_of(&answer.content)).unwrap_or_default();
        let point = HookPoint::Stop { held: held > 0, said: &said };
        if !self.wants(&point) {
            return None;
        }
        let id = format!("stop-{held}");
        cx.control.before_change(&id, "Stop hooks").await;
        let reply = self.fire_unless_aborted(cx, point).await;
        cx.control.after_change(&id).await;
        let reply = reply?;
        if let Some(why) = reply.halted {
            cx.notice(SOURCE, format!("a hook stopped the turn: {why}")).await;
            return None;
        }
        // Context alone, without a block, also makes the model go on.
        let said: Vec<String> = reply.blocked.into_iter().chain(reply.context).collect();
        let why = (!said.is_empty()).then(|| said.join("\n\n"))?;
        if held >= MOST_HELD {
            let text = format!("a hook asked the model to continue again; stopped after {MOST_HELD} times: {why}");
            cx.notice(SOURCE, text).await;
            return None;
        }
        self.turn().held += 1;
        Some(FeatureMessage::new(MESSAGE_TYPE, told(&why)))
    }

    /// Notifies hooks once when the session has been idle for a while.
    async fn tell_of_waiting(sets: Vec<Arc<dyn SessionHooks>>, cx: SessionCx) {
        let Some(patience) = sets.iter().map(|set| set.patience()).min() else { return };
        tokio::select! {
            // The session may end meanwhile; then the wait ends too.
            _ = cx.control.until(|snapshot| snapshot.running) => {}
            () = tokio::time::sleep(patience) => {
                let message = "omp is waiting for your input";
                let point = HookPoint::Notification { kind: WAITING, message };
                Self::new(sets).fire(&cx, point).await;
            }
        }
    }
}

impl SessionFeature for Hooks {
    fn start<'a>(&'a self, cx: &'a SessionCx, source: StartSource) -> BoxFuture<'a, ()> {
        self.began(cx, source).boxed()
    }

    fn begin_run(&self) {
        *self.turn() = HookTurn::default();
    }

    fn hear<'a>(&'a self, cx: &'a SessionCx, said: Vec<Arc<Message>>) -> BoxFuture<'a, AcceptedMessages> {
        self.said_to_messages(cx, said).boxed()
    }

    fn stops_run(&self) -> Option<String> {
        self.turn().halted.take().map(|why| format!("a hook stopped the turn: {why}"))
    }

    fn before_call<'a>(&'a self, cx: &'a SessionCx, call: &'a mut CheckedCall<'_>) -> BoxFuture<'a, CallVerdict> {
        self.said_to_call(cx, call).boxed()
    }

    fn call_runs(&self, call: &ToolCall) {
        let mut turn = self.turn();
        let context = std::mem::take(&mut turn.context);
        turn.running.insert(call.id.clone(), context);
    }

    fn after_call<'a>(
        &'a self,
        cx: &'a SessionCx,
        outcome: &'a mut ToolOutcome,
    ) -> BoxFuture<'a, Option<FeatureMessage>> {
        self.said_to_result(cx, outcome).map(|()| None).boxed()
    }

    fn before_finish<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, Option<FeatureMessage>> {
        self.said_to_stop(cx).boxed()
    }

    fn idle(&self, cx: &SessionCx, _end: &RunEnd) {
        cx.spawn_asking(Self::tell_of_waiting(self.sets.clone(), cx.clone()));
    }

    fn before_compaction<'a>(
        &'a self,
        cx: &'a SessionCx,
        by_hand: bool,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Option<String>> {
        async move {
            let point = HookPoint::BeforeCompaction { by_hand, instructions };
            let reply = self.fire_unless_aborted(cx, point).await.unwrap_or_default();
            reply.halted.or(reply.blocked).map(|why| format!("a hook refused it: {why}"))
        }
        .boxed()
    }

    /// Runs the hooks for the start of a new context.
    fn after_compaction<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, ()> {
        self.began(cx, StartSource::Compact).boxed()
    }

    fn user_wanted<'a>(&'a self, cx: &'a SessionCx, kind: &'static str, message: &'a str) -> BoxFuture<'a, ()> {
        self.fire(cx, HookPoint::Notification { kind, message }).map(drop).boxed()
    }

    fn end<'a>(&'a self, cx: &'a SessionCx, reason: EndReason) -> BoxFuture<'a, ()> {
        self.fire(cx, HookPoint::End { reason: reason.as_str() }).map(drop).boxed()
    }
}

async fn fire_set(set: &dyn SessionHooks, cx: &SessionCx, scene: &HookScene, point: HookPoint<'_>) -> HookReply {
    let named = set.named(&point);
    let work = set.fire(scene, point);
    tokio::pin!(work);
    tokio::select! {
        reply = &mut work => reply,
        () = tokio::time::sleep(SLOW) => {
            cx.notice(SOURCE, format!("waiting for {named}")).await;
            work.await
        }
    }
}

/// The text in the form that the model reads.
fn told(text: &str) -> String {
    format!("<hook>\n{}\n</hook>", text.trim())
}

/// A message for the model with the output of hooks; `None` if there is none.
fn context_message(context: &[String]) -> Option<Arc<Message>> {
    (!context.is_empty()).then(|| hidden(MESSAGE_TYPE, told(&context.join("\n\n")), None))
}

/// Records the decision of a hook about a call in the session file.
fn note_decision(cx: &SessionCx, call: &ToolCall, mut what: Value) {
    what["callId"] = call.id.as_str().into();
    what["tool"] = call.name.as_str().into();
    note(cx, what);
}

fn note(cx: &SessionCx, what: Value) {
    // If this cannot be written, writing the result fails too and reports the error.
    let _ = cx.note(Custom { custom_type: DECISION_ENTRY.to_owned(), data: Some(what) });
}

impl Control {
    fn hook_scene(&self) -> HookScene {
        let mode = self.policy().mode;
        let recorder = self.recorder();
        HookScene {
            session_id: recorder.session_id().to_owned(),
            transcript: recorder.path(),
            cwd: recorder.header().cwd.clone(),
            mode,
            plans: recorder.plans(),
            model: self.snapshot().model.selector(),
        }
    }
}
