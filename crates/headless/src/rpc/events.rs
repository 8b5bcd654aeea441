//! Sends a session's events to the client.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use omp_session::{AgentEvent, RunEnd, SessionEvent};
use omp_types::{Message, StreamEvent};
use omp_wire::{EventFrame, NewsFrame};
use tokio::sync::mpsc;

use super::current::Current;
use super::dialogs::Dialogs;
use super::frame::{Outcome, response, warning};
use super::output::Output;
use crate::json::wire;

/// Caps the events taken from the session at once.
const BATCH: usize = 256;

/// Sends one session's events until it has ended.
pub struct Teller {
    pub output: Output,
    pub dialogs: Arc<Dialogs>,
    /// A weak reference, so that the session ends when its commands release it.
    pub current: Weak<Current>,
    /// The messages of the run that were sent to the client in full.
    pub told: Vec<Arc<Message>>,
    /// Whether the end of the run was sent to the client.
    pub end_told: bool,
}

impl Teller {
    pub async fn follow(mut self, mut events: mpsc::Receiver<SessionEvent>) {
        let mut batch = Vec::with_capacity(BATCH);
        while events.recv_many(&mut batch, BATCH).await > 0 {
            for event in batch.drain(..) {
                self.tell(event);
            }
        }
        self.dialogs.dismiss_all();
    }

    fn tell(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Agent(event) => self.tell_agent(event),
            SessionEvent::AgentEnd { messages, is_terminal } => self.tell_end(&messages, is_terminal),
            SessionEvent::Question(question) => {
                if let Some(current) = self.current.upgrade() {
                    self.dialogs.put(&question, &current.session);
                }
            }
            SessionEvent::Dismissed { id } => self.dialogs.dismiss(id),
            SessionEvent::CommandsChanged => {
                if let Some(current) = self.current.upgrade() {
                    let commands = current.available_commands().into();
                    self.output.frame(&NewsFrame::AvailableCommandsUpdate { commands });
                }
            }
            SessionEvent::Renamed { title } => {
                if let Some(current) = self.current.upgrade() {
                    let session_id = &current.session.snapshot().session_id;
                    self.output.frame(&NewsFrame::SessionInfoUpdate {
                        title: title.as_str().into(),
                        session_id: session_id.as_str().into(),
                    });
                }
            }
            SessionEvent::Moved => {
                if let Some(current) = self.current.upgrade() {
                    current.activity.reread(&current.session.messages());
                }
            }
            SessionEvent::CompactionEnd { .. } => {
                if let Some(current) = self.current.upgrade() {
                    current.activity.reread(&current.session.messages());
                }
                if let Some(frame) = wire::event(&event) {
                    self.output.frame(&frame);
                }
            }
            // Clients poll the number of queued messages.
            SessionEvent::Queued { .. } => {}
            SessionEvent::Idle { end, undelivered } => self.settle(&end, undelivered.len()),
            SessionEvent::RetryStart { .. }
            | SessionEvent::RetryEnd { .. }
            | SessionEvent::Reminded(_)
            | SessionEvent::RulesFired(_)
            | SessionEvent::Spent(_)
            | SessionEvent::CompactionStart { .. }
            | SessionEvent::Notice { .. }
            | SessionEvent::JobEnded(_)
            | SessionEvent::Refused(_)
            | SessionEvent::Quarantined(_) => {
                if let Some(frame) = wire::event(&event) {
                    self.output.frame(&frame);
                }
            }
        }
    }

    fn tell_agent(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::MessageUpdate {
                event:
                    event @ (StreamEvent::TextDelta { .. }
                    | StreamEvent::ThinkingDelta { .. }
                    | StreamEvent::ToolCallDelta { .. }),
            } => return self.output.piece(event),
            // A shell command of the user is reported in its response.
            AgentEvent::MessageStart { message } | AgentEvent::MessageEnd { message }
                if message.role() == "bashExecution" =>
            {
                return;
            }
            _ => {}
        }
        if let Some(current) = self.current.upgrade() {
            match &event {
                AgentEvent::AgentStart => {
                    self.told.clear();
                    current.activity.begun();
                }
                AgentEvent::MessageEnd { message } => current.activity.heard(message),
                _ => {}
            }
        }
        let event = SessionEvent::Agent(event);
        let Some(frame) = wire::event(&event) else { return };
        if let EventFrame::ToolExecutionUpdate { tool_call_id, .. } = &frame {
            return self.output.partial(tool_call_id, &frame);
        }
        let whole = self.output.frame(&frame);
        if let SessionEvent::Agent(AgentEvent::MessageEnd { message }) = &event
            && whole
        {
            self.told.push(message.clone());
        }
    }

    /// Marks the session as idle before the client can receive the end.
    fn tell_end(&mut self, messages: &[Arc<Message>], is_terminal: bool) {
        if is_terminal && let Some(current) = self.current.upgrade() {
            current.activity.ended();
            self.end_told = true;
        }
        if !self.output.frame_if_short(&EventFrame::AgentEnd { messages: Cow::Borrowed(messages), is_terminal }) {
            let told = self.told.iter().zip(messages).take_while(|(told, message)| told == message).count();
            let messages_left = &messages[told..];
            self.output.frame(&NewsFrame::AgentEnd {
                messages: Cow::Borrowed(messages_left),
                is_terminal,
                message_count: messages.len(),
            });
        }
        self.told.clear();
    }

    fn settle(&mut self, end: &RunEnd, undelivered: usize) {
        self.dialogs.dismiss_all();
        let Some(current) = self.current.upgrade() else { return };
        // A run whose announced retry did not happen has no end event of its own.
        if !std::mem::take(&mut self.end_told) {
            current.activity.ended();
        }
        let (id, command) = current.activity.settled();
        match end {
            RunEnd::Fatal(reason) => {
                let outcome: Outcome = Err(reason.as_str().into());
                self.output.frame(&response(id.as_ref(), command, &outcome));
            }
            // The client has the failed answer itself.
            RunEnd::Failed(_) => {}
            end => end.problem().into_iter().for_each(|problem| self.warn(problem)),
        }
        if undelivered > 0 {
            let (count, they) = match undelivered {
                1 => ("1 queued message was".to_owned(), "it was"),
                many => (format!("{many} queued messages were"), "they were"),
            };
            self.warn(&format!("{count} not delivered: the run {they} meant for has ended"));
        }
    }

    fn warn(&self, message: &str) {
        self.output.frame(&warning(message));
    }
}
