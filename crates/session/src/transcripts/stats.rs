//! Session statistics for RPC and `/session`.

use std::path::PathBuf;

use omp_types::{Message, Tally, Usage};
use serde::Serialize;

use crate::spending::Account;

/// Serialized in the format of RPC clients.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStats {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<PathBuf>,
    pub session_id: String,
    pub user_messages: usize,
    pub assistant_messages: usize,
    pub tool_calls: usize,
    pub tool_results: usize,
    pub total_messages: usize,
    pub tokens: TokenStats,
    #[serde(serialize_with = "whole_or_fraction")]
    pub cost: f64,
    pub premium_requests: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<ContextUsage>,
    /// Usage by model; not part of the protocol.
    #[serde(skip)]
    pub models: Vec<omp_types::ModelTally>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenStats {
    pub input: u64,
    pub output: u64,
    /// Always 0: providers count it as output.
    pub reasoning: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub total: u64,
}

/// How full the model's window is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsage {
    /// Tokens of the newest answered request.
    pub tokens: u64,
    pub context_window: u64,
    #[serde(serialize_with = "whole_or_fraction")]
    pub percent: f64,
}

/// Counts a conversation. `context_window` is that of the model that would answer next, 0 if unknown.
pub fn stats<'a>(
    session_id: &str,
    messages: impl IntoIterator<Item = &'a Message>,
    context_window: u64,
) -> SessionStats {
    let mut tally = Tally::default();
    let mut newest = None;
    for message in messages {
        tally.add(message);
        if let Some(answer) = message.as_assistant().filter(|answer| answer.usage.prompt_tokens() > 0) {
            newest = Some(answer.usage);
        }
    }
    SessionStats {
        session_file: None,
        session_id: session_id.to_owned(),
        user_messages: tally.user_messages,
        assistant_messages: tally.assistant_messages,
        tool_calls: tally.tool_calls,
        tool_results: tally.tool_results,
        total_messages: tally.total_messages,
        tokens: tokens(tally.usage),
        cost: tally.usage.cost.total,
        premium_requests: 0,
        context_usage: newest.and_then(|usage| context_usage(usage, context_window)),
        models: tally.models,
    }
}

impl SessionStats {
    /// Includes all spending, also outside the conversation: titles, side questions, summaries, abandoned branches.
    pub fn with_spending(self, account: &Account) -> Self {
        Self {
            tokens: tokens(account.session),
            cost: account.session.cost.total,
            models: account.models.clone(),
            ..self
        }
    }
}

fn tokens(usage: Usage) -> TokenStats {
    TokenStats {
        input: usage.input,
        output: usage.output,
        reasoning: 0,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        total: usage.total_tokens,
    }
}

fn context_usage(newest: Usage, context_window: u64) -> Option<ContextUsage> {
    let tokens = newest.prompt_tokens();
    let percent = tokens as f64 / context_window as f64 * 100.0;
    (context_window > 0).then_some(ContextUsage { tokens, context_window, percent })
}

/// Serializes `0` and not `0.0`, because a client may compare the text.
fn whole_or_fraction<S: serde::Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

#[cfg(test)]
mod tests {
    use omp_types::{Api, AssistantMessage, Content, ToolCall, ToolResultMessage, UserMessage};

    use super::*;

    #[test]
    fn a_conversation_in_the_shape_of_the_protocol() {
        let call = ToolCall { id: "1".into(), ..ToolCall::default() };
        let mut first = AssistantMessage::empty(Api::Demo, "p", "m");
        first.content = vec![Content::ToolCall(call.clone()), Content::ToolCall(call.clone())];
        first.usage = Usage { input: 100, output: 20, total_tokens: 120, ..Usage::default() };
        let second = AssistantMessage { content: vec![Content::text("It has three lines.")], ..first.clone() };
        let result = Message::ToolResult(ToolResultMessage::error(&call, "no"));
        let messages = [
            Message::User(UserMessage::text("hi")),
            Message::Assistant(first),
            result.clone(),
            result,
            Message::Assistant(second),
        ];
        let counted = stats("01a1e0cb", &messages, 200_000);
        assert_eq!(counted.models[0].answers, 2);
        insta::assert_snapshot!(serde_json::to_string(&counted).unwrap(), @r#"{"sessionId":"01a1e0cb","userMessages":1,"assistantMessages":2,"toolCalls":2,"toolResults":2,"totalMessages":5,"tokens":{"input":200,"output":40,"reasoning":0,"cacheRead":0,"cacheWrite":0,"total":240},"cost":0,"premiumRequests":0,"contextUsage":{"tokens":100,"contextWindow":200000,"percent":0.05}}"#);
    }

    #[test]
    fn nothing_said_is_no_context() {
        let counted = stats("x", [], 200_000);
        assert_eq!((counted.total_messages, counted.context_usage), (0, None));
        let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
        answer.usage.input = 5;
        assert_eq!(stats("x", [&Message::Assistant(answer)], 0).context_usage, None);
    }
}
