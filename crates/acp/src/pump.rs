//! Converts the events of a session to updates, in order, and reports the end of a prompt after all its updates.

use std::sync::Arc;

use omp_compaction::{Compacted, CompactionReason};
use omp_session::{AgentEvent, RunEnd, SessionEvent, ToldRetries};
use omp_types::{Content, Message, StopReason, StreamEvent};
use tokio::sync::mpsc;

use crate::asking;
use crate::calls::Calls;
use crate::live::{Ended, Live};
use crate::protocol::{Cost, NoticeSeverity, SessionUpdate};

/// Runs until the session is closed.
pub async fn run(live: Arc<Live>, mut events: mpsc::Receiver<SessionEvent>, calls: Calls) {
    let mut pump = Pump { live, calls, retries: ToldRetries::default(), cut_off: false };
    loop {
        let due = pump.calls.due();
        let closed = pump.live.closed.clone();
        tokio::select! {
            biased;
            () = closed.cancelled() => break,
            event = events.recv() => match event {
                Some(event) => pump.event(event).await,
                None => break,
            },
            () = until(due) => {
                let updates = pump.calls.flush();
                pump.send(updates).await;
            }
        }
    }
}

async fn until(due: Option<tokio::time::Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

struct Pump {
    live: Arc<Live>,
    calls: Calls,
    retries: ToldRetries,
    /// Whether the last answer was cut off.
    cut_off: bool,
}

impl Pump {
    async fn event(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Agent(event) => self.agent(event).await,
            SessionEvent::AgentEnd { .. } => {
                let updates = self.calls.give_up();
                self.send(updates).await;
            }
            SessionEvent::RetryStart { attempt, max_attempts, delay, reason } => {
                let seconds = delay.as_secs_f64();
                let reason = self.retries.news(&reason).map(|reason| format!("{reason}; ")).unwrap_or_default();
                let text = format!("{reason}trying again in {seconds:.0} s ({attempt} of {max_attempts})");
                self.live.updates.notice(NoticeSeverity::Warning, &text).await;
            }
            SessionEvent::Question(question) => {
                tokio::spawn(asking::ask(
                    self.live.clone(),
                    question.id,
                    asking::request(&self.live, &self.calls, question.kind),
                ));
            }
            SessionEvent::CommandsChanged => self.live.tell_commands().await,
            SessionEvent::Renamed { title } => {
                self.live.updates.send(SessionUpdate::SessionInfoUpdate { title }).await;
            }
            SessionEvent::JobEnded(ended) => {
                self.live.updates.notice(NoticeSeverity::Info, &ended.to_string()).await;
            }
            SessionEvent::Notice { text, .. } => self.live.updates.notice(NoticeSeverity::Warning, &text).await,
            SessionEvent::CompactionEnd { reason, result, error, .. } => {
                self.compacted(reason, result.as_deref(), error.as_deref()).await;
            }
            SessionEvent::Quarantined(told) => {
                self.live.updates.notice(NoticeSeverity::Warning, &told.to_string()).await;
            }
            SessionEvent::RulesFired(fired) => {
                self.live.updates.notice(NoticeSeverity::Warning, &fired.line()).await;
                if fired.interrupts {
                    let updates = self.calls.give_up();
                    self.send(updates).await;
                }
            }
            SessionEvent::Spent(spent) => {
                if let Some(broken) = spent.unexpected_break() {
                    self.live.updates.notice(NoticeSeverity::Warning, &broken.to_string()).await;
                }
            }
            SessionEvent::Idle { end, .. } => self.idle(end).await,
            SessionEvent::RetryEnd { .. } => self.retries.over(),
            SessionEvent::Reminded(_)
            | SessionEvent::Refused(_)
            | SessionEvent::CompactionStart { .. }
            | SessionEvent::Dismissed { .. }
            | SessionEvent::Queued { .. }
            | SessionEvent::Moved => {}
        }
    }

    /// The result of a requested compaction is reported by its command.
    async fn compacted(&self, reason: CompactionReason, result: Option<&Compacted>, error: Option<&str>) {
        if reason == CompactionReason::Manual {
            return;
        }
        if let Some(error) = error {
            return self.live.updates.notice(NoticeSeverity::Warning, error).await;
        }
        if let Some(result) = result {
            let (before, after) = (result.tokens_before, result.survived.tokens_after);
            let text = format!("The conversation was compacted: about {before} tokens before, {after} after");
            self.live.updates.notice(NoticeSeverity::Info, &text).await;
        }
    }

    async fn idle(&mut self, end: RunEnd) {
        self.live.tell_plan().await;
        // The protocol's stop reasons cannot name the budget or the hook.
        if let RunEnd::OverBudget(reason) | RunEnd::Stopped(reason) = &end {
            self.live.updates.notice(NoticeSeverity::Warning, reason).await;
        }
        self.live.ended(Ended { end, cut_off: std::mem::take(&mut self.cut_off) });
    }

    async fn agent(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::MessageUpdate { event } => self.streamed(event).await,
            AgentEvent::MessageEnd { message } => self.message(&message).await,
            AgentEvent::ToolStart { call_id, name, arguments } => {
                let updates = self.calls.start(&call_id, &name, &arguments).await;
                self.send(updates).await;
            }
            AgentEvent::ToolUpdate { call_id, partial, .. } => {
                let update = self.calls.progress(&call_id, partial);
                self.send(update).await;
            }
            AgentEvent::ToolEnd(outcome) => {
                let update = self.calls.end(&outcome);
                self.send(update).await;
                self.live.tell_plan().await;
            }
            AgentEvent::AgentStart
            | AgentEvent::AgentEnd { .. }
            | AgentEvent::TurnStart
            | AgentEvent::TurnEnd { .. }
            | AgentEvent::MessageStart { .. } => {}
        }
    }

    async fn streamed(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::TextDelta { delta, .. } => self.live.updates.message(delta).await,
            StreamEvent::ThinkingDelta { delta, .. } => self.live.updates.thought(delta).await,
            StreamEvent::ToolCallStart { content_index, name } => {
                let update = self.calls.begin(content_index, &name);
                self.live.updates.send(update).await;
            }
            StreamEvent::ToolCallDelta { content_index, delta } => {
                let update = self.calls.arrive(content_index, &delta);
                self.send(update).await;
            }
            StreamEvent::ToolCallEnd { content_index, tool_call: Content::ToolCall(call) } => {
                let update = self.calls.arrived(content_index, &call);
                self.live.updates.send(update).await;
            }
            _ => {}
        }
    }

    async fn message(&mut self, message: &Message) {
        let Some(answer) = message.as_assistant() else { return };
        self.cut_off = answer.stop_reason == StopReason::Length;
        if answer.usage.total_tokens == 0 {
            return;
        }
        let snapshot = self.live.session.snapshot();
        let amount = Some(snapshot.usage.cost.total).filter(|amount| *amount > 0.0);
        let cost = amount.map(|amount| Cost { amount, currency: "USD".to_owned() });
        let (used, size) = (answer.usage.total_tokens, snapshot.model.context_window);
        self.live.updates.send(SessionUpdate::UsageUpdate { used, size, cost }).await;
    }

    async fn send(&self, updates: impl IntoIterator<Item = SessionUpdate>) {
        for update in updates {
            self.live.updates.send(update).await;
        }
    }
}
