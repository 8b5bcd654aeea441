//! Between the loop and the world: saves first, tells second, and asks before a call runs.

use std::sync::Arc;

use omp_agent::{AgentEvent, AnyTool, Decision, Port, Stop, ToolOutcome};
use omp_types::{Message, ToolCall, Transcript, Usage};
use serde_json::Value;

use crate::desk::{Answer, Desk, QuestionKind};
use crate::event::SessionEvent;
use crate::exploration::Exploration;
use crate::outlet::Outlet;
use crate::policy::{Policy, Verdict};
use crate::recorder::Recorder;

pub(crate) struct SessionPort<'a> {
    pub recorder: &'a mut Recorder,
    pub outlet: &'a Outlet,
    pub desk: &'a Desk,
    pub policy: &'a Policy,
    pub usage: &'a mut Usage,
    pub exploration: &'a mut Exploration,
    /// Whether somebody is there to answer.
    pub attended: bool,
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
                self.recorder.message(message)
            }
            AgentEvent::ToolStart { call_id, name, arguments } => self.recorder.tool_started(call_id, name, arguments),
            _ => Ok(()),
        };
        saved.map_err(|error| Stop(error.to_string()))
    }

    async fn ask(&self, call: &ToolCall, reason: Option<String>) -> Decision {
        if !self.attended {
            return Decision::Refuse(format!(
                "`{}` was not run: it needs the user's approval (tools.approvalMode is `{}`) and nobody can be asked in \
                 this mode. Do not try to get the same effect in another way; say what you would have done.",
                call.name,
                self.policy.mode.as_str()
            ));
        }
        let arguments = Arc::new(Value::Object(call.arguments.clone()));
        let kind = QuestionKind::Approve { tool: call.name.clone(), arguments, reason };
        match self.desk.put(kind).await {
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
        let saved = self.save(&event);
        if let AgentEvent::AgentEnd { messages } = event {
            self.ended = Some(messages);
            return saved;
        }
        if saved.is_ok() {
            self.outlet.send(SessionEvent::Agent(event)).await;
        }
        saved
    }

    async fn before_call(&mut self, call: &ToolCall, tool: &dyn AnyTool) -> Decision {
        if let Some(reason) = self.exploration.refusal(&call.name) {
            return Decision::Refuse(reason.to_owned());
        }
        let approval = tool.approval(&Value::Object(call.arguments.clone()));
        match self.policy.verdict(&call.name, &approval) {
            Verdict::Run => Decision::Run,
            Verdict::Deny { reason } => Decision::Refuse(format!("`{}` was not run: {reason}.", call.name)),
            Verdict::Ask { reason } => self.ask(call, reason).await,
        }
    }

    async fn after_call(&mut self, outcome: &mut ToolOutcome) {
        self.exploration.note(outcome);
    }

    fn after_turn(&mut self, transcript: &mut Transcript) -> Result<(), Stop> {
        self.exploration.after_turn(transcript, self.recorder).map_err(|error| Stop(error.to_string()))
    }

    fn before_finish(&mut self) -> Option<Arc<Message>> {
        self.exploration.reminder()
    }
}
