//! `bash` as a session offers it: with `async` if there are background jobs, with `pty` if the user has a screen for it.
//!
//! The schema of a tool comes from its parameter type; this wrapper makes it depend on the session.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use omp_agent::{AnyPlan, AnyTool, ArrivingCall, Concurrency, Outcome, ToolRole};
use omp_types::{CallFacts, SERVICES};
use omp_view::{CallKind, View};
use serde_json::{Map, Value, json};

use super::Bash;

pub(super) struct OfferedBash {
    pub(super) bash: Bash,
}

const ASYNC: &str = "Run as a background job; needs the `job` tool.";
const WRITE: &str = "Paths outside the workspace, or guarded, that it writes to, folders with `/` at the end";
const READ: &str = "Hidden paths that it reads";
const PTY: &str =
    "Run it in a terminal that the user sees and types in: for passwords, editors, prompts. Not with `async`.";

impl AnyTool for OfferedBash {
    fn name(&self) -> Cow<'_, str> {
        self.bash.name()
    }

    fn description(&self) -> Cow<'_, str> {
        self.bash.description()
    }

    fn parameters(&self) -> Value {
        let mut schema = self.bash.parameters();
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            if self.bash.runner.options.jobs {
                properties.insert("async".into(), json!({"type": "boolean", "description": ASYNC}));
            }
            if self.bash.runner.is_contained() {
                let sockets = format!("Closed services that it uses ({})", SERVICES.join(", "));
                for (name, what) in [("write", WRITE), ("read", READ), ("sockets", &sockets)] {
                    let (items, told) = (json!({"type": "string"}), self.bash.runner.asking.described(what));
                    properties.insert(name.into(), json!({"type": "array", "items": items, "description": told}));
                }
            }
            if self.bash.runner.screens.is_some() {
                properties.insert("pty".into(), json!({"type": "boolean", "description": PTY}));
            }
        }
        schema
    }

    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        AnyTool::plan(&self.bash, arguments)
    }

    fn concurrency(&self) -> Concurrency {
        AnyTool::concurrency(&self.bash)
    }

    fn kind(&self) -> CallKind {
        self.bash.kind()
    }

    fn role(&self) -> Option<ToolRole> {
        self.bash.role()
    }

    fn abort_grace(&self) -> Duration {
        AnyTool::abort_grace(&self.bash)
    }

    fn render(&self, arguments: &Value, outcome: Outcome<&Value>) -> View {
        AnyTool::render(&self.bash, arguments, outcome)
    }

    fn preview(&self, call: &ArrivingCall<'_>) -> Option<View> {
        AnyTool::preview(&self.bash, call)
    }

    fn facts(&self, arguments: &Map<String, Value>, details: Option<&Value>) -> Option<CallFacts> {
        AnyTool::facts(&self.bash, arguments, details)
    }

    fn restore(&self, last: &Value) {
        AnyTool::restore(&self.bash, last);
    }
}
