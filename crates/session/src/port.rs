//! Between the loop and the world: saves first, tells second, and asks before a call runs.

use std::sync::Arc;

use omp_agent::{AgentEvent, AnyTool, Decision, Port, RunEnd, Stop, ToolOutcome};
use omp_types::{AssistantMessage, Message, ToolCall, Transcript, Usage};
use serde_json::Value;

use crate::control::Control;
use crate::desk::{Answer, QuestionKind};
use crate::event::SessionEvent;
use crate::exploration::Exploration;
use crate::maintenance::Watch;
use crate::plan;
use crate::policy::Verdict;
use crate::quarantine::Quarantine;
use crate::recorder::RecorderError;
use crate::reminder::{Reminder, Said};

pub(crate) struct SessionPort<'a> {
    pub control: &'a Control,
    pub usage: &'a mut Usage,
    pub exploration: &'a mut Exploration,
    pub quarantine: &'a mut Quarantine,
    /// Whether somebody is there to answer.
    pub attended: bool,
    pub reminders: &'a [Arc<dyn Reminder>],
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
                if let Message::Assistant(answer) = &**message {
                    *self.usage += answer.usage;
                }
                self.control.add_message(message.clone());
                self.control.recorder().message(message)
            }
            AgentEvent::ToolStart { call_id, name, arguments } => {
                self.control.recorder().tool_started(call_id, name, arguments)
            }
            _ => Ok(()),
        };
        saved.map_err(|error| Stop(error.to_string()))
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

    async fn ask(&self, call: &ToolCall, reason: Option<String>) -> Decision {
        if !self.attended {
            return Decision::Refuse(format!(
                "`{}` was not run: it needs the user's approval (tools.approvalMode is `{}`) and nobody can be asked in \
                 this mode. Do not try to get the same effect in another way; say what you would have done.",
                call.name,
                self.control.policy().mode.as_str()
            ));
        }
        let arguments = Arc::new(Value::Object(call.arguments.clone()));
        let kind = QuestionKind::Approve { call_id: call.id.clone(), tool: call.name.clone(), arguments, reason };
        match self.control.desk.put(kind).await {
            Some(Answer::Yes) => Decision::Run,
            Some(Answer::Text(text)) => Decision::Refuse(format!("The user refused this call and said: {text}")),
            Some(Answer::Choices(choices)) => {
                Decision::Refuse(format!("The user refused this call and said: {}", choices.join(", ")))
            }
            Some(Answer::No) | None => Decision::Refuse("The user refused this call.".to_owned()),
        }
    }
}

impl Port for SessionPort<'_> {
    async fn emit(&mut self, event: AgentEvent) -> Result<(), Stop> {
        self.keep_quarantine(&event).await?;
        let saved = self.save(&event);
        if let AgentEvent::AgentEnd { messages } = event {
            self.ended = Some(messages);
            return saved;
        }
        if saved.is_ok() {
            self.control.outlet.send(SessionEvent::Agent(event)).await;
        }
        saved
    }

    async fn before_call(&mut self, call: &ToolCall, tool: &dyn AnyTool) -> Decision {
        if let Some(reason) = self.exploration.refusal(&call.name) {
            return Decision::Refuse(reason.to_owned());
        }
        let approval = tool.approval(&Value::Object(call.arguments.clone()));
        let verdict = if self.control.plans() {
            plan::verdict(&self.control.policy(), &call.name, &approval)
        } else {
            self.control.policy().verdict(&call.name, &approval)
        };
        match verdict {
            Verdict::Run => Decision::Run,
            Verdict::Deny { reason } => Decision::Refuse(format!("`{}` was not run: {reason}.", call.name)),
            Verdict::Ask { reason } => self.ask(call, reason).await,
        }
    }

    async fn after_call(&mut self, outcome: &mut ToolOutcome) {
        self.exploration.note(outcome);
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
        let spent = self.watch.before_request(self.control, self.quarantine, transcript).await;
        *self.usage += spent.map_err(|error| Stop(error.to_string()))?;
        Ok(None)
    }

    fn before_finish(&mut self) -> Option<Arc<Message>> {
        if let Some(reminder) = self.exploration.reminder() {
            return Some(reminder);
        }
        let said = self.reminders.iter().find_map(|reminder| reminder.before_finish())?;
        if let Some(event) = &said.event {
            self.control.outlet.offer(SessionEvent::Reminded(event.clone()));
        }
        Some(said.into_message())
    }
}
