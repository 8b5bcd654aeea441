//! Events that are reported in one line beside the answer.

use omp_compaction::CompactionReason;
use omp_session::SessionEvent;

/// `None` for events that are shown in another way or not at all.
pub(super) fn remark(event: &SessionEvent) -> Option<String> {
    match event {
        SessionEvent::RulesFired(fired) => Some(fired.line()),
        // The reply to `/compact` reports a compaction that the user asked for.
        SessionEvent::CompactionStart { reason: CompactionReason::Manual, .. }
        | SessionEvent::CompactionEnd { reason: CompactionReason::Manual, .. } => None,
        SessionEvent::CompactionStart { reason, .. } => {
            Some(format!("compacting the conversation ({})", reason.as_str()))
        }
        SessionEvent::CompactionEnd { error, .. } => error.clone(),
        SessionEvent::Quarantined(told) => Some(told.to_string()),
        SessionEvent::JobEnded(ended) => Some(ended.to_string()),
        SessionEvent::Notice { text, .. } => Some(format!("warning: {text}")),
        SessionEvent::Spent(spent) => spent.unexpected_break().map(|broken| format!("warning: {broken}")),
        _ => None,
    }
}
