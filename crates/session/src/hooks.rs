//! Where hooks take part in a session: what they are told, and what they may say to it.
//!
//! A session knows points, not commands: who runs them, and for which point, is handed in.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_agent::{AnyTool, ToolOutcome, ToolOutput, check_arguments};
use omp_store::Custom;
use omp_types::{Content, Message, ToolCall, text_of};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::control::Control;
use crate::event::SessionEvent;
use crate::host::Wish;
use crate::policy::ApprovalMode;
use crate::reminder::hidden;

/// How often hooks may keep one prompt from ending.
const MOST_HELD: u32 = 8;
/// The kind of messages that tell the model what a hook said.
const MESSAGE_TYPE: &str = "hook";
/// The entries that tell what hooks decided about calls.
const DECISION_ENTRY: &str = "hook_decision";
/// Hooks that take longer than this are told of.
const SLOW: Duration = Duration::from_secs(3);

/// Whoever runs hooks.
pub trait SessionHooks: Send + Sync {
    /// Tells all that want to know of it and waits for them. Dropping the future ends them.
    fn fire<'a>(&'a self, scene: &'a HookScene, point: HookPoint<'a>) -> BoxFuture<'a, HookReply>;

    /// Whether any would run.
    fn wants(&self, _point: &HookPoint<'_>) -> bool {
        true
    }

    /// How long nothing is said to the session until hooks hear that the user is waited for.
    fn patience(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// How the user is told which of them are being waited for.
    fn named(&self, _point: &HookPoint<'_>) -> String {
        "hooks".to_owned()
    }
}

/// What is the same for every hook of a session at one moment.
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

/// What is about to happen, or has.
#[derive(Clone, Debug)]
pub enum HookPoint<'a> {
    BeforeCall {
        call: &'a ToolCall,
    },
    /// It was run.
    AfterCall {
        call_id: &'a str,
        tool: &'a str,
        arguments: &'a Value,
        output: &'a ToolOutput,
    },
    /// The user has said something.
    Prompt {
        text: &'a str,
    },
    /// The model has nothing more to do. `held`: a hook has kept it from ending before, for the same prompt.
    Stop {
        held: bool,
        /// Its last words.
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
    /// The user is wanted.
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
    /// A new one takes its place.
    Clear,
    /// Another one is taken up.
    Resume,
    /// The user has left.
    Exit,
    #[default]
    Other,
}

impl EndReason {
    /// Of a session that gives way to this one.
    pub fn before(wish: &Wish) -> Self {
        match wish {
            Wish::New { .. } => EndReason::Clear,
            Wish::Resume { .. } => EndReason::Resume,
            // It goes on, or a part of it does.
            Wish::Fork { .. } | Wish::Branch { .. } | Wish::Move { .. } => EndReason::Other,
        }
    }

    /// As Claude Code calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            EndReason::Clear => "clear",
            EndReason::Resume => "resume",
            EndReason::Exit => "prompt_input_exit",
            EndReason::Other => "other",
        }
    }
}

/// What all hooks of a point said together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookReply {
    /// For the user.
    pub notices: Vec<String>,
    /// For the model.
    pub context: Vec<String>,
    /// It must not happen, in words for whoever wanted it.
    pub blocked: Option<String>,
    /// The run ends here, in words for the user.
    pub halted: Option<String>,
    /// Of a call.
    pub permission: Option<HookPermission>,
    /// Other arguments for a call.
    pub amended: Option<Value>,
    /// What the model reads instead of the output of a call that was run.
    pub output: Option<String>,
}

/// What a hook wants of the approval of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookPermission {
    /// The mode need not ask. Rules and what is dangerous in itself are asked about all the same.
    Allow,
    Ask {
        reason: String,
    },
}

/// What hooks have done to the prompt that is worked on.
#[derive(Debug, Default)]
pub(crate) struct HookTurn {
    /// Calls that were allowed to run and have not ended, with what the model is told with their results.
    running: HashMap<String, Vec<String>>,
    /// The same for the call that is being decided about.
    context: Vec<String>,
    halted: Option<String>,
    held: u32,
}

impl HookTurn {
    /// Why the run must not go on, once.
    pub fn take_halt(&mut self) -> Option<String> {
        self.halted.take()
    }

    pub fn runs(&mut self, call: &ToolCall) {
        self.running.insert(call.id.clone(), std::mem::take(&mut self.context));
    }

    /// What is to run instead of the call, or why it must not.
    pub async fn before_call(
        &mut self,
        control: &Control,
        call: &ToolCall,
        tool: &dyn AnyTool,
    ) -> Result<(Option<ToolCall>, Option<HookPermission>), String> {
        if !control.has_hooks() {
            return Ok((None, None));
        }
        let point = HookPoint::BeforeCall { call };
        let reply = match control.wants(&point) {
            true => {
                let id = format!("{}-before", call.id);
                control.files_around_hooks(&id, "PreToolUse hooks", control.fire(point)).await
            }
            false => HookReply::default(),
        };
        if let Some(why) = reply.halted {
            self.halted = Some(why.clone());
            control.note_decision(call, json!({"decision": "stopped", "reason": why}));
            return Err(format!("`{}` was not run: a hook has stopped the work: {why}", call.name));
        }
        if let Some(why) = reply.blocked {
            control.note_decision(call, json!({"decision": "blocked", "reason": why}));
            return Err(format!("`{}` was not run: a hook of the user refused it: {why}", call.name));
        }
        self.context = reply.context;
        let Some(arguments) = reply.amended else { return Ok((None, reply.permission)) };
        let amended = amended(call, tool, arguments).inspect_err(|why| {
            control.note_decision(call, json!({"decision": "refused", "reason": why}));
        })?;
        let what = json!({"decision": "amended", "arguments": amended.arguments});
        control.note_decision(call, what);
        control.notice(format!("a hook changed the arguments of `{}`", call.name)).await;
        Ok((Some(amended), reply.permission))
    }

    /// Adds what hooks say of a call that was run to what the model reads of it.
    pub async fn after_call(&mut self, control: &Control, cancel: &CancellationToken, outcome: &mut ToolOutcome) {
        let Some(before) = self.running.remove(&outcome.call_id).filter(|_| control.has_hooks()) else { return };
        let point = HookPoint::AfterCall {
            call_id: &outcome.call_id,
            tool: &outcome.name,
            arguments: &outcome.arguments,
            output: &outcome.output,
        };
        let reply = control.fire_unless(cancel, point).await.unwrap_or_default();
        self.halted = self.halted.take().or(reply.halted);
        if let Some(text) = reply.output {
            let what = json!({"callId": outcome.call_id, "tool": outcome.name, "decision": "output replaced"});
            control.note_entry(what);
            control.notice(format!("a hook replaced the output of `{}`", outcome.name)).await;
            outcome.output.content = vec![Content::text(text)];
        }
        let said = before.into_iter().chain(reply.blocked).chain(reply.context);
        outcome.output.content.extend(said.map(|text| Content::text(told(&text))));
    }

    /// What of the user's messages is said, with what hooks add to them. `Err` says why none is.
    pub async fn said(
        &mut self,
        control: &Control,
        cancel: &CancellationToken,
        messages: Vec<Arc<Message>>,
    ) -> Result<Vec<Arc<Message>>, String> {
        if !control.has_hooks() {
            return Ok(messages);
        }
        let (mut said, mut refused) = (Vec::new(), None);
        for message in messages {
            let Message::User(user) = &*message else {
                said.push(message);
                continue;
            };
            let text = text_of(&user.content);
            let Some(reply) = control.fire_unless(cancel, HookPoint::Prompt { text: &text }).await else {
                said.push(message);
                continue;
            };
            if let Some(why) = reply.halted.or(reply.blocked) {
                refused = Some(format!("a hook has stopped the prompt: {why}"));
                continue;
            }
            said.push(message);
            said.extend(context_message(&reply.context));
        }
        match refused {
            Some(why) if said.is_empty() => Err(why),
            Some(why) => {
                control.notice(why).await;
                Ok(said)
            }
            None => Ok(said),
        }
    }

    /// What is said to a model that wants to stop.
    pub async fn before_finish(&mut self, control: &Control, cancel: &CancellationToken) -> Option<Arc<Message>> {
        if !control.has_hooks() || self.halted.is_some() {
            return None;
        }
        let messages = control.messages();
        let last = messages.iter().rev().find_map(|message| message.as_assistant());
        let said = last.map(|answer| text_of(&answer.content)).unwrap_or_default();
        let point = HookPoint::Stop { held: self.held > 0, said: &said };
        if !control.wants(&point) {
            return None;
        }
        let id = format!("stop-{}", self.held);
        let reply = control.files_around_hooks(&id, "Stop hooks", control.fire_unless(cancel, point)).await?;
        if let Some(why) = reply.halted {
            control.notice(format!("a hook has stopped the work: {why}")).await;
            return None;
        }
        // What it only tells the model is worth an answer too.
        let said: Vec<String> = reply.blocked.into_iter().chain(reply.context).collect();
        let why = (!said.is_empty()).then(|| said.join("\n\n"))?;
        if self.held >= MOST_HELD {
            control
                .notice(format!(
                    "a hook wants the model to go on once more; it has done so {MOST_HELD} times, so it stops: {why}"
                ))
                .await;
            return None;
        }
        self.held += 1;
        Some(hidden(MESSAGE_TYPE, told(&why), None))
    }
}

/// The call with a hook's arguments, which must be valid ones.
fn amended(call: &ToolCall, tool: &dyn AnyTool, mut arguments: Value) -> Result<ToolCall, String> {
    let problems = match check_arguments(&tool.parameters(), &mut arguments) {
        Ok(()) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    };
    match arguments {
        Value::Object(arguments) if problems.is_empty() => Ok(ToolCall { arguments, ..call.clone() }),
        _ => Err(format!(
            "`{}` was not run: a hook of the user changed its arguments to ones that are not valid: {}",
            call.name,
            if problems.is_empty() { "not an object".to_owned() } else { problems.join("; ") }
        )),
    }
}

/// As the model reads it.
fn told(text: &str) -> String {
    format!("<hook>\n{}\n</hook>", text.trim())
}

/// A message for the model with what hooks have said, if they have.
pub(crate) fn context_message(context: &[String]) -> Option<Arc<Message>> {
    (!context.is_empty()).then(|| hidden(MESSAGE_TYPE, told(&context.join("\n\n")), None))
}

impl Control {
    pub async fn fire(&self, point: HookPoint<'_>) -> HookReply {
        let Some(hooks) = self.hooks() else { return HookReply::default() };
        let scene = self.hook_scene();
        let named = hooks.named(&point);
        let work = hooks.fire(&scene, point);
        tokio::pin!(work);
        let mut reply = tokio::select! {
            reply = &mut work => reply,
            () = tokio::time::sleep(SLOW) => {
                self.notice(format!("waiting for {named}")).await;
                work.await
            }
        };
        for text in std::mem::take(&mut reply.notices) {
            self.notice(text).await;
        }
        reply
    }

    fn wants(&self, point: &HookPoint<'_>) -> bool {
        self.hooks().is_some_and(|hooks| hooks.wants(point))
    }

    /// The same; `None` when the user has ended the work meanwhile.
    pub async fn fire_unless(&self, cancel: &CancellationToken, point: HookPoint<'_>) -> Option<HookReply> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            reply = self.fire(point) => Some(reply),
        }
    }

    async fn notice(&self, text: String) {
        self.outlet.send(SessionEvent::Notice { source: "hooks", text }).await;
    }

    /// The file tells what ran, where that is not what the model asked for.
    fn note_decision(&self, call: &ToolCall, mut what: Value) {
        what["callId"] = call.id.as_str().into();
        what["tool"] = call.name.as_str().into();
        self.note_entry(what);
    }

    fn note_entry(&self, what: Value) {
        // What cannot be written now is told when the result cannot be.
        let _ = self.recorder().note(Custom { custom_type: DECISION_ENTRY.to_owned(), data: Some(what) });
    }

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
