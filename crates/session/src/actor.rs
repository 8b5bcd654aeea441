//! The one task that owns the conversation: takes commands, runs prompts, retries failures.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use omp_agent::{AnyTool, LoopConfig, RunEnd, ToolSet, run};
use omp_types::{
    CacheRetention, Content, Llm, Message, Model, ModelError, ThinkingLevel, Transcript, Usage, UserMessage,
};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::event::{SessionEvent, Snapshot};
use crate::exploration::Exploration;
use crate::history;
use crate::policy::Policy;
use crate::port::SessionPort;
use crate::recorder::Recorder;
use crate::retry::RetryPolicy;
use crate::{Command, Control, SessionOptions};

/// Commands put off until the running prompt is done.
const MAX_POSTPONED: usize = 64;

pub(crate) struct Actor {
    control: Arc<Control>,
    llm: Arc<dyn Llm>,
    models: Models,
    tools: ToolSet,
    system: Arc<str>,
    transcript: Transcript,
    recorder: Recorder,
    exploration: Exploration,
    guard: Guard,
    usage: Usage,
    snapshot: watch::Sender<Arc<Snapshot>>,
}

/// Which model answers, and how.
struct Models {
    current: Arc<Model>,
    thinking: ThinkingLevel,
    cache: CacheRetention,
}

/// What keeps a run within bounds.
struct Guard {
    policy: Policy,
    retry: RetryPolicy,
    max_turns: u32,
    attended: bool,
}

impl Actor {
    pub fn new(options: SessionOptions, control: Arc<Control>) -> Self {
        let transcript = Transcript::repair(history::prepare(options.history));
        restore(&options.tools, &transcript);
        let snapshot = Snapshot {
            session_id: options.recorder.session_id().to_owned(),
            file: options.recorder.path(),
            model: options.model.clone(),
            thinking: options.thinking,
            running: false,
            message_count: transcript.len(),
            queued: 0,
            usage: Usage::default(),
        };
        Self {
            control,
            llm: options.llm,
            models: Models { current: options.model, thinking: options.thinking, cache: options.cache },
            tools: ToolSet::new(options.tools),
            system: options.system,
            transcript,
            recorder: options.recorder,
            exploration: Exploration::default(),
            guard: Guard {
                policy: options.policy,
                retry: options.retry,
                max_turns: options.max_turns,
                attended: options.attended,
            },
            usage: Usage::default(),
            snapshot: watch::Sender::new(Arc::new(snapshot)),
        }
    }

    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.subscribe()
    }

    pub async fn serve(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut postponed = VecDeque::new();
        loop {
            let command = match postponed.pop_front() {
                Some(command) => command,
                None => match commands.recv().await {
                    Some(command) => command,
                    None => break,
                },
            };
            match command {
                Command::Prompt(content) | Command::Steer(content) | Command::FollowUp(content) => {
                    self.prompt(content, &mut commands, &mut postponed).await;
                }
                other => self.apply(other),
            }
        }
    }

    /// Runs one prompt while commands go on being heard.
    async fn prompt(
        &mut self,
        content: Vec<Content>,
        commands: &mut mpsc::Receiver<Command>,
        postponed: &mut VecDeque<Command>,
    ) {
        let control = self.control.clone();
        let cancel = CancellationToken::new();
        *control.cancel.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
        self.publish(true);
        let end = {
            let work = Box::pin(self.work(content, cancel));
            tokio::pin!(work);
            let mut open = true;
            loop {
                tokio::select! {
                    biased;
                    end = &mut work => break end,
                    command = commands.recv(), if open && postponed.len() < MAX_POSTPONED => match command {
                        Some(command) => postponed.extend(meanwhile(&control, command)),
                        None => open = false,
                    },
                }
            }
        };
        let mut undelivered = control.queues.clear();
        if end == RunEnd::Finished {
            postponed.extend(undelivered.drain(..).filter_map(as_prompt));
        }
        self.publish(false);
        control.outlet.send(SessionEvent::Idle { end, undelivered }).await;
    }

    /// The prompt itself, with retries.
    async fn work(&mut self, content: Vec<Content>, cancel: CancellationToken) -> RunEnd {
        let mut prompts = vec![Arc::new(Message::User(UserMessage::new(content)))];
        let mut attempt = 0;
        let end = loop {
            let (end, messages) = self.attempt(std::mem::take(&mut prompts), cancel.clone()).await;
            let retry = match &end {
                RunEnd::Failed(error) => self.guard.retry.delay(error, attempt + 1).map(|delay| (error.clone(), delay)),
                _ => None,
            };
            self.tell(SessionEvent::AgentEnd { messages, is_terminal: retry.is_none() }).await;
            let Some((error, delay)) = retry else { break end };
            attempt += 1;
            if self.pause(&error, attempt, delay, &cancel).await.is_err() {
                break RunEnd::Aborted;
            }
            self.transcript.pop_failed_reply();
        };
        if end == RunEnd::Aborted {
            self.exploration.abandon();
        }
        if attempt > 0 {
            let final_error = match &end {
                RunEnd::Failed(error) => Some(error.message.clone()),
                _ => None,
            };
            let success = end == RunEnd::Finished;
            self.tell(SessionEvent::RetryEnd { success, attempt, final_error }).await;
        }
        match self.recorder.sync() {
            Ok(()) => end,
            Err(error) => RunEnd::Fatal(error.to_string()),
        }
    }

    async fn attempt(&mut self, prompts: Vec<Arc<Message>>, cancel: CancellationToken) -> (RunEnd, Vec<Arc<Message>>) {
        let config = LoopConfig {
            llm: self.llm.clone(),
            model: self.models.current.clone(),
            system: self.system.clone(),
            tools: self.tools.clone(),
            thinking: self.models.thinking,
            session_id: Some(self.recorder.session_id().to_owned()),
            cache: self.models.cache,
            max_turns: self.guard.max_turns,
            queues: self.control.queues.clone(),
            cancel,
            questions: self.guard.attended.then(|| self.control.desk.clone() as Arc<dyn omp_agent::Questions>),
        };
        let mut port = SessionPort {
            recorder: &mut self.recorder,
            outlet: &self.control.outlet,
            desk: &self.control.desk,
            policy: &self.guard.policy,
            usage: &mut self.usage,
            exploration: &mut self.exploration,
            attended: self.guard.attended,
            ended: None,
        };
        let end = run(&config, &mut self.transcript, prompts, &mut port).await;
        (end, port.ended.unwrap_or_default())
    }

    /// Waits before a retry; an abort ends the wait.
    async fn pause(
        &self,
        error: &ModelError,
        attempt: u32,
        delay: std::time::Duration,
        cancel: &CancellationToken,
    ) -> Result<(), ()> {
        let max_attempts = self.guard.retry.max_retries;
        self.tell(SessionEvent::RetryStart { attempt, max_attempts, delay, reason: error.message.clone() }).await;
        tokio::select! {
            () = cancel.cancelled() => Err(()),
            () = tokio::time::sleep(delay) => Ok(()),
        }
    }

    async fn tell(&self, event: SessionEvent) {
        self.control.outlet.send(event).await;
    }

    /// Commands that only change state.
    fn apply(&mut self, command: Command) {
        match command {
            Command::SetModel(model) => {
                self.recorder.model_changed(&model);
                self.models.current = model;
            }
            Command::SetThinking(level) => {
                self.recorder.thinking_changed(level);
                self.models.thinking = level;
            }
            other => drop(meanwhile(&self.control, other)),
        }
        self.publish(false);
    }

    fn publish(&self, running: bool) {
        let snapshot = Snapshot {
            session_id: self.recorder.session_id().to_owned(),
            file: self.recorder.path(),
            model: self.models.current.clone(),
            thinking: self.models.thinking,
            running,
            message_count: self.transcript.len(),
            queued: self.control.queues.len(),
            usage: self.usage,
        };
        self.snapshot.send_replace(Arc::new(snapshot));
    }
}

/// Gives each tool back what its last successful call of the conversation has left.
fn restore(tools: &[Arc<dyn AnyTool>], transcript: &Transcript) {
    for tool in tools {
        let name = tool.name();
        let last = transcript.messages().iter().rev().find_map(|message| match &**message {
            Message::ToolResult(result) if result.tool_name == name && !result.is_error => result.details.as_ref(),
            _ => None,
        });
        if let Some(details) = last {
            tool.restore(details);
        }
    }
}

/// A message that came too late for the run it was meant for.
fn as_prompt(message: Arc<Message>) -> Option<Command> {
    match &*message {
        Message::User(user) => Some(Command::Prompt(user.content.clone())),
        _ => None,
    }
}

/// Handles a command while a prompt runs; what must wait for its end is given back.
fn meanwhile(control: &Control, command: Command) -> Option<Command> {
    let message = |content: Vec<Content>| Arc::new(Message::User(UserMessage::new(content)));
    match command {
        Command::Abort => control.cancel.lock().unwrap_or_else(PoisonError::into_inner).cancel(),
        Command::Answer { id, answer } => control.desk.answer(id, answer),
        Command::SetSteeringMode(mode) => control.queues.set_steering_mode(mode),
        Command::SetFollowUpMode(mode) => control.queues.set_follow_up_mode(mode),
        Command::SetInterruptMode(mode) => control.queues.set_interrupt_mode(mode),
        Command::Steer(content) => {
            if !control.queues.steer(message(content.clone())) {
                return Some(Command::Prompt(content));
            }
        }
        Command::FollowUp(content) => {
            if !control.queues.follow_up(message(content.clone())) {
                return Some(Command::Prompt(content));
            }
        }
        later @ (Command::Prompt(_) | Command::SetModel(_) | Command::SetThinking(_)) => return Some(later),
    }
    None
}
