//! The events of a session in JSON mode and over RPC.

use std::borrow::Cow;
use std::sync::Arc;

use omp_types::{Content, Message, StreamEvent, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first line of JSON mode, and of every session it switches to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session", rename_all = "camelCase")]
pub struct SessionHeaderFrame<'a> {
    pub version: u64,
    pub id: Cow<'a, str>,
    pub timestamp: Cow<'a, str>,
    pub cwd: Cow<'a, str>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum EventFrame<'a> {
    AgentStart,
    AgentEnd {
        messages: Cow<'a, [Arc<Message>]>,
        is_terminal: bool,
    },
    TurnStart,
    TurnEnd {
        message: Cow<'a, Message>,
        tool_results: Cow<'a, [Arc<Message>]>,
    },
    MessageStart {
        message: Cow<'a, Message>,
    },
    MessageUpdate {
        assistant_message_event: Cow<'a, StreamEvent>,
    },
    MessageEnd {
        message: Cow<'a, Message>,
    },
    ToolExecutionStart {
        tool_call_id: Cow<'a, str>,
        tool_name: Cow<'a, str>,
        args: Cow<'a, Value>,
    },
    ToolExecutionUpdate {
        tool_call_id: Cow<'a, str>,
        tool_name: Cow<'a, str>,
        args: Cow<'a, Value>,
        partial_result: ToolResultBody<'a>,
    },
    ToolExecutionEnd {
        tool_call_id: Cow<'a, str>,
        tool_name: Cow<'a, str>,
        result: ToolResultBody<'a>,
        is_error: bool,
    },
    AutoRetryStart {
        attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error_message: Cow<'a, str>,
    },
    AutoRetryEnd {
        success: bool,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        final_error: Option<Cow<'a, str>>,
    },
    AutoCompactionStart {
        reason: Cow<'a, str>,
        action: Cow<'a, str>,
    },
    AutoCompactionEnd {
        action: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<CompactionBody<'a>>,
        aborted: bool,
        will_retry: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_message: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        skipped: bool,
    },
    /// A notice for the user.
    Notice {
        level: Cow<'a, str>,
        message: Cow<'a, str>,
        source: Cow<'a, str>,
    },
    /// omp only: a background job has ended.
    JobEnded {
        job_id: Cow<'a, str>,
        status: Cow<'a, str>,
        command: Cow<'a, str>,
        duration_ms: u64,
    },
    /// The model broke rules.
    TtsrTriggered {
        rules: Value,
    },
    TodoReminder {
        todos: Cow<'a, Value>,
        attempt: u32,
        max_attempts: u32,
    },
    /// omp only: the usage of an answer, the estimate for it, and why a cached prefix was lost.
    Spent {
        message: Usage,
        turn: Usage,
        session: Usage,
        estimate: EstimateBody,
        cached: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        break_cause: Option<PrefixBreakBody<'a>>,
    },
    /// omp only: the reply of a slash command.
    CommandReply {
        text: Cow<'a, str>,
    },
    /// omp only: why the run failed, as the last line.
    Error {
        message: Cow<'a, str>,
    },
}

/// Prompt tokens by part; `cached` is the part expected to come from the provider's cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EstimateBody {
    pub system: u64,
    pub tools: u64,
    pub user: u64,
    pub assistant: u64,
    pub tool_results: u64,
    pub custom: u64,
    pub total: u64,
    pub cached: u64,
    pub cost: f64,
}

/// Why a cached prefix was lost, and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrefixBreakBody<'a> {
    pub cause: Cow<'a, str>,
    pub deliberate: bool,
    pub unexpected: bool,
    pub tokens: u64,
    pub cost: f64,
}

/// The result of a call. `details` is an object, empty if the tool has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResultBody<'a> {
    pub content: Cow<'a, [Content]>,
    pub details: Cow<'a, Value>,
}

/// The result of a compaction; also the reply to `compact`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionBody<'a> {
    pub summary: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_summary: Option<Cow<'a, str>>,
    pub first_kept_entry_id: Cow<'a, str>,
    pub tokens_before: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Cow<'a, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserve_data: Option<Cow<'a, Value>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks that a client can read a frame and would write the same.
    #[track_caller]
    fn check(frame: &EventFrame<'_>, expect: &str) {
        let written = serde_json::to_string(frame).unwrap();
        assert_eq!(written, expect);
        let read: EventFrame<'static> = serde_json::from_str(&written).unwrap();
        assert_eq!((&read, serde_json::to_string(&read).unwrap()), (frame, written));
    }

    #[test]
    fn every_kind_of_field_is_read_as_it_was_written() {
        let message: Message = serde_json::from_value(
            json!({"role": "user", "content": [{"type": "text", "text": "hi"}], "timestamp": 7}),
        )
        .unwrap();
        check(&EventFrame::AgentStart, r#"{"type":"agent_start"}"#);
        check(
            &EventFrame::AgentEnd { messages: vec![Arc::new(message)].into(), is_terminal: true },
            r#"{"type":"agent_end","messages":[{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":7}],"isTerminal":true}"#,
        );
        check(
            &EventFrame::MessageUpdate {
                assistant_message_event: Cow::Owned(StreamEvent::TextDelta { content_index: 0, delta: "h".into() }),
            },
            r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"h"}}"#,
        );
        let result = ToolResultBody { content: vec![Content::text("3 lines")].into(), details: Cow::Owned(json!({})) };
        check(
            &EventFrame::ToolExecutionEnd {
                tool_call_id: "c1".into(),
                tool_name: "read".into(),
                result,
                is_error: false,
            },
            r#"{"type":"tool_execution_end","toolCallId":"c1","toolName":"read","result":{"content":[{"type":"text","text":"3 lines"}],"details":{}},"isError":false}"#,
        );
        check(
            &EventFrame::AutoRetryEnd { success: true, attempt: 2, final_error: None },
            r#"{"type":"auto_retry_end","success":true,"attempt":2}"#,
        );
        let result = CompactionBody {
            summary: "so far".into(),
            short_summary: None,
            first_kept_entry_id: "0a".into(),
            tokens_before: 9,
            details: None,
            preserve_data: None,
        };
        check(
            &EventFrame::AutoCompactionEnd {
                action: "context-full".into(),
                result: Some(result),
                aborted: false,
                will_retry: false,
                error_message: None,
                skipped: false,
            },
            r#"{"type":"auto_compaction_end","action":"context-full","result":{"summary":"so far","firstKeptEntryId":"0a","tokensBefore":9},"aborted":false,"willRetry":false}"#,
        );
    }

    #[test]
    fn the_header_is_told_by_its_type() {
        let header = SessionHeaderFrame { version: 3, id: "x".into(), timestamp: "now".into(), cwd: "/project".into() };
        let written = serde_json::to_string(&header).unwrap();
        assert_eq!(written, r#"{"type":"session","version":3,"id":"x","timestamp":"now","cwd":"/project"}"#);
        assert_eq!(serde_json::from_str::<SessionHeaderFrame<'_>>(&written).unwrap(), header);
    }
}
