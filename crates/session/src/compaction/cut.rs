//! Where a conversation is cut: everything before is summarized, everything from there on is kept as it is.

use std::sync::Arc;

use omp_store::EntryId;
use omp_types::{Message, estimate_message_tokens};

/// A message of the branch and the entry it stands in. The branch since the last compaction, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub id: EntryId,
    pub message: Arc<Message>,
}

/// Never directly before a tool result, so a call and its results stay on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Index of the first entry that stays.
    pub first_kept: usize,
    /// Where the turn began that the cut goes through; its part before the cut is summarized apart.
    pub turn_start: Option<usize>,
}

/// The latest place that leaves at least `keep_recent_tokens` behind it, `None` when nothing would be before it.
pub(crate) fn find_cut(entries: &[Entry], keep_recent_tokens: u64) -> Option<Cut> {
    let mut kept = 0;
    let enough = entries.iter().rposition(|entry| {
        kept += estimate_message_tokens(&entry.message);
        kept >= keep_recent_tokens
    })?;
    let first_kept = (0..=enough).rev().find(|at| can_be_first(&entries[*at].message))?;
    if first_kept == 0 {
        return None;
    }
    let split = !starts_turn(&entries[first_kept].message);
    let turn_start = if split { (0..first_kept).rev().find(|at| starts_turn(&entries[*at].message)) } else { None };
    Some(Cut { first_kept, turn_start })
}

/// Estimates are off by a factor that differs from model to model; what the provider measured corrects the wish.
pub(crate) fn adapted_keep_recent(keep_recent_tokens: u64, measured: Option<u64>, estimated: u64) -> u64 {
    let Some(measured) = measured.filter(|measured| *measured > 0 && estimated > 0) else { return keep_recent_tokens };
    if measured <= estimated {
        return keep_recent_tokens;
    }
    (u128::from(keep_recent_tokens) * u128::from(estimated) / u128::from(measured)) as u64
}

fn can_be_first(message: &Message) -> bool {
    !matches!(message, Message::ToolResult(_))
}

fn starts_turn(message: &Message) -> bool {
    match message {
        Message::User(_) | Message::Custom(_) => true,
        Message::Other(other) => other.role == "bashExecution",
        Message::Assistant(_) | Message::ToolResult(_) => false,
    }
}
