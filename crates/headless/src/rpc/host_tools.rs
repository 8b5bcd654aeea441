//! Tools that live in the client: called by the model here, run there.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use omp_agent::{
    AnyPlan, AnyTool, Concurrency, Outcome, Progress, Tier, ToolCx, ToolError, ToolOutput, ToolSet, plan_of,
};
use omp_types::{Content, portable_parameters, text_of};
use omp_view::{Status, View};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use super::output::Output;

/// Tools a client may bring.
const MAX_TOOLS: usize = 256;

/// The client's tools, and the calls it has not answered yet.
pub struct HostTools {
    output: Output,
    next: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tools: Vec<Arc<Definition>>,
    calls: HashMap<String, Call>,
    /// The client is gone: nothing will be answered.
    closed: bool,
}

struct Call {
    progress: Progress,
    done: oneshot::Sender<Result<ToolOutput, ToolError>>,
}

/// A tool as the client describes it.
#[derive(Debug, Deserialize)]
pub struct Definition {
    #[serde(default)]
    name: String,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
    #[serde(default)]
    hidden: bool,
}

/// Partial or final output, as the client sends it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reported {
    id: String,
    #[serde(alias = "partialResult")]
    result: Body,
    #[serde(default)]
    is_error: bool,
}

#[derive(Debug, Deserialize)]
struct Body {
    content: Vec<Content>,
    #[serde(default)]
    details: Option<Value>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Frame<'a> {
    HostToolCall { id: &'a str, tool_call_id: &'a str, tool_name: &'a str, arguments: &'a Value },
    HostToolCancel { id: &'a str, target_id: &'a str },
}

impl HostTools {
    pub fn new(output: Output) -> Self {
        Self { output, next: AtomicU64::new(1), state: Mutex::default() }
    }

    /// Replaces the client's tools; their names. `existing` are those of the session.
    pub fn set(&self, definitions: Vec<Definition>, existing: &ToolSet) -> Result<Vec<String>, String> {
        if definitions.len() > MAX_TOOLS {
            return Err(format!("RPC hosts may bring {MAX_TOOLS} tools at most"));
        }
        let tools: Vec<Definition> =
            definitions.into_iter().enumerate().map(|(index, tool)| tool.checked(index)).collect::<Result<_, _>>()?;
        let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err("RPC host tool names must be unique".to_owned());
            }
            let ours = self.lock().tools.iter().any(|tool| tool.name == *name);
            if !ours && existing.find(name).is_some() {
                return Err(format!("RPC host tool \"{name}\" conflicts with an existing tool"));
            }
        }
        self.lock().tools = tools.into_iter().map(Arc::new).collect();
        Ok(names)
    }

    /// The tools of a session with the client's in place of those it brought before. `None` when nothing changes.
    pub fn joined(self: &Arc<Self>, base: &ToolSet, before: &[String]) -> Option<Vec<Arc<dyn AnyTool>>> {
        let brought = self.lock().tools.clone();
        if brought.is_empty() && before.is_empty() {
            return None;
        }
        let own = base.names().filter(|name| !before.iter().any(|old| old == name));
        let own = own.filter_map(|name| base.find(name)).map(|(tool, _)| tool.clone());
        let brought = brought.into_iter().filter(|tool| !tool.hidden);
        let brought =
            brought.map(|definition| Arc::new(HostTool { definition, host: self.clone() }) as Arc<dyn AnyTool>);
        Some(own.chain(brought).collect())
    }

    pub fn names(&self) -> Vec<String> {
        self.lock().tools.iter().map(|tool| tool.name.clone()).collect()
    }

    /// Results of unknown calls are ignored: they were cancelled.
    pub fn finish(&self, reported: Reported) {
        let Some(call) = self.lock().calls.remove(&reported.id) else { return };
        let result =
            if reported.is_error { Err(failure(&reported.result.content)) } else { Ok(reported.result.into()) };
        // Whoever called may have been cancelled in this moment.
        drop(call.done.send(result));
    }

    pub fn update(&self, reported: Reported) {
        if let Some(call) = self.lock().calls.get(&reported.id) {
            call.progress.update(reported.result.into());
        }
    }

    /// The client is gone.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for (_, call) in state.calls.drain() {
            drop(call.done.send(Err(gone())));
        }
    }

    fn begin(&self, tool: &str, arguments: &Value, cx: &ToolCx) -> Result<(String, Answer), ToolError> {
        let id = format!("host_{}", self.next.fetch_add(1, Ordering::Relaxed));
        let (done, answer) = oneshot::channel();
        let mut state = self.lock();
        if state.closed {
            return Err(gone());
        }
        state.calls.insert(id.clone(), Call { progress: cx.progress.clone(), done });
        drop(state);
        self.output.frame(&Frame::HostToolCall { id: &id, tool_call_id: &cx.call_id, tool_name: tool, arguments });
        Ok((id, answer))
    }

    /// A call that was dropped before its answer.
    fn cancel(&self, target_id: &str) {
        if self.lock().calls.remove(target_id).is_some() {
            let id = format!("host_{}", self.next.fetch_add(1, Ordering::Relaxed));
            self.output.frame(&Frame::HostToolCancel { id: &id, target_id });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Answer = oneshot::Receiver<Result<ToolOutput, ToolError>>;

impl Definition {
    fn checked(mut self, index: usize) -> Result<Self, String> {
        self.name = self.name.trim().to_owned();
        self.description = self.description.trim().to_owned();
        if self.name.is_empty() {
            return Err(format!("Host tool at index {index} must provide a non-empty name"));
        }
        if self.description.is_empty() {
            return Err(format!("Host tool \"{}\" must provide a non-empty description", self.name));
        }
        if !self.parameters.is_object() {
            return Err(format!("Host tool \"{}\" must provide a JSON Schema object", self.name));
        }
        if let Err(problem) = portable_parameters(&self.parameters) {
            return Err(format!(
                "Host tool \"{}\" has parameters that no provider takes: {problem}\nhint: change the schema at that \
                 place and register the tool again",
                self.name
            ));
        }
        self.label = self.label.map(|label| label.trim().to_owned()).filter(|label| !label.is_empty());
        Ok(self)
    }
}

impl From<Body> for ToolOutput {
    fn from(body: Body) -> Self {
        Self { content: body.content, details: body.details, ..Self::default() }
    }
}

fn failure(content: &[Content]) -> ToolError {
    let text = text_of(content);
    ToolError::reply(if text.trim().is_empty() { "Host tool execution failed" } else { text.trim() })
}

fn gone() -> ToolError {
    ToolError::reply("RPC client disconnected before host tool execution completed")
}

struct HostTool {
    definition: Arc<Definition>,
    host: Arc<HostTools>,
}

/// Tells the client when nobody waits for its answer any more.
struct Waiting<'a> {
    host: &'a HostTools,
    id: String,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.host.cancel(&self.id);
    }
}

impl HostTool {
    async fn run(&self, arguments: Arc<Value>, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let (id, answer) = self.host.begin(&self.definition.name, &arguments, &cx)?;
        let waiting = Waiting { host: &self.host, id };
        let result = answer.await.unwrap_or_else(|_| Err(gone()));
        drop(waiting);
        result
    }
}

impl AnyTool for HostTool {
    fn name(&self) -> Cow<'_, str> {
        self.definition.name.as_str().into()
    }

    fn description(&self) -> Cow<'_, str> {
        self.definition.description.as_str().into()
    }

    fn parameters(&self) -> Value {
        self.definition.parameters.clone()
    }

    /// What it does is not known here.
    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        Ok(plan_of(Tier::Exec, move |cx| self.run(arguments, cx).boxed()))
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    fn render(&self, arguments: &Value, outcome: Outcome<&Value>) -> View {
        let status = match outcome {
            Outcome::Running => Status::Running,
            Outcome::Done { is_error: false, .. } => Status::Done,
            Outcome::Done { is_error: true, .. } | Outcome::Failed => Status::Failed,
        };
        // Nothing else is known of what a host's tools take.
        let command = arguments.get("command").and_then(Value::as_str).map(str::to_owned);
        View { command, ..View::new(self.definition.label.as_ref().unwrap_or(&self.definition.name), status) }
    }
}
