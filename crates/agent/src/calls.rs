//! Runs the calls of one answer: shared ones concurrently, exclusive ones alone, with results in call order.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use omp_types::{AssistantMessage, Content, Message, StopReason, ToolCall, ToolResultMessage, now_ms, text_of};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::event::{AgentEvent, ToolOutcome};
use crate::plan::{AnyPlan, CheckedCall};
use crate::progress::{Board, Progress};
use crate::run::{LoopConfig, Port, Stop};
use crate::tool::{Concurrency, ToolCx, ToolError, ToolOutput};

const ABORTED: &str = "Aborted by the user.";
const ABORTED_MIDWAY: &str = "Aborted by the user; the output above is what there was until then.";

/// Whether the result of a call says that the user aborted it. A tool that keeps its own partial result has `aborted` in its
/// details.
pub fn was_aborted(result: &ToolResultMessage) -> bool {
    let text = text_of(&result.content);
    let by_loop = result.is_error && (text.ends_with(ABORTED) || text.ends_with(ABORTED_MIDWAY));
    by_loop || result.details.as_ref().is_some_and(|details| details["aborted"] == true)
}
const SKIPPED: &str = "Skipped: the user sent a new message before this call began.";

/// The outcome of the calls.
pub(crate) struct CallResults {
    /// One result message per call, in call order, as far as they were sent to the port.
    pub results: Vec<Arc<Message>>,
    /// Set if a tool ends the run.
    pub fatal: Option<String>,
    /// Set if the port ended the run.
    pub stop: Option<Stop>,
}

pub(crate) async fn run_calls<P: Port>(
    config: &LoopConfig,
    answer: &AssistantMessage,
    calls: &[ToolCall],
    port: &mut P,
) -> CallResults {
    let mut ledger = CallLedger { calls, outputs: vec![None; calls.len()], results: Vec::new(), fatal: None };
    let mut stop = None;
    for batch in batches(config, calls) {
        if let Err(reason) = run_batch(config, answer, batch, &mut ledger, port).await {
            stop = Some(reason);
            break;
        }
    }
    CallResults { results: ledger.results, fatal: ledger.fatal, stop }
}

/// Collects outputs as they arrive and turns them into messages in call order.
struct CallLedger<'a> {
    calls: &'a [ToolCall],
    outputs: Vec<Option<ToolOutput>>,
    results: Vec<Arc<Message>>,
    fatal: Option<String>,
}

impl CallLedger<'_> {
    /// Records one output and sends the port every result that is now next in order.
    async fn settle<P: Port>(&mut self, index: usize, output: ToolOutput, port: &mut P) -> Result<(), Stop> {
        self.outputs[index] = Some(output);
        while let Some(output) = self.outputs.get_mut(self.results.len()).and_then(Option::take) {
            let message = Arc::new(result_message(&self.calls[self.results.len()], output));
            self.results.push(message.clone());
            port.emit(AgentEvent::MessageStart { message: message.clone() }).await?;
            port.emit(AgentEvent::MessageEnd { message }).await?;
        }
        Ok(())
    }
}

fn result_message(call: &ToolCall, output: ToolOutput) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: output.content,
        details: output.details,
        is_error: output.is_error,
        useless: output.useless && !output.is_error,
        timestamp: now_ms(),
    })
}

/// Groups neighbouring shared calls; exclusive calls are alone.
fn batches(config: &LoopConfig, calls: &[ToolCall]) -> Vec<std::ops::Range<usize>> {
    let exclusive = |call: &ToolCall| {
        config.tools.find(&call.name).is_some_and(|(tool, _)| tool.concurrency() == Concurrency::Exclusive)
    };
    let mut batches: Vec<std::ops::Range<usize>> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        match batches.last_mut() {
            Some(last) if !exclusive(call) && !exclusive(&calls[last.start]) => last.end = index + 1,
            _ => batches.push(index..index + 1),
        }
    }
    batches
}

async fn run_batch<P: Port>(
    config: &LoopConfig,
    answer: &AssistantMessage,
    batch: std::ops::Range<usize>,
    ledger: &mut CallLedger<'_>,
    port: &mut P,
) -> Result<(), Stop> {
    let board = Arc::new(Board::default());
    let mut running = FuturesUnordered::new();
    let mut started: Vec<Started> = Vec::new();
    for index in batch {
        let call = &ledger.calls[index];
        let arguments = Arc::new(Value::Object(call.arguments.clone()));
        port.emit(AgentEvent::ToolStart {
            call_id: call.id.clone(),
            name: call.name.clone(),
            arguments: arguments.clone(),
        })
        .await?;
        let progress = Progress::new(board.clone(), started.len());
        let mut call = Started { index, arguments, done: false, partial: None };
        match begin(config, answer, &ledger.calls[index], progress, port).await {
            Ok((arguments, future)) => {
                call.arguments = arguments;
                let slot = started.len();
                started.push(call);
                running.push(async move { (slot, future.await) });
            }
            Err(reply) => {
                finish(&mut call, ToolOutput::error(reply), ledger, port).await?;
                started.push(call);
            }
        }
    }
    while !running.is_empty() {
        tokio::select! {
            biased;
            Some((slot, ended)) = running.next() => {
                let output = match ended {
                    CallEnd::ByItself(result) => settle_error(result, &mut ledger.fatal),
                    CallEnd::CutOff => cut_off(board.take_one(slot).or_else(|| started[slot].partial.take())),
                };
                finish(&mut started[slot], output, ledger, port).await?;
            }
            updates = board.take() => {
                for (slot, partial) in updates {
                    update(&mut started[slot], partial, ledger, port).await?;
                }
            }
        }
    }
    Ok(())
}

struct Started {
    index: usize,
    arguments: Arc<Value>,
    done: bool,
    /// The newest output that was sent to the port.
    partial: Option<ToolOutput>,
}

/// How a call ended.
enum CallEnd {
    ByItself(Result<ToolOutput, ToolError>),
    /// Aborted, without delivering a result in time.
    CutOff,
}

type CallFuture<'c> = BoxFuture<'c, CallEnd>;

/// The result of a call that was cut off: its newest partial output, with a note that it is incomplete.
fn cut_off(partial: Option<ToolOutput>) -> ToolOutput {
    let mut output = partial.unwrap_or_default();
    output.is_error = true;
    match output.content.last_mut() {
        Some(Content::Text(last)) if !last.text.trim().is_empty() => {
            last.text = format!("{}\n\n{ABORTED_MIDWAY}", last.text.trim_end());
        }
        Some(Content::Image(_)) => output.content.push(Content::text(ABORTED_MIDWAY)),
        _ => output.content = vec![Content::text(ABORTED)],
    }
    output
}

/// Performs all checks that can refuse a call; returns the call ready to be polled.
async fn begin<'c, P: Port>(
    config: &'c LoopConfig,
    answer: &AssistantMessage,
    call: &ToolCall,
    progress: Progress,
    port: &mut P,
) -> Result<(Arc<Value>, CallFuture<'c>), String> {
    if config.cancel.is_cancelled() {
        return Err(ABORTED.to_owned());
    }
    if config.queues.interrupts() {
        return Err(SKIPPED.to_owned());
    }
    let (tool, schema) = config.tools.find(&call.name).ok_or_else(|| unknown_tool(config, &call.name))?;
    if let Some(raw) = &call.invalid_arguments {
        return Err(invalid_json(&call.name, raw, answer.stop_reason));
    }
    let meant = port.meant(call).unwrap_or_else(|| call.clone());
    let checked = CheckedCall::new(meant, &**tool, schema).map_err(|invalid| invalid.to_string())?;
    let planned = tokio::select! {
        biased;
        () = config.cancel.cancelled() => Err(ABORTED.to_owned()),
        planned = AssertUnwindSafe(port.before_call(checked)).catch_unwind() => {
            planned.unwrap_or_else(|panic| Err(bug(&call.name, &*panic)))
        }
    };
    let (call_id, arguments, plan) = planned?.into_parts();
    let cancel = config.cancel.child_token();
    let cx = ToolCx { call_id, cancel, progress, questions: config.questions.clone() };
    let run = guarded(tool.name().into_owned(), plan, cx);
    Ok((arguments, until_aborted(run, config.cancel.clone(), tool.abort_grace())))
}

/// The call, dropped `grace` after an abort.
fn until_aborted<'c>(
    run: BoxFuture<'c, Result<ToolOutput, ToolError>>,
    cancel: CancellationToken,
    grace: Duration,
) -> CallFuture<'c> {
    async move {
        let aborted = async {
            cancel.cancelled().await;
            if !grace.is_zero() {
                tokio::time::sleep(grace).await;
            }
        };
        tokio::select! {
            biased;
            () = aborted => CallEnd::CutOff,
            result = run => CallEnd::ByItself(result),
        }
    }
    .boxed()
}

fn unknown_tool(config: &LoopConfig, name: &str) -> String {
    let known = config.tools.names().collect::<Vec<_>>().join(", ");
    if known.is_empty() {
        return format!("There is no tool `{name}`; no tools are available in this session.");
    }
    format!("There is no tool `{name}`. Available tools: {known}.")
}

fn invalid_json(name: &str, raw: &str, stop_reason: StopReason) -> String {
    let why = match serde_json::from_str::<serde_json::Map<String, Value>>(raw) {
        _ if stop_reason == StopReason::Length => "they were cut off by the output limit".to_owned(),
        Err(error) if error.is_eof() => "they end too early".to_owned(),
        Err(error) => error.to_string(),
        Ok(_) => "they are malformed".to_owned(),
    };
    format!(
        "The arguments of `{name}` are not one complete JSON object: {why}. Nothing was run. \
         Send the call again with complete arguments; split large content over several calls."
    )
}

/// The call, with a panic turned into an error reply.
fn guarded<'c>(tool: String, plan: Box<dyn AnyPlan + 'c>, cx: ToolCx) -> BoxFuture<'c, Result<ToolOutput, ToolError>> {
    async move {
        // A tool may panic before it returns its future.
        match AssertUnwindSafe(async { plan.run(cx).await }).catch_unwind().await {
            Ok(result) => result,
            Err(panic) => Err(ToolError::Reply(bug(&tool, &*panic))),
        }
    }
    .boxed()
}

fn bug(tool: &str, panic: &(dyn Any + Send)) -> String {
    format!("`{tool}` failed inside omp: {}. This is a bug in omp, not in the call.", panic_text(panic))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown panic")
}

fn settle_error(result: Result<ToolOutput, ToolError>, fatal: &mut Option<String>) -> ToolOutput {
    match result {
        Ok(output) => output,
        Err(ToolError::Reply(text)) => ToolOutput::error(text),
        Err(ToolError::Fatal(text)) => {
            fatal.get_or_insert_with(|| text.clone());
            ToolOutput::error(text)
        }
    }
}

async fn update<P: Port>(
    call: &mut Started,
    partial: ToolOutput,
    ledger: &CallLedger<'_>,
    port: &mut P,
) -> Result<(), Stop> {
    if call.done {
        return Ok(());
    }
    call.partial = Some(partial.clone());
    let ToolCall { id, name, .. } = &ledger.calls[call.index];
    let arguments = call.arguments.clone();
    port.emit(AgentEvent::ToolUpdate { call_id: id.clone(), name: name.clone(), arguments, partial }).await
}

async fn finish<P: Port>(
    call: &mut Started,
    output: ToolOutput,
    ledger: &mut CallLedger<'_>,
    port: &mut P,
) -> Result<(), Stop> {
    call.done = true;
    let ToolCall { id, name, .. } = &ledger.calls[call.index];
    let mut outcome =
        ToolOutcome { call_id: id.clone(), name: name.clone(), arguments: call.arguments.clone(), output };
    port.after_call(&mut outcome).await;
    let output = outcome.output.clone();
    port.emit(AgentEvent::ToolEnd(outcome)).await?;
    ledger.settle(call.index, output, port).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_before_an_abort_stays() {
        let text = |text: &str| ToolOutput { content: vec![Content::text(text)], ..ToolOutput::default() };
        for (partial, expect) in [
            (None, ABORTED.to_owned()),
            (Some(text("")), ABORTED.to_owned()),
            (Some(text("one\ntwo\n")), format!("one\ntwo\n\n{ABORTED_MIDWAY}")),
        ] {
            let output = cut_off(partial);
            assert_eq!((output.content[0].as_text(), output.content.len()), (Some(expect.as_str()), 1));
            assert!(output.is_error);
        }
    }

    #[test]
    fn an_error_is_never_useless() {
        for (is_error, useless, expect) in [(false, true, true), (true, true, false), (false, false, false)] {
            let output = ToolOutput { is_error, useless, ..ToolOutput::default() };
            let Message::ToolResult(result) = result_message(&ToolCall::default(), output) else { panic!("a result") };
            assert_eq!(result.useless, expect, "{is_error} {useless}");
        }
    }
}
