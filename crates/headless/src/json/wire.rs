//! Converts session events to frames.

use std::borrow::Cow;

use omp_compaction::{Compacted, CompactionReason};
use omp_session::{AgentEvent, Reminded, SessionEvent, SessionHeader, Spent, ToolOutcome, ToolOutput};
use omp_wire::{CompactionBody, EstimateBody, EventFrame, PrefixBreakBody, SessionHeaderFrame, ToolResultBody};
use serde_json::{Map, Value};

pub fn header(header: &SessionHeader) -> SessionHeaderFrame<'_> {
    SessionHeaderFrame {
        version: header.version,
        id: header.id.as_str().into(),
        timestamp: header.timestamp.as_str().into(),
        cwd: header.cwd.as_str().into(),
    }
}

fn spent(spent: &Spent) -> EventFrame<'_> {
    let Spent { message, turn, session, estimate, expected_cost, cached, break_cause } = spent;
    EventFrame::Spent {
        message: *message,
        turn: *turn,
        session: *session,
        estimate: EstimateBody {
            system: estimate.system,
            tools: estimate.tools,
            user: estimate.user,
            assistant: estimate.assistant,
            tool_results: estimate.tool_results,
            custom: estimate.custom,
            total: estimate.total(),
            cached: estimate.cached,
            cost: *expected_cost,
        },
        cached: *cached,
        break_cause: break_cause.map(|broken| PrefixBreakBody {
            cause: broken.cause.as_str().into(),
            deliberate: broken.cause.is_deliberate(),
            unexpected: broken.cause.is_unexpected(),
            tokens: broken.tokens,
            cost: broken.cost,
        }),
    }
}

fn result(output: &ToolOutput) -> ToolResultBody<'_> {
    let details = output.details.as_ref().map_or_else(|| Cow::Owned(Value::Object(Map::new())), Cow::Borrowed);
    ToolResultBody { content: output.content.as_slice().into(), details }
}

pub fn compaction(compacted: &Compacted) -> CompactionBody<'_> {
    CompactionBody {
        summary: compacted.summary.as_str().into(),
        short_summary: compacted.short_summary.as_deref().map(Cow::Borrowed),
        first_kept_entry_id: compacted.first_kept_entry_id.as_str().into(),
        tokens_before: compacted.tokens_before,
        details: compacted.details.as_ref().map(Cow::Borrowed),
        preserve_data: compacted.preserve_data.as_ref().map(Cow::Borrowed),
    }
}

/// Returns `None` for events without a frame.
pub fn event(event: &SessionEvent) -> Option<EventFrame<'_>> {
    Some(match event {
        SessionEvent::Agent(event) => return agent_event(event),
        SessionEvent::AgentEnd { messages, is_terminal } => {
            EventFrame::AgentEnd { messages: Cow::Borrowed(messages), is_terminal: *is_terminal }
        }
        SessionEvent::RetryStart { attempt, max_attempts, delay, reason } => EventFrame::AutoRetryStart {
            attempt: *attempt,
            max_attempts: *max_attempts,
            delay_ms: delay.as_millis() as u64,
            error_message: reason.as_str().into(),
        },
        SessionEvent::RetryEnd { success, attempt, final_error } => EventFrame::AutoRetryEnd {
            success: *success,
            attempt: *attempt,
            final_error: final_error.as_deref().map(Cow::Borrowed),
        },
        SessionEvent::Reminded(Reminded { items, attempt, max_attempts, .. }) => {
            EventFrame::TodoReminder { todos: Cow::Borrowed(items), attempt: *attempt, max_attempts: *max_attempts }
        }
        SessionEvent::JobEnded(ended) => EventFrame::JobEnded {
            job_id: ended.id.as_str().into(),
            status: ended.status.into(),
            command: ended.command.as_str().into(),
            duration_ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
        },
        SessionEvent::RulesFired(fired) => EventFrame::TtsrTriggered { rules: fired.wire_rules() },
        SessionEvent::Quarantined(told) => warning(told.to_string(), "quarantine"),
        SessionEvent::Spent(it) => spent(it),
        SessionEvent::Notice { source, text } => warning(text.as_str(), source),
        // The result of a requested compaction is in the reply to the request.
        SessionEvent::CompactionStart { reason: CompactionReason::Manual, .. }
        | SessionEvent::CompactionEnd { reason: CompactionReason::Manual, .. } => return None,
        SessionEvent::CompactionStart { reason, action } => {
            EventFrame::AutoCompactionStart { reason: reason.as_str().into(), action: action.as_str().into() }
        }
        SessionEvent::CompactionEnd { action, result, aborted, will_retry, error, skipped, .. } => {
            EventFrame::AutoCompactionEnd {
                action: action.as_str().into(),
                result: result.as_deref().map(compaction),
                aborted: *aborted,
                will_retry: *will_retry,
                error_message: error.as_deref().map(Cow::Borrowed),
                skipped: skipped.is_some(),
            }
        }
        // The end of the call reports it.
        SessionEvent::Refused(_) => return None,
        SessionEvent::Question(_)
        | SessionEvent::Dismissed { .. }
        | SessionEvent::Queued { .. }
        | SessionEvent::CommandsChanged
        | SessionEvent::Renamed { .. }
        | SessionEvent::Moved
        | SessionEvent::Idle { .. } => return None,
    })
}

pub fn warning<'a>(message: impl Into<Cow<'a, str>>, source: &'a str) -> EventFrame<'a> {
    EventFrame::Notice { level: "warning".into(), message: message.into(), source: source.into() }
}

fn agent_event(event: &AgentEvent) -> Option<EventFrame<'_>> {
    Some(match event {
        AgentEvent::AgentStart => EventFrame::AgentStart,
        AgentEvent::AgentEnd { .. } => return None,
        AgentEvent::TurnStart => EventFrame::TurnStart,
        AgentEvent::TurnEnd { message, tool_results } => {
            EventFrame::TurnEnd { message: Cow::Borrowed(message), tool_results: Cow::Borrowed(tool_results) }
        }
        AgentEvent::MessageStart { message } => EventFrame::MessageStart { message: Cow::Borrowed(message) },
        AgentEvent::MessageUpdate { event } => {
            EventFrame::MessageUpdate { assistant_message_event: Cow::Borrowed(event) }
        }
        AgentEvent::MessageEnd { message } => EventFrame::MessageEnd { message: Cow::Borrowed(message) },
        AgentEvent::ToolStart { call_id, name, arguments } => EventFrame::ToolExecutionStart {
            tool_call_id: call_id.as_str().into(),
            tool_name: name.as_str().into(),
            args: Cow::Borrowed(arguments),
        },
        AgentEvent::ToolUpdate { call_id, name, arguments, partial } => EventFrame::ToolExecutionUpdate {
            tool_call_id: call_id.as_str().into(),
            tool_name: name.as_str().into(),
            args: Cow::Borrowed(arguments),
            partial_result: result(partial),
        },
        AgentEvent::ToolEnd(ToolOutcome { call_id, name, output, .. }) => EventFrame::ToolExecutionEnd {
            tool_call_id: call_id.as_str().into(),
            tool_name: name.as_str().into(),
            result: result(output),
            is_error: output.is_error,
        },
    })
}
