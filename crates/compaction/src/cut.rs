//! Finds the cut: everything before it is summarized, everything after it is kept.

use std::collections::HashMap;
use std::sync::Arc;

use omp_store::EntryId;
use omp_types::{Message, estimate_message_tokens, estimate_tokens};
use serde_json::Value;

/// A message and its entry. A list of these is the branch since the last compaction, oldest first.
#[derive(Clone, Debug)]
pub struct ConversationEntry {
    pub id: EntryId,
    pub message: Arc<Message>,
    /// The user's original input, if a command expanded it to this message.
    pub typed: Option<String>,
}

/// A cut position. A call and its results are always on the same side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Index of the first entry that is kept.
    pub first_kept: usize,
    /// Start of the turn that is split; its part before the cut is summarized separately.
    pub turn_start: Option<usize>,
}

/// Returns the cut that keeps about `keep_recent_tokens`; `None` if there would be nothing before it.
pub(crate) fn find_cut(entries: &[ConversationEntry], keep_recent_tokens: u64) -> Option<Cut> {
    let mut kept = 0;
    let enough = entries.iter().rposition(|entry| {
        kept += tokens(&entry.message);
        kept >= keep_recent_tokens
    })?;
    let possible = possible_cuts(entries);
    // A later cut keeps less than configured, but otherwise one huge result would be kept forever.
    let later = (enough..entries.len()).find(|at| possible[*at]);
    let first_kept = later.or_else(|| (0..enough).rev().find(|at| possible[*at])).filter(|at| *at > 0)?;
    let turn_start = match starts_turn(&entries[first_kept].message) {
        true => None,
        false => (0..first_kept).rev().find(|at| starts_turn(&entries[*at].message)),
    };
    Some(Cut { first_kept, turn_start })
}

/// Corrects `keep_recent_tokens` by the ratio of measured to estimated tokens, because estimates are off by a model-specific
/// factor.
pub(crate) fn adapted_keep_recent(keep_recent_tokens: u64, measured: Option<u64>, estimated: u64) -> u64 {
    match measured {
        Some(measured) if estimated > 0 && measured > estimated => {
            let adapted = u128::from(keep_recent_tokens) * u128::from(estimated) / u128::from(measured);
            u64::try_from(adapted).unwrap_or(u64::MAX)
        }
        _ => keep_recent_tokens,
    }
}

/// Returns for each entry whether it may be the first kept one: it is not a result, and no call before it waits for a later
/// result.
fn possible_cuts(entries: &[ConversationEntry]) -> Vec<bool> {
    let mut last_result: HashMap<&str, usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if let Message::ToolResult(result) = &*entry.message {
            last_result.insert(&result.tool_call_id, at);
        }
    }
    let mut open_until = 0;
    let mut possible = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        possible.push(at >= open_until && !matches!(*entry.message, Message::ToolResult(_)));
        let calls = entry.message.as_assistant().into_iter().flat_map(|answer| answer.tool_calls());
        for result in calls.filter_map(|call| last_result.get(call.id.as_str())) {
            open_until = open_until.max(result + 1);
        }
    }
    possible
}

/// Messages of other programs are sent as text, which the estimate of a message does not include.
fn tokens(message: &Message) -> u64 {
    let other = match message {
        Message::Other(other) => ["command", "code", "output", "summary"]
            .iter()
            .filter_map(|name| other.value.get(name).and_then(Value::as_str))
            .map(estimate_tokens)
            .sum(),
        _ => 0,
    };
    estimate_message_tokens(message) + other
}

fn starts_turn(message: &Message) -> bool {
    match message {
        Message::User(_) | Message::Custom(_) => true,
        Message::Other(other) => other.role == "bashExecution",
        Message::Assistant(_) | Message::ToolResult(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Line, entries};
    use proptest::prelude::*;

    /// One letter per message of 100 tokens: `u`ser, `a`nswer, `c`all, `r`esult, `n`ote of the program, `b`ash of the user.
    #[track_caller]
    fn check(shape: &str, keep: u64, expect: Option<(usize, Option<usize>)>) {
        let cut = find_cut(&entries(&Line::shape(shape)), keep);
        assert_eq!(cut.map(|cut| (cut.first_kept, cut.turn_start)), expect, "{shape} keep {keep}");
    }

    #[test]
    fn the_cut_leaves_what_is_recent_and_never_parts_a_call_from_its_result() {
        check("", 100, None);
        check("ua", 1_000, None);
        check("uaua", 200, Some((2, None)));
        check("uaua", 1, Some((3, Some(2))));
        check("ucrcrcr", 250, Some((5, Some(0))));
        check("ucrcrcr", 350, Some((3, Some(0))));
        check("uaucrrra", 250, Some((7, Some(2))));
        check("uaucrrr", 150, Some((3, Some(2))));
        check("ucr", 50, Some((1, Some(0))));
        check("uanan", 150, Some((3, Some(2))));
        check("uabab", 150, Some((3, Some(2))));
        check("uaua", 400, None);
        check("uaua", 390, None);
    }

    #[test]
    fn a_late_result_keeps_the_cut_away_from_what_stands_before_it() {
        // The note between call and result is not a valid cut.
        check("uacnra", 220, Some((5, Some(3))));
        check("uacnr", 120, Some((2, Some(0))));
    }

    #[test]
    fn measured_usage_corrects_the_wish() {
        for (measured, estimated, expect) in [
            (None, 100, 20_000),
            (Some(0), 100, 20_000),
            (Some(100), 0, 20_000),
            (Some(50), 100, 20_000),
            (Some(200), 100, 10_000),
        ] {
            assert_eq!(adapted_keep_recent(20_000, measured, estimated), expect, "{measured:?} {estimated}");
        }
        assert_eq!(adapted_keep_recent(u64::MAX, Some(u64::MAX), 1), 1);
    }

    proptest! {
        #[test]
        fn no_cut_splits_a_pair(shape in "[uacrnb]{0,60}", keep in 0_u64..7_000) {
            let entries = entries(&Line::shape(&shape));
            let Some(cut) = find_cut(&entries, keep) else { return Ok(()) };
            prop_assert!(cut.first_kept > 0 && cut.first_kept < entries.len());
            prop_assert!(cut.turn_start.is_none_or(|start| start < cut.first_kept));
            let (before, after) = entries.split_at(cut.first_kept);
            let called = |id: &str, side: &[ConversationEntry]| {
                side.iter().filter_map(|it| it.message.as_assistant()).any(|it| it.tool_calls().any(|call| call.id == id))
            };
            prop_assert!(!matches!(*after[0].message, Message::ToolResult(_)));
            for entry in after {
                if let Message::ToolResult(result) = &*entry.message {
                    prop_assert!(!called(&result.tool_call_id, before), "{}", result.tool_call_id);
                }
            }
        }
    }
}
