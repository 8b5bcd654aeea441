//! The end of a prompt: every run ends in exactly one terminal `AgentEnd`, whatever happened.

use std::any::Any;

use omp_agent::{AgentEvent, RunEnd};

use crate::actor::Actor;
use crate::event::SessionEvent;

impl Actor {
    /// Sends the terminal end for a run that has not sent it: one whose announced retry did not happen (the wait was
    /// cancelled, the compaction failed), or one that panicked. It is sent as a run of its own, so that each `AgentStart`
    /// has its `AgentEnd`.
    pub(crate) async fn end_run(&self) {
        let told = self.control.outlet.run_told();
        if told.over {
            return;
        }
        if !told.open {
            self.tell(SessionEvent::Agent(AgentEvent::AgentStart)).await;
        }
        self.control.set_messages(self.transcript.messages());
        self.tell_end(Vec::new(), true).await;
    }
}

/// A panic ends the prompt, not the session.
pub(crate) fn after_panic(panic: &(dyn Any + Send)) -> RunEnd {
    let what = panic.downcast_ref::<&str>().copied();
    let what = what.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown panic");
    RunEnd::Fatal(format!(
        "internal error: {what}\nhint: this is a bug in omp; the session is saved, so you can continue"
    ))
}

/// The event that reports the result of the retries.
pub(crate) fn of_retries(end: &RunEnd, attempt: u32, given_up: bool) -> SessionEvent {
    let final_error = match end {
        // Clients match this exact text.
        _ if given_up => Some("Retry cancelled".to_owned()),
        RunEnd::Failed(error) => Some(error.message.clone()),
        _ => None,
    };
    SessionEvent::RetryEnd { success: *end == RunEnd::Finished, attempt, final_error }
}
