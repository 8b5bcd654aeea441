//! The actor task that owns the conversation: takes commands, runs prompts, retries failures.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use omp_agent::{AnyTool, LoopConfig, Questions, RunEnd, run};
use omp_compaction::Compactor;
use omp_types::{Message, Model, ModelError, Request, ThinkingLevel, Transcript, Usage};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::access::Loans;
use crate::approvals::Approvals;
use crate::control::{Control, Parts};
use crate::event::{SessionEvent, Snapshot};
use crate::features::{AskedAloud, StartSource, Woken, ask_to_overwrite};
use crate::history;
use crate::inbox::{Inbox, meanwhile};
use crate::maintenance::{MOST_RECOVERIES, Recovered, Watch};
use crate::plan::{self, PLAN_FILE};
use crate::port::SessionPort;
use crate::prompt::opening_message;
use crate::retry::RetryPolicy;
use crate::run_end;
use crate::spending::{RequestParts, Spending};
use crate::standing::Standing;
use crate::{Command, SessionOptions};

pub(crate) struct Actor {
    pub(crate) control: Arc<Control>,
    pub(crate) models: Models,
    pub(crate) transcript: Transcript,
    pub(crate) upkeep: Compactor,
    pub(crate) guard: Guard,
    pub(crate) woken: Woken,
    /// How the session began.
    begun: StartSource,
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.control.end_background();
    }
}

/// The model that answers, and its parameters.
pub(crate) struct Models {
    pub current: Arc<Model>,
    pub thinking: ThinkingLevel,
}

/// Limits of a run.
pub(crate) struct Guard {
    pub retry: RetryPolicy,
    /// Model and level pairs for which the user was already notified that the model does not support the thinking level.
    pub told_levels: Vec<(String, ThinkingLevel)>,
    max_turns: u32,
}

impl Actor {
    pub fn new(options: SessionOptions, commands: mpsc::WeakSender<Command>) -> (Self, Arc<Control>) {
        let mut resumed = options.resumed;
        let recorder = options.recorder.start(resumed.mode.as_deref(), options.veil.clone());
        let compaction = options.compaction.settings.clone();
        let upkeep = Compactor::new(options.compaction, PLAN_FILE, &resumed.blanked);
        let spending = Spending::after(&resumed.messages, options.budget);
        let auto_retry = options.retry.enabled;
        let snapshot = Snapshot {
            session_id: recorder.session_id().to_owned(),
            title: recorder.title(),
            file: recorder.path(),
            model: options.model.clone(),
            thinking: options.thinking,
            running: false,
            answered: false,
            message_count: 0,
            queued: 0,
            modes: options.queues.modes(),
            auto_retry,
            auto_compaction: upkeep.is_automatic(),
            compacting: false,
            sums_up_branches: upkeep.options.settings.branches.always,
            approval_mode: options.policy.mode,
            plans: recorder.plans(),
            usage: Usage::default(),
            spending: Arc::new(spending.account()),
        };
        let control = Arc::new(Control::new(Parts {
            queues: options.queues,
            system: options.system,
            llm: options.llm,
            cache: options.cache,
            recorder,
            tools: options.tools.clone(),
            slash_commands: options.commands,
            snapshot,
            auto_retry,
            compaction,
            policy: options.policy,
            approvals: Approvals::new(options.rule_keeper, options.access),
            spending,
            standing: Standing::with_tier(options.tier),
            veil: options.veil,
            look_around: options.look_around,
            features: options.features,
            attended: options.attended,
            commands,
        }));
        // Before the features, which may change what a tool has restored.
        restore(&options.tools, &resumed.messages);
        control.resume(&resumed);
        let transcript = upkeep.reblanked(control.as_sent(history::prepare(std::mem::take(&mut resumed.messages))));
        if let Some(message) = plan::untold(control.plans(), transcript.messages().iter()) {
            control.wait_for_next_turn(message);
        }
        control.set_messages(transcript.messages());
        control.change(|snapshot| snapshot.message_count = transcript.len());
        let actor = Self {
            control: control.clone(),
            models: Models { current: options.model, thinking: options.thinking },
            transcript,
            upkeep,
            guard: Guard { retry: options.retry, told_levels: Vec::new(), max_turns: options.max_turns },
            woken: Woken::default(),
            begun: options.begun,
        };
        (actor, control)
    }

    pub async fn serve(mut self, commands: mpsc::Receiver<Command>) {
        let mut inbox = Inbox::new(commands);
        self.start(&mut inbox).await;
        while let Some(command) = self.next_command(&mut inbox).await {
            self.obey(command, &mut inbox).await;
        }
        let reason = self.control.standing().end;
        self.control.end(reason).await;
    }

    /// Waits for features that do work at the session start, and keeps handling commands meanwhile.
    async fn start(&mut self, inbox: &mut Inbox) {
        let control = self.control.clone();
        control.begin();
        inbox.hearing(&control, Box::pin(control.start(self.begun))).await;
        inbox.postpone(control.unqueue().into_iter().map(Command::Prompt));
    }

    async fn obey(&mut self, command: Command, inbox: &mut Inbox) {
        match command {
            Command::Settle(reply) => drop(reply.send(())),
            Command::Wake => {
                let news = self.woken_by();
                if !news.is_empty() {
                    self.prompt(news, inbox).await;
                }
            }
            Command::Prompt(prompt) | Command::Steer(prompt) | Command::FollowUp(prompt) => {
                self.woken.told();
                let message = self.control.standing().prepared.message(&prompt);
                self.prompt(vec![message], inbox).await;
            }
            Command::Retry => {
                self.woken.told();
                self.transcript.pop_failed_reply();
                self.prompt(Vec::new(), inbox).await;
            }
            Command::Append(message) => self.append(message).await,
            Command::AskToOverwrite(files) => {
                self.control.cx().spawn_asking(ask_to_overwrite(self.control.clone(), files));
            }
            Command::Compact { instructions, reply } => drop(reply.send(self.compact(instructions, inbox).await)),
            Command::Shake { mode, reply } => drop(reply.send(self.shake(mode))),
            Command::Handoff { focus, reply } => drop(reply.send(self.hand_off(focus, inbox).await)),
            Command::EditSummary { summary, reply } => drop(reply.send(self.edit_summary(&summary).await)),
            // The sender may be gone; the session has moved regardless.
            Command::GoTo { leaf, note, reply } => drop(reply.send(self.go_to(leaf, note, inbox).await)),
            Command::SetModel(model) => self.set_model(model),
            Command::SetThinking(level) => self.set_thinking(level),
            Command::SetTools { source, tools } => {
                restore(&tools, self.transcript.messages().iter().map(|message| &**message));
                self.control.set_tools(&source, tools);
                self.publish(false);
            }
            // These commands are handled the same way whether or not a prompt runs. A new command has to be added to one of
            // the groups.
            at_once @ (Command::Abort
            | Command::AbortRetry
            | Command::Answer { .. }
            | Command::NextTurn(_)
            | Command::SetSteeringMode(_)
            | Command::SetFollowUpMode(_)
            | Command::SetInterruptMode(_)
            | Command::SetAutoRetry(_)
            | Command::SetAutoCompaction(_)
            | Command::SetApprovalMode(_)
            | Command::SetPlanMode(_)) => {
                inbox.postpone(meanwhile(&self.control, at_once));
                self.publish(false);
            }
        }
    }

    /// Runs one prompt while still handling commands. If `said` is empty, the last prompt is asked again.
    async fn prompt(&mut self, said: Vec<Arc<Message>>, inbox: &mut Inbox) {
        let control = self.control.clone();
        let cancel = control.begin();
        control.outlet.begin_run();
        self.publish(true);
        control.begin_prompt(&said).await;
        let work = Box::pin(AssertUnwindSafe(self.work(said, cancel)).catch_unwind());
        let end = inbox.hearing(&control, work).await;
        let end = end.unwrap_or_else(|panic| run_end::after_panic(&*panic));
        self.end_run().await;
        // Commands are postponed here, except an abort, so the user can always cancel this wait.
        control.set_deaf(true);
        let since = inbox.put_off(&control);
        control.end_prompt().await;
        control.set_deaf(false);
        let mut undelivered = control.unqueue();
        if end == RunEnd::Finished {
            inbox.postpone(undelivered.drain(..).map(Command::Prompt));
        }
        inbox.postpone(since);
        self.publish(false);
        self.woken.ended(&end);
        control.outlet.send(SessionEvent::Idle { end: end.clone(), undelivered }).await;
        control.idle(&end);
    }

    /// Runs the prompt, and repeats it as often as requested. Anything that ends the prompt early also ends the repetition.
    async fn work(&mut self, said: Vec<Arc<Message>>, cancel: CancellationToken) -> RunEnd {
        self.control.standing().said(&said);
        let chosen = self.control.standing().prepared.begin(&said);
        let Some((model, thinking)) = chosen else { return self.say(said, cancel).await };
        let usual = self.answer_by(model.clone(), thinking);
        let end = self.say(said, cancel).await;
        self.answer_as_before(usual, &model);
        end
    }

    /// Switches to another model for this prompt and returns the session's own models, to be restored afterwards.
    fn answer_by(&mut self, model: Arc<Model>, thinking: Option<ThinkingLevel>) -> Models {
        self.control.told.switch_to(&model);
        let thinking = thinking.unwrap_or(self.models.thinking);
        let usual = std::mem::replace(&mut self.models, Models { current: model, thinking });
        self.publish(true);
        usual
    }

    fn answer_as_before(&mut self, usual: Models, chosen: &Arc<Model>) {
        // If the run was promoted to a larger model, the file records that model, so the change back is recorded too.
        if !Arc::ptr_eq(&self.models.current, chosen) {
            self.control.recorder().model_changed(&usual.current);
        }
        self.control.told.switch_to(&usual.current);
        self.models = usual;
        self.publish(true);
    }

    async fn say(&mut self, said: Vec<Arc<Message>>, cancel: CancellationToken) -> RunEnd {
        let mut end = self.work_once(said, cancel.clone()).await;
        while self.goes_on(&end, &cancel) {
            // The time limit may have passed, or the user may have ended the repetition, in the meantime.
            let Some(again) = self.control.standing().say_again(Instant::now()) else { break };
            let said = vec![again];
            self.control.standing().said(&said);
            end = self.work_once(said, cancel.clone()).await;
        }
        self.control.standing().ended();
        end
    }

    /// Whether the prompt is repeated.
    fn goes_on(&self, end: &RunEnd, cancel: &CancellationToken) -> bool {
        let is_done = *end == RunEnd::Finished && !cancel.is_cancelled();
        is_done && self.control.standing().again(Instant::now()).is_some()
    }

    /// Runs the prompt once, with retries.
    async fn work_once(&mut self, said: Vec<Arc<Message>>, cancel: CancellationToken) -> RunEnd {
        self.control.begin_run();
        let said = match self.control.hear(said).await {
            Ok(said) => said,
            Err(why) => {
                self.tell(SessionEvent::Agent(omp_agent::AgentEvent::AgentStart)).await;
                self.tell_end(Vec::new(), true).await;
                return RunEnd::Stopped(why);
            }
        };
        let opening = self.control.told.next_opening(self.transcript.messages()).await;
        let mut prompts: Vec<_> = opening.map(opening_message).into_iter().collect();
        prompts.extend(self.control.take_next_turn());
        prompts.extend(self.control.news());
        prompts.extend(said);
        let (mut attempt, mut recoveries) = (0, 0);
        let mut given_up = false;
        let end = loop {
            let (end, messages) = self.attempt(std::mem::take(&mut prompts), cancel.clone()).await;
            if self.leave_out_refused(&end) {
                self.tell_end(messages, false).await;
                continue;
            }
            let retry = match &end {
                RunEnd::Failed(error) if self.control.retries() => {
                    self.guard.retry.delay(error, attempt + 1).map(|delay| (error.clone(), delay))
                }
                _ => None,
            };
            let need = self.need(&end, &cancel).filter(|_| recoveries < MOST_RECOVERIES);
            recoveries += u32::from(need.is_some());
            // A recovery that will hardly help is tried before the end is reported; that end is then the terminal one.
            let hopeless = need.filter(|need| self.goes_on_after(*need) && !self.may_go_on_after(*need, &cancel));
            let mut recovered = match hopeless {
                Some(need) => self.recover(need, &cancel).await,
                None => Recovered::Stays,
            };
            let need = need.filter(|_| hopeless.is_none());
            let recovers = need.is_some_and(|need| self.goes_on_after(need)) || recovered.goes_on();
            let is_terminal = retry.is_none() && !recovers && !self.goes_on(&end, &cancel);
            self.tell_end(messages, is_terminal).await;
            if let Some(need) = need {
                recovered = self.recover(need, &cancel).await;
            }
            if let Recovered::GoOn(said) = recovered {
                prompts = said;
                continue;
            }
            let Some((error, delay)) = retry else { break end };
            attempt += 1;
            if self.pause(&error, attempt, delay).await.is_err() {
                given_up = true;
                break if cancel.is_cancelled() { RunEnd::Aborted } else { end };
            }
            self.transcript.pop_failed_reply();
        };
        if let Some(conversation) = self.control.end_run(&end) {
            self.transcript = conversation;
            self.control.set_messages(self.transcript.messages());
        }
        if attempt > 0 {
            self.tell(run_end::of_retries(&end, attempt, given_up)).await;
        }
        match self.control.recorder().sync() {
            Ok(()) => end,
            Err(error) => RunEnd::Fatal(error.to_string()),
        }
    }

    pub(crate) async fn tell_end(&self, messages: Vec<Arc<Message>>, is_terminal: bool) {
        self.control.change(|snapshot| {
            snapshot.answered = is_terminal;
            snapshot.message_count = self.transcript.len();
        });
        self.tell(SessionEvent::AgentEnd { messages, is_terminal }).await;
    }

    /// Removes the refused blocks from the conversation after a provider refused a request. Returns `false` if nothing can
    /// be removed.
    fn leave_out_refused(&mut self, end: &RunEnd) -> bool {
        let RunEnd::Failed(error) = end else { return false };
        let mut refused = self.transcript.clone();
        refused.pop_failed_reply();
        let written = || {
            self.control.llm.written(&Request {
                model: self.models.current.clone(),
                system: self.control.told.system(),
                tools: self.control.tools().specs().clone(),
                messages: refused.for_model(),
                thinking: self.models.thinking,
                max_tokens: None,
                session_id: None,
                cache: self.control.cache,
                terms: self.control.standing().terms(),
            })
        };
        match self.control.after_refusal(error, &refused, &written) {
            Some(changed) => self.transcript = changed,
            None => return false,
        }
        true
    }

    async fn attempt(&mut self, prompts: Vec<Arc<Message>>, cancel: CancellationToken) -> (RunEnd, Vec<Arc<Message>>) {
        self.tell_of_level().await;
        let retry = self.guard.retry;
        let config = LoopConfig {
            llm: self.control.llm.clone(),
            model: self.models.current.clone(),
            system: self.control.told.system(),
            tools: self.control.tools(),
            thinking: self.models.thinking,
            session_id: Some(self.control.recorder().session_id().to_owned()),
            cache: self.control.cache,
            terms: self.control.standing().terms(),
            max_turns: self.guard.max_turns,
            queues: self.control.queues.clone(),
            cancel,
            questions: self.control.attended.then(|| Arc::new(AskedAloud(self.control.clone())) as Arc<dyn Questions>),
        };
        let mut port = SessionPort {
            control: &self.control,
            asked: RequestParts {
                model: config.model.clone(),
                system: config.system.clone(),
                tools: config.tools.specs().clone(),
                thinking: config.thinking,
                cache: config.cache,
                forced: config.terms.tool.is_some(),
            },
            loans: Loans::new(),
            watch: Watch {
                upkeep: &mut self.upkeep,
                model: &self.models.current,
                thinking: self.models.thinking,
                retry,
                cancel: &config.cancel,
            },
            said: Vec::new(),
            ended: None,
        };
        let end = run(&config, &mut self.transcript, prompts, &mut port).await;
        let ended = port.ended.unwrap_or_default();
        self.control.set_messages(self.transcript.messages());
        (end, ended)
    }

    /// Waits before a retry; an abort ends the wait.
    async fn pause(&self, error: &ModelError, attempt: u32, delay: std::time::Duration) -> Result<(), ()> {
        let cancel = self.control.begin_retry();
        let max_attempts = self.guard.retry.max_retries;
        self.tell(SessionEvent::RetryStart { attempt, max_attempts, delay, reason: error.message.clone() }).await;
        let wait = if self.guard.retry.waits { delay } else { std::time::Duration::ZERO };
        tokio::select! {
            () = cancel.cancelled() => Err(()),
            () = tokio::time::sleep(wait) => Ok(()),
        }
    }

    pub(crate) async fn tell(&self, event: SessionEvent) {
        self.control.outlet.send(event).await;
    }

    /// Appends a message to the conversation without requesting an answer.
    async fn append(&mut self, message: Arc<Message>) {
        // A full disk is reported by the next prompt, which cannot be saved either.
        if self.control.recorder().message(&message).is_err() {
            return;
        }
        self.tell(SessionEvent::Agent(omp_agent::AgentEvent::MessageStart { message: message.clone() })).await;
        self.transcript.push_input(history::told(&message));
        self.control.set_messages(self.transcript.messages());
        self.publish(false);
        self.tell(SessionEvent::Agent(omp_agent::AgentEvent::MessageEnd { message })).await;
    }

    fn set_model(&mut self, model: Arc<Model>) {
        self.control.recorder().model_changed(&model);
        self.control.told.switch_to(&model);
        self.models.current = model;
        self.publish(false);
    }

    fn set_thinking(&mut self, level: ThinkingLevel) {
        self.control.recorder().thinking_changed(level);
        self.models.thinking = level;
        self.publish(false);
    }

    pub(crate) fn publish(&self, running: bool) {
        let recorder = self.control.recorder();
        let (file, plans) = (recorder.path(), recorder.plans());
        drop(recorder);
        self.control.change(|snapshot| {
            snapshot.file = file;
            snapshot.plans = plans;
            snapshot.model = self.models.current.clone();
            snapshot.thinking = self.models.thinking;
            snapshot.running = running;
            snapshot.answered &= running;
            snapshot.message_count = self.transcript.len();
        });
    }
}

/// Restores the state of each tool from its last successful call in the conversation.
fn restore<'a, M>(tools: &[Arc<dyn AnyTool>], messages: M)
where
    M: IntoIterator<Item = &'a Message, IntoIter: DoubleEndedIterator + Clone>,
{
    let messages = messages.into_iter();
    for tool in tools {
        let name = tool.name();
        let last = messages.clone().rev().find_map(|message| match message {
            Message::ToolResult(result) if result.tool_name == name && !result.is_error => result.details.as_ref(),
            _ => None,
        });
        if let Some(details) = last {
            tool.restore(details);
        }
    }
}
