//! Connects the agent loop to the session: saves each event before it is sent, and decides about calls before they run.

use std::sync::Arc;

use omp_agent::{AgentEvent, CheckedCall, PlannedCall, Port, RunEnd, Stop, Tier, ToolOutcome};
use omp_policy::DecidedBy;
use omp_types::{AssistantMessage, Message, ToolCall, Transcript};

use crate::access::Loans;
use crate::approvals::{self, Permission};
use crate::control::Control;
use crate::event::SessionEvent;
use crate::features::FeatureMessage;
use crate::maintenance::Watch;
use crate::recorder::RecorderError;
use crate::secrets;
use crate::spending::RequestParts;
use crate::stripped;

pub(crate) struct SessionPort<'a> {
    pub control: &'a Arc<Control>,
    /// The parts of the run's requests apart from the conversation.
    pub asked: RequestParts,
    pub loans: Loans,
    /// Keeps requests within the model's context window.
    pub watch: Watch<'a>,
    /// Messages of features that come after the results of the turn.
    pub said: Vec<Arc<Message>>,
    /// The loop's end, held back until the session knows whether a retry follows.
    pub ended: Option<Vec<Arc<Message>>>,
}

impl SessionPort<'_> {
    /// Saves an event to the file before any reader gets it.
    fn save(&mut self, event: &AgentEvent) -> Result<(), Stop> {
        let saved = match event {
            AgentEvent::MessageEnd { message } => {
                self.control.add_message(message.clone());
                self.control.record(message)
            }
            AgentEvent::ToolStart { call_id, name, arguments } => {
                self.control.recorder().tool_started(call_id, name, arguments)
            }
            _ => Ok(()),
        };
        saved.map_err(|error| Stop(error.to_string()))
    }

    fn note_files(&self, planned: &PlannedCall<'_>) {
        let (tools, workspace) = (self.control.tools(), self.control.policy().rules.places().workspace.clone());
        self.control.approvals().files.note(planned, &tools, &workspace, &self.control.veil);
    }
}

impl Port for SessionPort<'_> {
    async fn emit(&mut self, mut event: AgentEvent) -> Result<(), Stop> {
        if let AgentEvent::ToolUpdate { partial, .. } = &mut event {
            stripped::strip(partial);
        }
        if is_taken(&event) {
            self.control.standing().force(None);
        }
        for told in self.control.hear_event(&event)? {
            self.control.outlet.send(told).await;
        }
        let saved = self.save(&event);
        if let AgentEvent::AgentEnd { messages } = event {
            self.ended = Some(messages);
            return saved;
        }
        if saved.is_ok() {
            let behind = self.control.after_event(&event);
            self.control.outlet.send(SessionEvent::Agent(event)).await;
            for told in behind {
                self.control.outlet.send(told).await;
            }
        }
        saved
    }

    async fn before_call<'t>(&mut self, mut call: CheckedCall<'t>) -> Result<PlannedCall<'t>, String> {
        let word = self.control.before_call(&mut call).await;
        if let Some(refusal) = word.refusal {
            return Err(refusal);
        }
        let refusal = self.control.standing().prepared.refusal(call.call());
        if let Some(reason) = refusal {
            approvals::refused(self.control, call.call(), &DecidedBy::Command);
            return Err(reason);
        }
        approvals::access_made(self.control).await;
        let planned = call.plan()?;
        let asked = match self.control.attended {
            true => self.control.standing().prepared.question(&planned.approval().effects),
            false => None,
        };
        let permission = Permission { hook: word.permission.as_ref(), asked: asked.as_deref() };
        approvals::decide(self.control, &planned, permission, &mut self.loans).await?;
        self.note_files(&planned);
        let call = planned.call();
        if planned.approval().tier != Tier::Read {
            self.control.before_change(&call.id, &call.name).await;
        }
        self.control.call_runs(call);
        Ok(planned)
    }

    fn meant(&mut self, call: &ToolCall) -> Option<ToolCall> {
        secrets::meant(&self.control.veil, call)
    }

    async fn after_call(&mut self, outcome: &mut ToolOutcome) {
        self.loans.remove(&outcome.call_id);
        stripped::strip(&mut outcome.output);
        let kind = self.control.tools().kind(&outcome.name);
        secrets::take_in_outcome(&self.control.veil, kind, outcome);
        let said = self.control.after_call(outcome).await;
        self.said.extend(said.into_iter().map(FeatureMessage::into_message));
        // Changes that hooks make to the call's files, such as formatting, count as changes of the call.
        self.control.after_change(&outcome.call_id).await;
    }

    fn after_turn(&mut self, transcript: &mut Transcript) -> Result<(), Stop> {
        let stop = |error: RecorderError| Stop(error.to_string());
        for message in self.said.drain(..) {
            self.control.recorder().message(&message).map_err(stop)?;
            self.control.add_message(message.clone());
            transcript.push_input(message);
        }
        self.control.after_turn(transcript)
    }

    async fn before_request(&mut self, transcript: &mut Transcript) -> Result<Option<RunEnd>, Stop> {
        let stop = |error: RecorderError| Stop(error.to_string());
        if let Some(why) = self.control.stops_run() {
            return Ok(Some(RunEnd::Stopped(why)));
        }
        self.control.before_request().map_err(stop)?.into_iter().for_each(|message| transcript.push_input(message));
        self.watch.before_request(self.control, transcript).await.map_err(stop)?;
        let end = self.control.weigh_request(&self.asked, transcript);
        // Only the first answer is forced to call the tool.
        self.asked.forced = false;
        Ok(end)
    }

    fn cuts(&mut self, partial: &AssistantMessage) -> bool {
        self.control.cuts(partial)
    }

    async fn after_cut(&mut self, transcript: &mut Transcript) -> Result<Vec<Arc<Message>>, Stop> {
        Ok(self.control.after_cut(transcript))
    }

    async fn before_hearing(&mut self, waited: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
        match self.control.hear(waited).await {
            Ok(said) => said,
            Err(text) => {
                self.control.outlet.send(SessionEvent::Notice { source: "hooks", text }).await;
                Vec::new()
            }
        }
    }

    async fn before_finish(&mut self) -> Option<Arc<Message>> {
        let said = self.control.before_finish().await?;
        if let Some(event) = &said.event {
            self.control.outlet.offer(SessionEvent::Reminded(event.clone()));
        }
        Some(said.into_message())
    }
}

/// Whether the event is a successful answer, which shows that the provider accepted the request.
fn is_taken(event: &AgentEvent) -> bool {
    let AgentEvent::MessageEnd { message } = event else { return false };
    message.as_assistant().is_some_and(|answer| !answer.failed())
}
