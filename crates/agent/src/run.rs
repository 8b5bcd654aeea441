//! The loop: turns until the model is done, with steering messages in between and follow-ups at the end.
//!
//! Success, error and abort take one path: in every case the transcript stays valid, every message that started has ended,
//! and the last event is `AgentEnd`.

use std::sync::Arc;

use futures_util::StreamExt;
use omp_types::{
    AssistantMessage, CacheRetention, Llm, Message, Model, ModelError, Request, StopReason, Terms, ThinkingLevel,
    ToolCall, ToolResultMessage, Transcript,
};
use tokio_util::sync::CancellationToken;

use crate::calls::run_calls;
use crate::event::{AgentEvent, ToolOutcome};
use crate::plan::{CheckedCall, PlannedCall};
use crate::queue::Queues;
use crate::tool::{Questions, ToolSet};

/// The configuration of a run. Cheap to clone.
#[derive(Clone)]
pub struct LoopConfig {
    pub llm: Arc<dyn Llm>,
    pub model: Arc<Model>,
    pub system: Arc<str>,
    pub tools: ToolSet,
    pub thinking: ThinkingLevel,
    pub session_id: Option<String>,
    pub cache: CacheRetention,
    /// A forced tool applies to the first answer of the run only.
    pub terms: Terms,
    /// Maximum answers of a run.
    pub max_turns: u32,
    pub queues: Queues,
    pub cancel: CancellationToken,
    /// `None` if no user can be asked.
    pub questions: Option<Arc<dyn Questions>>,
}

/// The interface to the code above the loop: it receives every event and decides about every call.
pub trait Port: Send {
    /// Called in order; the loop continues when it returns, so an event is saved before anything later happens.
    fn emit(&mut self, event: AgentEvent) -> impl Future<Output = Result<(), Stop>> + Send;

    /// The call to run, if that differs from what the model wrote; events still show the original.
    fn meant(&mut self, _call: &ToolCall) -> Option<ToolCall> {
        None
    }

    /// Returns the plan of a call that may run; it runs exactly as planned. An error is the text that the model gets
    /// instead.
    fn before_call<'t>(
        &mut self,
        call: CheckedCall<'t>,
    ) -> impl Future<Output = Result<PlannedCall<'t>, String>> + Send;

    /// May change the result of a call before the model sees it and the file records it.
    fn after_call(&mut self, outcome: &mut ToolOutcome) -> impl Future<Output = ()> + Send;

    /// An answer and its results were added to the transcript, which may be changed here. If its end is removed, one
    /// message has to replace it.
    fn after_turn(&mut self, _transcript: &mut Transcript) -> Result<(), Stop> {
        Ok(())
    }

    /// Called before every request, whose content may be changed here; `Some` ends the run instead.
    fn before_request(
        &mut self,
        _transcript: &mut Transcript,
    ) -> impl Future<Output = Result<Option<RunEnd>, Stop>> + Send {
        async { Ok(None) }
    }

    /// Called after every piece of an answer; `true` cuts the answer off.
    fn cuts(&mut self, _partial: &AssistantMessage) -> bool {
        false
    }

    /// The answer was cut off; the partial answer is at the end of the transcript, from which it may be removed. The
    /// returned message is sent to the model, and the run continues.
    fn after_cut(
        &mut self,
        _transcript: &mut Transcript,
    ) -> impl Future<Output = Result<Vec<Arc<Message>>, Stop>> + Send {
        async { Ok(Vec::new()) }
    }

    /// Queued messages are about to be delivered: returns those that are, with any additional ones.
    fn before_hearing(&mut self, waited: Vec<Arc<Message>>) -> impl Future<Output = Vec<Arc<Message>>> + Send {
        async { waited }
    }

    /// The model has finished. If a message is returned, it is sent to the model, and the run continues.
    fn before_finish(&mut self) -> impl Future<Output = Option<Arc<Message>>> + Send {
        async { None }
    }
}

/// Why the port cannot continue, such as a full disk. Ends the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Stop(pub String);

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    Finished,
    /// The model's last answer failed; the transcript still contains it.
    Failed(ModelError),
    Aborted,
    TurnLimit,
    /// A budget is used up; the text says which, and how much was used.
    OverBudget(String),
    /// A hook ended the run; the text says why.
    Stopped(String),
    /// A tool or the port cannot continue.
    Fatal(String),
}

impl RunEnd {
    /// Why the run did not end well. `None` if it finished or the user aborted it.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Finished | Self::Aborted => None,
            Self::Failed(error) => Some(&error.message),
            Self::TurnLimit => Some("the turn limit is reached before the work was done"),
            Self::OverBudget(reason) | Self::Stopped(reason) | Self::Fatal(reason) => Some(reason),
        }
    }
}

/// Runs until the model makes no more calls and no messages are queued.
///
/// Without `prompts` the model continues from the current transcript, which is how a failed turn is retried.
pub async fn run<P: Port>(
    config: &LoopConfig,
    transcript: &mut Transcript,
    prompts: Vec<Arc<Message>>,
    port: &mut P,
) -> RunEnd {
    let mut start = transcript.len();
    let end = match turns(config, transcript, &mut start, prompts, port).await {
        Ok(end) => end,
        Err(Stop(reason)) => RunEnd::Fatal(reason),
    };
    let messages = transcript.messages().get(start..).unwrap_or_default().to_vec();
    match port.emit(AgentEvent::AgentEnd { messages }).await {
        Ok(()) => end,
        Err(Stop(reason)) => RunEnd::Fatal(reason),
    }
}

async fn turns<P: Port>(
    config: &LoopConfig,
    transcript: &mut Transcript,
    start: &mut usize,
    mut inputs: Vec<Arc<Message>>,
    port: &mut P,
) -> Result<RunEnd, Stop> {
    port.emit(AgentEvent::AgentStart).await?;
    for number in 0..config.max_turns {
        port.emit(AgentEvent::TurnStart).await?;
        for input in inputs.drain(..) {
            port.emit(AgentEvent::MessageStart { message: input.clone() }).await?;
            transcript.push_input(input.clone());
            port.emit(AgentEvent::MessageEnd { message: input }).await?;
        }
        if let Some(end) = port.before_request(transcript).await? {
            return Ok(end);
        }
        *start = (*start).min(transcript.len());
        let terms = Terms { tool: config.terms.tool.clone().filter(|_| number == 0), ..config.terms.clone() };
        let turn = turn(config, terms, transcript, port).await?;
        // The port may have gone back to before this run; its last message is new in any case.
        *start = (*start).min(transcript.len().saturating_sub(1));
        if let Some(end) = turn.end {
            return Ok(end);
        }
        inputs = turn.said;
        inputs.extend(heard(port, config.queues.take_steering()).await);
        if inputs.is_empty() && !turn.called_tools {
            inputs = next_heard(port, || config.queues.take_follow_up()).await;
            if inputs.is_empty() {
                inputs.extend(port.before_finish().await);
            }
            if inputs.is_empty() {
                return Ok(RunEnd::Finished);
            }
        }
    }
    Ok(RunEnd::TurnLimit)
}

async fn heard<P: Port>(port: &mut P, waited: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    if waited.is_empty() { waited } else { port.before_hearing(waited).await }
}

/// If all taken messages are refused, the next ones are tried.
async fn next_heard<P: Port>(port: &mut P, mut take: impl FnMut() -> Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    loop {
        let waited = take();
        if waited.is_empty() {
            return waited;
        }
        let said = port.before_hearing(waited).await;
        if !said.is_empty() {
            return said;
        }
    }
}

#[derive(Default)]
struct TurnResult {
    called_tools: bool,
    /// The next messages for the model.
    said: Vec<Arc<Message>>,
    /// Set when the run is over.
    end: Option<RunEnd>,
}

/// One answer and the calls it made.
async fn turn<P: Port>(
    config: &LoopConfig,
    terms: Terms,
    transcript: &mut Transcript,
    port: &mut P,
) -> Result<TurnResult, Stop> {
    let ModelAnswer { answer, cut } = ask(config, terms, transcript, port).await?;
    let message = Arc::new(Message::Assistant(answer.clone()));
    if cut {
        transcript.push_reply(answer, Vec::new());
        port.emit(AgentEvent::TurnEnd { message, tool_results: Vec::new() }).await?;
        return Ok(TurnResult { said: port.after_cut(transcript).await?, ..TurnResult::default() });
    }
    if answer.failed() {
        let end = match &answer.error {
            _ if answer.stop_reason == StopReason::Aborted => RunEnd::Aborted,
            Some(error) => RunEnd::Failed(error.clone()),
            None => RunEnd::Fatal(answer.error_message.clone().unwrap_or_default()),
        };
        transcript.push_reply(answer, Vec::new());
        port.emit(AgentEvent::TurnEnd { message, tool_results: Vec::new() }).await?;
        return Ok(TurnResult { end: Some(end), ..TurnResult::default() });
    }
    let calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
    let ran = run_calls(config, &answer, &calls, port).await;
    transcript.push_reply(answer, ran.results.iter().filter_map(as_result).collect());
    if let Some(stop) = ran.stop {
        return Err(stop);
    }
    port.emit(AgentEvent::TurnEnd { message, tool_results: ran.results }).await?;
    port.after_turn(transcript)?;
    let end = match ran.fatal {
        Some(reason) => Some(RunEnd::Fatal(reason)),
        None => config.cancel.is_cancelled().then_some(RunEnd::Aborted),
    };
    Ok(TurnResult { called_tools: !calls.is_empty(), end, ..TurnResult::default() })
}

fn as_result(message: &Arc<Message>) -> Option<ToolResultMessage> {
    match &**message {
        Message::ToolResult(result) => Some(result.clone()),
        _ => None,
    }
}

struct ModelAnswer {
    answer: AssistantMessage,
    /// Whether the port cut it off.
    cut: bool,
}

/// Streams one answer and forwards every event.
async fn ask<P: Port>(
    config: &LoopConfig,
    terms: Terms,
    transcript: &Transcript,
    port: &mut P,
) -> Result<ModelAnswer, Stop> {
    let mut stream = config.llm.stream(Request {
        model: config.model.clone(),
        system: config.system.clone(),
        tools: config.tools.specs().clone(),
        messages: transcript.for_model(),
        thinking: config.thinking,
        max_tokens: None,
        session_id: config.session_id.clone(),
        cache: config.cache,
        terms,
    });
    let mut announced = false;
    let mut cut = false;
    let aborted = loop {
        let event = tokio::select! {
            biased;
            () = config.cancel.cancelled() => break true,
            event = stream.next() => event,
        };
        let Some(event) = event else { break false };
        if event.is_terminal() {
            break false;
        }
        if matches!(event, omp_types::StreamEvent::Start) {
            continue;
        }
        if !announced {
            announced = true;
            port.emit(AgentEvent::MessageStart { message: Arc::new(Message::Assistant(stream.message().clone())) })
                .await?;
        }
        port.emit(AgentEvent::MessageUpdate { event }).await?;
        if port.cuts(stream.message()) {
            cut = true;
            break true;
        }
    };
    let mut answer = stream.message().clone();
    drop(stream);
    if aborted {
        answer.stop_reason = StopReason::Aborted;
        answer.error_message = Some("Request was aborted".to_owned());
    }
    let message = Arc::new(Message::Assistant(answer.clone()));
    if !announced {
        port.emit(AgentEvent::MessageStart { message: message.clone() }).await?;
    }
    port.emit(AgentEvent::MessageEnd { message }).await?;
    Ok(ModelAnswer { answer, cut })
}
