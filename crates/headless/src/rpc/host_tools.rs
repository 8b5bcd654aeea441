//! Tools of the client: the model calls them here, the client runs them.

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
use omp_wire::{HostToolBody, HostToolDefinition, HostToolFrame, HostToolResult};
use serde_json::Value;
use tokio::sync::oneshot;

use super::output::Output;

/// The source of these tools in a session.
pub const HOST_SOURCE: &str = "host";

/// Caps the tools of a client.
const MAX_TOOLS: usize = 256;

/// The client's tools, and its unanswered calls.
pub struct HostTools {
    output: Output,
    next: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tools: Vec<Arc<HostToolDefinition>>,
    calls: HashMap<String, Call>,
    /// The client has disconnected, so no call will be answered.
    closed: bool,
}

struct Call {
    progress: Progress,
    done: oneshot::Sender<Result<ToolOutput, ToolError>>,
}

impl HostTools {
    pub fn new(output: Output) -> Self {
        Self { output, next: AtomicU64::new(1), state: Mutex::default() }
    }

    /// Replaces the client's tools and returns their names. `existing` are those of the session.
    pub fn set(&self, definitions: Vec<HostToolDefinition>, existing: &ToolSet) -> Result<Vec<String>, String> {
        if definitions.len() > MAX_TOOLS {
            return Err(format!("an RPC host can register at most {MAX_TOOLS} tools"));
        }
        let tools: Vec<HostToolDefinition> =
            definitions.into_iter().enumerate().map(|(index, tool)| checked(tool, index)).collect::<Result<_, _>>()?;
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

    /// Returns the tools for the model.
    pub fn brought(self: &Arc<Self>) -> Vec<Arc<dyn AnyTool>> {
        let offered = self.lock().tools.iter().filter(|tool| !tool.hidden).cloned().collect::<Vec<_>>();
        let tool = |definition| Arc::new(HostTool { definition, host: self.clone() }) as Arc<dyn AnyTool>;
        offered.into_iter().map(tool).collect()
    }

    pub fn has_any(&self) -> bool {
        !self.lock().tools.is_empty()
    }

    /// Handles a result. Results of unknown calls are ignored, because those were cancelled.
    pub fn finish(&self, reported: HostToolResult) {
        let Some(call) = self.lock().calls.remove(&reported.id) else { return };
        let result =
            if reported.is_error { Err(failure(&reported.result.content)) } else { Ok(output(reported.result)) };
        // The caller may have been cancelled just now.
        drop(call.done.send(result));
    }

    pub fn update(&self, reported: HostToolResult) {
        if let Some(call) = self.lock().calls.get(&reported.id) {
            call.progress.update(output(reported.result));
        }
    }

    /// The client has disconnected.
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
        self.output.frame(&HostToolFrame::HostToolCall {
            id: id.as_str().into(),
            tool_call_id: cx.call_id.as_str().into(),
            tool_name: tool.into(),
            arguments: Cow::Borrowed(arguments),
        });
        Ok((id, answer))
    }

    /// Cancels a call that was dropped before its result.
    fn cancel(&self, target_id: &str) {
        if self.lock().calls.remove(target_id).is_some() {
            let id = format!("host_{}", self.next.fetch_add(1, Ordering::Relaxed));
            self.output.frame(&HostToolFrame::HostToolCancel { id: id.as_str().into(), target_id: target_id.into() });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Answer = oneshot::Receiver<Result<ToolOutput, ToolError>>;

fn checked(mut tool: HostToolDefinition, index: usize) -> Result<HostToolDefinition, String> {
    tool.name = tool.name.trim().to_owned();
    tool.description = tool.description.trim().to_owned();
    if tool.name.is_empty() {
        return Err(format!("Host tool at index {index} must provide a non-empty name"));
    }
    if tool.description.is_empty() {
        return Err(format!("Host tool \"{}\" must provide a non-empty description", tool.name));
    }
    if !tool.parameters.is_object() {
        return Err(format!("Host tool \"{}\" must provide a JSON Schema object", tool.name));
    }
    if let Err(problem) = portable_parameters(&tool.parameters) {
        return Err(format!(
            "Host tool \"{}\" has parameters that no provider takes: {problem}\nhint: change the schema at that \
                 place and register the tool again",
            tool.name
        ));
    }
    tool.label = tool.label.map(|label| label.trim().to_owned()).filter(|label| !label.is_empty());
    Ok(tool)
}

fn output(body: HostToolBody) -> ToolOutput {
    ToolOutput { content: body.content, details: body.details, ..ToolOutput::default() }
}

fn failure(content: &[Content]) -> ToolError {
    let text = text_of(content);
    ToolError::reply(if text.trim().is_empty() { "Host tool execution failed" } else { text.trim() })
}

fn gone() -> ToolError {
    ToolError::reply("RPC client disconnected before host tool execution completed")
}

struct HostTool {
    definition: Arc<HostToolDefinition>,
    host: Arc<HostTools>,
}

/// Notifies the client when its result is no longer needed.
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

    /// The effects of a client's tool are unknown here.
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
        // Only the `command` argument of a client's tool is understood.
        let command = arguments.get("command").and_then(Value::as_str).map(str::to_owned);
        View { command, ..View::new(self.definition.label.as_ref().unwrap_or(&self.definition.name), status) }
    }
}
