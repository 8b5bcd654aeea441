//! The frames as they stand on the wire, written apart from the inner types so that those may change.

use std::sync::Arc;

use omp_session::{
    AgentEvent, Compacted, CompactionReason, Reminded, SessionEvent, SessionHeader, Spent, ToolOutcome, ToolOutput,
};
use omp_types::{Content, Message, StreamEvent, Usage};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Header<'a> {
    r#type: &'a str,
    version: u64,
    id: &'a str,
    timestamp: &'a str,
    cwd: &'a str,
}

impl<'a> From<&'a SessionHeader> for Header<'a> {
    fn from(header: &'a SessionHeader) -> Self {
        Self {
            r#type: "session",
            version: header.version,
            id: &header.id,
            timestamp: &header.timestamp,
            cwd: &header.cwd,
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Frame<'a> {
    AgentStart,
    AgentEnd {
        messages: &'a [Arc<Message>],
        is_terminal: bool,
    },
    TurnStart,
    TurnEnd {
        message: &'a Message,
        tool_results: &'a [Arc<Message>],
    },
    MessageStart {
        message: &'a Message,
    },
    MessageUpdate {
        assistant_message_event: &'a StreamEvent,
    },
    MessageEnd {
        message: &'a Message,
    },
    ToolExecutionStart {
        tool_call_id: &'a str,
        tool_name: &'a str,
        args: &'a Value,
    },
    ToolExecutionUpdate {
        tool_call_id: &'a str,
        tool_name: &'a str,
        args: &'a Value,
        partial_result: ResultBody<'a>,
    },
    ToolExecutionEnd {
        tool_call_id: &'a str,
        tool_name: &'a str,
        result: ResultBody<'a>,
        is_error: bool,
    },
    AutoRetryStart {
        attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error_message: &'a str,
    },
    AutoRetryEnd {
        success: bool,
        attempt: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        final_error: Option<&'a str>,
    },
    AutoCompactionStart {
        reason: &'a str,
        action: &'a str,
    },
    AutoCompactionEnd {
        action: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a Compacted>,
        aborted: bool,
        will_retry: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error_message: Option<&'a str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        skipped: bool,
    },
    /// Something the user should know.
    Notice {
        level: &'a str,
        message: String,
        source: &'a str,
    },
    /// Ours: a background job has ended.
    JobEnded {
        job_id: &'a str,
        status: &'a str,
        command: &'a str,
        duration_ms: u64,
    },
    /// The model broke rules.
    TtsrTriggered {
        rules: Value,
    },
    TodoReminder {
        todos: &'a Value,
        attempt: u32,
        max_attempts: u32,
    },
    /// Ours: what an answer took, what it was expected to, and why a cached prefix was lost.
    Spent {
        message: &'a Usage,
        turn: &'a Usage,
        session: &'a Usage,
        estimate: EstimateBody,
        cached: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        break_cause: Option<BreakBody>,
    },
    /// Ours: what a slash command has answered.
    CommandReply {
        text: &'a str,
    },
    /// Ours: why the run did not go well, as the last line.
    Error {
        message: &'a str,
    },
}

/// Prompt tokens by part; `cached` is what should come from the provider's cache.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EstimateBody {
    system: u64,
    tools: u64,
    user: u64,
    assistant: u64,
    tool_results: u64,
    custom: u64,
    total: u64,
    cached: u64,
    cost: f64,
}

#[derive(Serialize)]
pub struct BreakBody {
    cause: &'static str,
    deliberate: bool,
    unexpected: bool,
    tokens: u64,
    cost: f64,
}

impl<'a> From<&'a Spent> for Frame<'a> {
    fn from(spent: &'a Spent) -> Self {
        let Spent { message, turn, session, estimate, expected_cost, cached, break_cause } = spent;
        Frame::Spent {
            message,
            turn,
            session,
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
            break_cause: break_cause.map(|broken| BreakBody {
                cause: broken.cause.as_str(),
                deliberate: broken.cause.is_deliberate(),
                unexpected: broken.cause.is_unexpected(),
                tokens: broken.tokens,
                cost: broken.cost,
            }),
        }
    }
}

#[derive(Serialize)]
pub struct ResultBody<'a> {
    content: &'a [Content],
    details: Details<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Details<'a> {
    Some(&'a Value),
    None(Map<String, Value>),
}

impl<'a> From<&'a ToolOutput> for ResultBody<'a> {
    fn from(output: &'a ToolOutput) -> Self {
        let details = output.details.as_ref().map_or_else(|| Details::None(Map::new()), Details::Some);
        Self { content: &output.content, details }
    }
}

impl<'a> Frame<'a> {
    /// `None` for events that have no frame of their own.
    pub fn from_event(event: &'a SessionEvent) -> Option<Self> {
        Some(match event {
            SessionEvent::Agent(event) => return Self::from_agent(event),
            SessionEvent::AgentEnd { messages, is_terminal } => Frame::AgentEnd { messages, is_terminal: *is_terminal },
            SessionEvent::RetryStart { attempt, max_attempts, delay, reason } => Frame::AutoRetryStart {
                attempt: *attempt,
                max_attempts: *max_attempts,
                delay_ms: delay.as_millis() as u64,
                error_message: reason,
            },
            SessionEvent::RetryEnd { success, attempt, final_error } => {
                Frame::AutoRetryEnd { success: *success, attempt: *attempt, final_error: final_error.as_deref() }
            }
            SessionEvent::Reminded(Reminded { items, attempt, max_attempts, .. }) => {
                Frame::TodoReminder { todos: items, attempt: *attempt, max_attempts: *max_attempts }
            }
            SessionEvent::JobEnded(ended) => Frame::JobEnded {
                job_id: &ended.id,
                status: ended.status,
                command: &ended.command,
                duration_ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
            },
            SessionEvent::RulesFired(fired) => Frame::TtsrTriggered { rules: fired.wire_rules() },
            SessionEvent::Quarantined(told) => {
                Frame::Notice { level: "warning", message: told.to_string(), source: "quarantine" }
            }
            SessionEvent::Spent(spent) => Frame::from(&**spent),
            SessionEvent::Notice { source, text } => Frame::Notice { level: "warning", message: text.clone(), source },
            // What was asked for is told by the answer to it.
            SessionEvent::CompactionStart { reason: CompactionReason::Manual, .. }
            | SessionEvent::CompactionEnd { reason: CompactionReason::Manual, .. } => return None,
            SessionEvent::CompactionStart { reason, action } => {
                Frame::AutoCompactionStart { reason: reason.as_str(), action: action.as_str() }
            }
            SessionEvent::CompactionEnd { action, result, aborted, will_retry, error, skipped, .. } => {
                Frame::AutoCompactionEnd {
                    action: action.as_str(),
                    result: result.as_deref(),
                    aborted: *aborted,
                    will_retry: *will_retry,
                    error_message: error.as_deref(),
                    skipped: skipped.is_some(),
                }
            }
            // The end of the call tells it.
            SessionEvent::Refused(_) => return None,
            SessionEvent::Question(_)
            | SessionEvent::Dismissed { .. }
            | SessionEvent::Queued { .. }
            | SessionEvent::Renamed { .. }
            | SessionEvent::Moved
            | SessionEvent::Idle { .. } => return None,
        })
    }

    fn from_agent(event: &'a AgentEvent) -> Option<Self> {
        Some(match event {
            AgentEvent::AgentStart => Frame::AgentStart,
            AgentEvent::AgentEnd { .. } => return None,
            AgentEvent::TurnStart => Frame::TurnStart,
            AgentEvent::TurnEnd { message, tool_results } => Frame::TurnEnd { message, tool_results },
            AgentEvent::MessageStart { message } => Frame::MessageStart { message },
            AgentEvent::MessageUpdate { event } => Frame::MessageUpdate { assistant_message_event: event },
            AgentEvent::MessageEnd { message } => Frame::MessageEnd { message },
            AgentEvent::ToolStart { call_id, name, arguments } => {
                Frame::ToolExecutionStart { tool_call_id: call_id, tool_name: name, args: arguments }
            }
            AgentEvent::ToolUpdate { call_id, name, arguments, partial } => Frame::ToolExecutionUpdate {
                tool_call_id: call_id,
                tool_name: name,
                args: arguments,
                partial_result: partial.into(),
            },
            AgentEvent::ToolEnd(ToolOutcome { call_id, name, output, .. }) => Frame::ToolExecutionEnd {
                tool_call_id: call_id,
                tool_name: name,
                result: output.into(),
                is_error: output.is_error,
            },
        })
    }
}
