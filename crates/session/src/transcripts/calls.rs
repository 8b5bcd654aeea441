//! What front ends show of calls. They never hold a tool.

use omp_agent::{ArrivingCall, Outcome};
use omp_view::{CallKind, View};
use serde_json::Value;

use crate::{Session, secrets};

impl Session {
    /// The view of a call. `None` if the tool does not exist.
    pub fn view(&self, tool: &str, arguments: &Value, outcome: Outcome<&Value>) -> Option<View> {
        self.control.tools().view(tool, arguments, outcome)
    }

    /// The kind of operation that the calls of a tool perform.
    pub fn call_kind(&self, tool: &str) -> CallKind {
        self.control.tools().kind(tool)
    }

    /// A preview of a call, based on the arguments that have arrived so far.
    pub fn preview(&self, tool: &str, call: ArrivingCall<'_>) -> Option<View> {
        secrets::preview(&self.control.veil, &**self.control.tools().find(tool)?.0, call)
    }

    /// The newest command that the model ran or wants to run.
    pub fn last_command(&self) -> Option<String> {
        let messages = self.messages();
        let calls = messages.iter().rev().filter_map(|message| message.as_assistant()).flat_map(|answer| {
            let calls: Vec<_> = answer.tool_calls().collect();
            calls.into_iter().rev()
        });
        calls
            .filter_map(|call| {
                let arguments = Value::Object(call.arguments.clone());
                self.view(&call.name, &arguments, Outcome::Running)?.command
            })
            .next()
    }
}
