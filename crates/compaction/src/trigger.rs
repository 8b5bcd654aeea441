//! Decides when the context counts as full.

use std::sync::Arc;

use omp_types::{AssistantMessage, CustomMessage, Message, estimate_message_tokens, estimate_tokens};

use crate::settings::CompactionLimits;

/// Type of the summary message.
pub(crate) const SUMMARY: &str = "compactionSummary";

/// Returns the number of tokens at which a conversation is compacted; `None` if the context window is unknown.
pub(crate) fn threshold(context_window: u64, limits: &CompactionLimits) -> Option<u64> {
    let most = context_window.checked_sub(1).filter(|most| *most > 0)?;
    if limits.threshold_tokens > 0.0 {
        return Some((limits.threshold_tokens as u64).clamp(1, most));
    }
    if limits.threshold_percent > 0.0 {
        let share = limits.threshold_percent.clamp(1.0, 99.0) / 100.0;
        return Some((context_window as f64 * share) as u64);
    }
    let share = (context_window as f64 * 0.15) as u64;
    let reserve = share.max(limits.reserve_tokens);
    // A reserve meant for large windows must not use up a small one.
    let reserve = if reserve > context_window / 2 { share } else { reserve };
    Some((context_window - reserve).min(most))
}

/// Size of the next request in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub tokens: u64,
    /// The provider's count, and the estimate for the same messages.
    pub measured: Option<(u64, u64)>,
}

/// Uses the provider's count for the newest answer, plus an estimate of later messages. An answer from before
/// `stale_until_ms` refers to a longer conversation.
pub(crate) fn size(messages: &[Arc<Message>], prefix: impl FnOnce() -> u64, stale_until_ms: u64) -> Size {
    let stale_until = summary_of(messages).map_or(stale_until_ms, |summary| summary.timestamp.max(stale_until_ms));
    let estimate = |messages: &[Arc<Message>]| messages.iter().map(|it| estimate_message_tokens(it)).sum::<u64>();
    let counted = |answer: &AssistantMessage| {
        !answer.failed() && answer.usage.prompt_tokens() > 0 && answer.timestamp > stale_until
    };
    let newest = messages.iter().rposition(|message| message.as_assistant().is_some_and(counted));
    let answer = newest.and_then(|at| Some((at, messages[at].as_assistant()?)));
    let Some((at, answer)) = answer else {
        return Size { tokens: prefix() + estimate(messages), measured: None };
    };
    let estimated = prefix() + estimate(&messages[..=at]);
    // A count far below the estimate is implausible: servers of local models send anything.
    let measured = answer.usage.prompt_tokens().saturating_add(answer.usage.output).max(estimated / 2);
    Size { tokens: measured.saturating_add(estimate(&messages[at + 1..])), measured: Some((measured, estimated)) }
}

/// Returns the summary message, if there is one.
pub(crate) fn summary_of(messages: &[Arc<Message>]) -> Option<&CustomMessage> {
    messages.first().and_then(|message| as_summary(message))
}

pub(crate) fn as_summary(message: &Message) -> Option<&CustomMessage> {
    match message {
        Message::Custom(custom) if custom.custom_type == SUMMARY => Some(custom),
        _ => None,
    }
}

/// Returns the tokens of system prompt and tools.
pub(crate) fn prefix_tokens(system: &str, specs: &[omp_types::ToolSpec]) -> u64 {
    let tools = specs.iter().map(|spec| {
        let schema = serde_json::to_string(&spec.parameters).unwrap_or_default();
        estimate_tokens(&spec.name) + estimate_tokens(&spec.description) + estimate_tokens(&schema)
    });
    estimate_tokens(system) + tools.sum::<u64>()
}

#[cfg(test)]
mod tests {
    use omp_types::{Api, Content, Usage, UserMessage};

    use super::*;

    const DEFAULT: CompactionLimits = CompactionLimits {
        reserve_tokens: 16_384,
        keep_recent_tokens: 20_000,
        threshold_percent: -1.0,
        threshold_tokens: -1.0,
    };

    #[test]
    fn the_threshold_leaves_room_for_an_answer_in_every_window() {
        let check = |window: u64, limits: CompactionLimits, expect: Option<u64>| {
            assert_eq!(threshold(window, &limits), expect, "{window} {limits:?}");
        };
        check(200_000, DEFAULT, Some(170_000));
        check(100_000, DEFAULT, Some(83_616));
        check(8_000, DEFAULT, Some(6_800));
        check(0, DEFAULT, None);
        check(1, DEFAULT, None);
        check(200_000, CompactionLimits { threshold_percent: 50.0, ..DEFAULT }, Some(100_000));
        check(200_000, CompactionLimits { threshold_percent: 1000.0, ..DEFAULT }, Some(198_000));
        check(200_000, CompactionLimits { threshold_tokens: 9.0, threshold_percent: 50.0, ..DEFAULT }, Some(9));
        check(10, CompactionLimits { threshold_tokens: 90.0, ..DEFAULT }, Some(9));
        check(10, CompactionLimits { reserve_tokens: u64::MAX, ..DEFAULT }, Some(9));
    }

    fn said(text: &str) -> Arc<Message> {
        Arc::new(Message::User(UserMessage::text(text)))
    }

    fn answer(prompt: u64, timestamp: u64) -> Arc<Message> {
        let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
        answer.usage = Usage { input: prompt, output: 10, ..Usage::default() };
        answer.timestamp = timestamp;
        Arc::new(Message::Assistant(answer))
    }

    fn summary(timestamp: u64) -> Arc<Message> {
        Arc::new(Message::Custom(CustomMessage {
            custom_type: SUMMARY.to_owned(),
            content: vec![Content::text("12345678")],
            display: true,
            details: None,
            timestamp,
        }))
    }

    #[test]
    fn what_the_provider_counted_goes_before_an_estimate_unless_it_is_of_a_longer_conversation() {
        let check = |messages: &[Arc<Message>], stale: u64, expect: u64| {
            assert_eq!(size(messages, || 100, stale).tokens, expect);
        };
        check(&[], 0, 100);
        check(&[said("12345678")], 0, 107);
        check(&[said("x"), answer(5_000, 7)], 0, 5_010);
        check(&[said("x"), answer(5_000, 7), said("12345678")], 0, 5_017);
        check(&[said("12345678"), answer(5_000, 7)], 7, 111);
        check(&[summary(8), answer(5_000, 7)], 0, 111);
        check(&[summary(6), answer(5_000, 7)], 0, 5_010);
    }
}
