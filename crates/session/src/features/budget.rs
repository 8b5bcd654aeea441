//! Estimates every request and counts the usage of every answer; exceeding a limit ends the run.

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{AgentEvent, RunEnd};
use omp_types::{Message, Transcript};

use super::{SessionCx, SessionFeature};
use crate::event::SessionEvent;
use crate::spending::RequestParts;

/// Applies the session's limits.
pub(super) struct Budget;

impl SessionFeature for Budget {
    fn begin_prompt<'a>(&'a self, cx: &'a SessionCx, _said: &'a [Arc<Message>]) -> BoxFuture<'a, ()> {
        async { cx.control.spending().begin_turn() }.boxed()
    }

    fn weigh_request(&self, cx: &SessionCx, parts: &RequestParts, transcript: &Transcript) -> Option<RunEnd> {
        let weighed = cx.control.spending().before(parts, transcript, Instant::now());
        cx.control.tell_spending();
        weighed.err().map(RunEnd::OverBudget)
    }

    fn after_event(&self, cx: &SessionCx, event: &AgentEvent) -> Option<SessionEvent> {
        let AgentEvent::MessageEnd { message } = event else { return None };
        let spent = cx.control.spending().answered(message.as_assistant()?);
        cx.control.tell_spending();
        spent.map(|spent| SessionEvent::Spent(Box::new(spent)))
    }
}
