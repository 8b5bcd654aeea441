//! Between the loop and the world: saves first, tells second, and asks before a call runs.

use std::sync::Arc;
use std::time::Instant;

use omp_agent::{AgentEvent, AnyTool, Decision, Port, RunEnd, Stop, ToolOutcome};
use omp_types::{AssistantMessage, Message, ToolCall, Transcript};
use serde_json::Value;

use crate::access::Loans;
use crate::approvals;
use crate::control::Control;
use crate::event::SessionEvent;
use crate::exploration::Exploration;
use crate::hooks::HookTurn;
use crate::maintenance::Watch;
use crate::quarantine::Quarantine;
use crate::recorder::RecorderError;
use crate::reminder::{Reminder, Said};
use crate::secrets;
use crate::spending::{Asked, Spent};
use crate::stripped;
use crate::ttsr::Ttsr;

pub(crate) struct SessionPort<'a> {
    pub control: &'a Control,
    /// What the requests of the run consist of besides the conversation.
    pub asked: Asked,
    pub exploration: &'a mut Exploration,
    pub quarantine: &'a mut Quarantine,
    pub ttsr: &'a mut Ttsr,
    /// Whether somebody is there to answer.
    pub attended: bool,
    pub reminders: &'a [Arc<dyn Reminder>],
    pub hook_turn: &'a mut HookTurn,
    pub loans: Loans,
    /// Keeps what is sent within the model's window.
    pub watch: Watch<'a>,
    /// Reminders that stand behind the results of the turn.
    pub said: Vec<Arc<Message>>,
    /// The loop's end, held back until the session knows whether a retry follows.
    pub ended: Option<Vec<Arc<Message>>>,
}

impl SessionPort<'_> {
    /// Whatever a reader may take for done is in the file before the reader hears of it.
    fn save(&mut self, event: &AgentEvent) -> Result<(), Stop> {
        let saved = match event {
            AgentEvent::MessageEnd { message } => {
                self.control.add_message(message.clone());
                self.record(message)
            }
            AgentEvent::ToolStart { call_id, name, arguments } => {
                self.control.recorder().tool_started(call_id, name, arguments)
            }
            _ => Ok(()),
        };
        saved.map_err(|error| Stop(error.to_string()))
    }

    fn record(&mut self, message: &Arc<Message>) -> Result<(), RecorderError> {
        let typed = self.control.standing().prepared.delivered(message);
        let mut recorder = self.control.recorder();
        if self.ttsr.cuts() {
            self.ttsr.drafted(recorder.before_draft()?);
        }
        if let Some(typed) = typed {
            recorder.note(typed)?;
        }
        recorder.message(message)?;
        match self.ttsr.delivered(message) {
            Some(names) => recorder.rules_injected(names),
            None => Ok(()),
        }
    }

    /// What an answer took that has just ended.
    fn spent(&self, event: &AgentEvent) -> Option<Spent> {
        let AgentEvent::MessageEnd { message } = event else { return None };
        let spent = self.control.spending().answered(message.as_assistant()?);
        self.control.tell_spending();
        spent
    }

    /// An answer shows that the request was taken: what was left out of it stays out.
    async fn keep_quarantine(&mut self, event: &AgentEvent) -> Result<(), Stop> {
        let AgentEvent::MessageEnd { message } = event else { return Ok(()) };
        if message.as_assistant().is_none_or(AssistantMessage::failed) {
            return Ok(());
        }
        self.control.standing().force(None);
        if let Some((told, entry)) = self.quarantine.confirm() {
            self.control.recorder().note(entry).map_err(|error| Stop(error.to_string()))?;
            self.control.outlet.send(SessionEvent::Quarantined(told)).await;
        }
        Ok(())
    }
}

impl Port for SessionPort<'_> {
    async fn emit(&mut self, mut event: AgentEvent) -> Result<(), Stop> {
        if let AgentEvent::ToolUpdate { partial, .. } = &mut event {
            stripped::strip(partial);
        }
        self.keep_quarantine(&event).await?;
        self.ttsr.hear(&event);
        for fired in self.ttsr.take_news() {
            self.control.outlet.send(SessionEvent::RulesFired(fired)).await;
        }
        let saved = self.save(&event);
        if let AgentEvent::AgentEnd { messages } = event {
            self.ended = Some(messages);
            return saved;
        }
        if saved.is_ok() {
            let spent = self.spent(&event);
            self.control.outlet.send(SessionEvent::Agent(event)).await;
            if let Some(spent) = spent {
                self.control.outlet.send(SessionEvent::Spent(Box::new(spent))).await;
            }
        }
        saved
    }

    async fn before_call(&mut self, call: &ToolCall, tool: &dyn AnyTool) -> Decision {
        if let Some(reason) = self.exploration.refusal(&call.name) {
            approvals::refused(self.control, call, "exploration");
            return Decision::Refuse(reason.to_owned());
        }
        let (amended, permission) = match self.hook_turn.before_call(self.control, call, tool).await {
            Ok(heard) => heard,
            Err(refusal) => return Decision::Refuse(refusal),
        };
        // Whatever runs is what is judged.
        let call = amended.as_ref().unwrap_or(call);
        let refusal = self.control.standing().prepared.refusal(call);
        if let Some(reason) = refusal {
            approvals::refused(self.control, call, "the command that is carried out");
            return Decision::Refuse(reason);
        }
        let decision =
            approvals::decide(self.control, self.attended, call, tool, permission.as_ref(), &mut self.loans).await;
        if !matches!(decision, Decision::Refuse(_)) {
            let approval = tool.approval(&Value::Object(call.arguments.clone()));
            self.control.files_before_call(&call.id, &call.name, &approval).await;
        }
        match (decision, &amended) {
            (Decision::Run, amended) => {
                self.hook_turn.runs(call);
                let arguments = amended.as_ref().map(|call| Value::Object(call.arguments.clone()));
                arguments.map_or(Decision::Run, Decision::Amend)
            }
            (other, _) => other,
        }
    }

    fn meant(&mut self, call: &ToolCall) -> Option<ToolCall> {
        secrets::meant(&self.control.veil, call)
    }

    async fn after_call(&mut self, outcome: &mut ToolOutcome) {
        self.loans.remove(&outcome.call_id);
        stripped::strip(&mut outcome.output);
        secrets::take_in_outcome(&self.control.veil, outcome);
        self.exploration.note(outcome);
        self.hook_turn.after_call(self.control, self.watch.cancel, outcome).await;
        // What hooks made of the call's files, such as a formatter, is the call's as well.
        self.control.files_after_call(&outcome.call_id).await;
        if let Some(names) = self.ttsr.remind(outcome) {
            // What cannot be written now cannot be written with the result either, which then ends the run.
            drop(self.control.recorder().rules_injected(names));
        }
        let said = self.reminders.iter().filter_map(|reminder| reminder.after_call(outcome));
        self.said.extend(said.map(Said::into_message));
    }

    fn after_turn(&mut self, transcript: &mut Transcript) -> Result<(), Stop> {
        let stop = |error: RecorderError| Stop(error.to_string());
        for message in self.said.drain(..) {
            self.control.recorder().message(&message).map_err(stop)?;
            self.control.add_message(message.clone());
            transcript.push_input(message);
        }
        self.exploration.after_turn(transcript, &mut self.control.recorder()).map_err(stop)
    }

    async fn before_request(&mut self, transcript: &mut Transcript) -> Result<Option<RunEnd>, Stop> {
        if let Some(why) = self.hook_turn.take_halt() {
            return Ok(Some(RunEnd::Stopped(format!("a hook has stopped the work: {why}"))));
        }
        if let Some(broken) = self.ttsr.injection(false) {
            self.record(&broken).map_err(|error| Stop(error.to_string()))?;
            self.control.add_message(broken.clone());
            transcript.push_input(broken);
        }
        let looked = self.watch.before_request(self.control, self.quarantine, transcript).await;
        looked.map_err(|error| Stop(error.to_string()))?;
        let weighed = self.control.spending().before(&self.asked, transcript, Instant::now());
        // Only the first answer has to call it.
        self.asked.forced = false;
        self.control.tell_spending();
        Ok(weighed.err().map(RunEnd::OverBudget))
    }

    fn cuts(&mut self, partial: &AssistantMessage) -> bool {
        self.ttsr.look(partial);
        self.ttsr.cuts()
    }

    async fn after_cut(&mut self, transcript: &mut Transcript) -> Result<Vec<Arc<Message>>, Stop> {
        if let Some(before) = self.ttsr.after_cut() {
            let answer = transcript.messages().last().and_then(|last| last.as_assistant());
            self.control.spending().taken_back(answer);
            self.control.tell_spending();
            transcript.pop_failed_reply();
            self.control.recorder().leave_draft(before);
            self.control.set_messages(transcript.messages());
        }
        Ok(self.ttsr.injection(true).into_iter().collect())
    }

    async fn before_hearing(&mut self, waited: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
        match self.hook_turn.said(self.control, self.watch.cancel, waited).await {
            Ok(said) => said,
            Err(text) => {
                self.control.outlet.send(SessionEvent::Notice { source: "hooks", text }).await;
                Vec::new()
            }
        }
    }

    async fn before_finish(&mut self) -> Option<Arc<Message>> {
        if let Some(reminder) = self.exploration.reminder() {
            return Some(reminder);
        }
        if let Some(broken) = self.ttsr.injection(false) {
            return Some(broken);
        }
        let Some(said) = self.reminders.iter().find_map(|reminder| reminder.before_finish()) else {
            return self.hook_turn.before_finish(self.control, self.watch.cancel).await;
        };
        if let Some(event) = &said.event {
            self.control.outlet.offer(SessionEvent::Reminded(event.clone()));
        }
        Some(said.into_message())
    }
}
