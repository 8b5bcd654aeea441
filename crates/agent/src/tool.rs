//! The interface of tools: typed for their authors, and type-erased for the loop.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_types::{CallFacts, Content, ToolSpec};
use omp_view::{CallKind, View};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::plan::{AnyPlan, Planned};
use crate::progress::Progress;

/// A tool as its author writes it. Dependencies are fields of the implementor; the arguments are passed to each call.
pub trait Tool: Send + Sync + 'static {
    /// Field docs become the schema's descriptions.
    type Params: DeserializeOwned + JsonSchema + Send;
    /// The plan that runs: `Self::Params`, or a value built from them, so that nothing is parsed twice.
    type Plan: Send + Sync;
    /// Structured results for the session file and the screen; they are not sent to the model.
    type Details: Serialize + DeserializeOwned + Send;
    const NAME: &'static str;
    /// The description for the model: `include_str!("prompt.md")`.
    const PROMPT: &'static str;
    /// The kind of operation that its calls perform, for front ends.
    const KIND: CallKind = CallKind::Other;
    /// The role that the tool has for a session, if any.
    const ROLE: Option<ToolRole> = None;

    /// Determines the effects of the call from its arguments, once and before anything runs.
    fn plan(&self, params: Self::Params) -> Planned<Self::Plan>;

    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    /// How long an aborted call may continue before its future is dropped, so that it can return a partial result. Only for
    /// a tool that listens to [`ToolCx::cancel`]; otherwise only the newest partial output is kept.
    fn abort_grace(&self) -> Duration {
        Duration::ZERO
    }

    fn run(
        &self,
        plan: Self::Plan,
        cx: &ToolCx,
    ) -> impl Future<Output = Result<Output<Self::Details>, ToolError>> + Send;

    /// Must be a pure function of the saved data.
    fn render(params: &Self::Params, outcome: Outcome<&Self::Details>) -> View;

    /// A preview of a call while its arguments are still arriving: any of them may be missing or incomplete.
    fn preview(&self, _call: &ArrivingCall<'_>) -> Option<View> {
        None
    }

    /// All changes that a call would make, for the approval question.
    fn outlook(&self, _plan: &Self::Plan) -> Option<View> {
        None
    }

    /// The error with which the call would end as things are, found without changing anything: the user is not asked about
    /// a call that cannot work.
    fn foreseen_error(&self, _plan: &Self::Plan) -> Option<ToolError> {
        None
    }

    /// What a call has read, changed and shown, from its arguments and its saved details. Both may come from another version
    /// or another program, so a missing or odd part is no error.
    fn facts(_arguments: &Map<String, Value>, _details: Option<&Value>) -> CallFacts {
        CallFacts::default()
    }

    /// Restores the tool's state in a resumed session from the details of its last successful call.
    fn restore(&self, _last: Self::Details) {}
}

/// The interface of a tool to the loop. Built-in tools get this implementation automatically; MCP and extension tools
/// implement it directly.
pub trait AnyTool: Send + Sync {
    fn name(&self) -> Cow<'_, str>;
    fn description(&self) -> Cow<'_, str>;
    /// JSON Schema of the arguments.
    fn parameters(&self) -> Value;
    /// Plans a call whose arguments match the schema. An error is the text for the model.
    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String>;
    fn concurrency(&self) -> Concurrency;

    /// See [`Tool::KIND`].
    fn kind(&self) -> CallKind {
        CallKind::Other
    }

    /// See [`Tool::ROLE`].
    fn role(&self) -> Option<ToolRole> {
        None
    }

    /// See [`Tool::abort_grace`].
    fn abort_grace(&self) -> Duration {
        Duration::ZERO
    }

    fn render(&self, arguments: &Value, outcome: Outcome<&Value>) -> View;

    /// See [`Tool::preview`].
    fn preview(&self, _call: &ArrivingCall<'_>) -> Option<View> {
        None
    }

    /// See [`Tool::facts`]. `None` if the tool states nothing about its calls; then the effects of their plans count.
    fn facts(&self, _arguments: &Map<String, Value>, _details: Option<&Value>) -> Option<CallFacts> {
        None
    }

    /// See [`Tool::restore`].
    fn restore(&self, _last: &Value) {}
}

/// The role that a tool has for a session, so that it need not be identified by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRole {
    /// Starts an exploration.
    Checkpoint,
    /// Ends an exploration with its report.
    Rewind,
    /// Maintains the task list.
    TaskList,
    /// Reads files and the addresses that the prompt names.
    Reader,
    /// Runs command lines in the session's shell.
    Shell,
}

/// A call with the arguments that have arrived so far.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingCall<'a> {
    /// Unique within the session; does not change while the arguments arrive.
    pub id: &'a str,
    pub arguments: &'a Value,
    /// Whether all arguments have arrived.
    pub is_whole: bool,
}

/// What a tool may use while it runs. It has no access to the session.
#[derive(Clone)]
pub struct ToolCx {
    pub call_id: String,
    /// Cancelled when the call is to end early. The call's future is dropped as well, after [`Tool::abort_grace`]; a tool
    /// that owns more than its future (a child process, a blocking task) has to listen to this.
    pub cancel: CancellationToken,
    pub progress: Progress,
    /// `None` if no user can be asked.
    pub questions: Option<Arc<dyn Questions>>,
}

/// Asks the user a question during a call.
pub trait Questions: Send + Sync {
    /// `None` when the user dismissed the question.
    fn ask(&self, question: String, choices: Vec<String>) -> BoxFuture<'_, Option<String>>;

    /// Lets the user choose one or several options or type something else. `None` when the question was dismissed.
    fn choose(&self, choice: Choice) -> BoxFuture<'_, Option<Vec<String>>> {
        let labels = choice.options.into_iter().map(|option| option.label).collect();
        let answer = self.ask(choice.question, labels);
        async move { Some(vec![answer.await?]) }.boxed()
    }

    /// Asks the user to open an address in a browser. `false` if they refuse; an error if no user can be asked, or the
    /// address is not allowed.
    fn open_url(&self, _url: String, _reason: String) -> BoxFuture<'_, Result<bool, String>> {
        async { Err("nobody can be asked to open an address here".to_owned()) }.boxed()
    }
}

/// A question with options. The user may also type another answer, unless it is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub question: String,
    pub options: Vec<ChoiceOption>,
    /// Whether several options may be chosen.
    pub multi: bool,
    /// Index of the preselected option.
    pub recommended: Option<usize>,
    /// Whether only the options are valid answers.
    pub is_closed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChoiceOption {
    pub label: String,
    pub description: Option<String>,
}

impl ToolCx {
    /// A context without a session, for tests and for the command-line interface of tools.
    pub fn detached(call_id: impl Into<String>) -> Self {
        Self {
            call_id: call_id.into(),
            cancel: CancellationToken::new(),
            progress: Progress::ignored(),
            questions: None,
        }
    }
}

/// A finished call, with separate fields for the model and the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Output<D> {
    pub content: Vec<Content>,
    pub details: D,
    /// The call ran but its operation failed (a command that exits with 1). The model sees it as an error.
    pub is_error: bool,
    /// The call found and changed nothing: its result may be removed from the context early.
    pub useless: bool,
}

impl<D> Output<D> {
    pub fn text(text: impl Into<String>, details: D) -> Self {
        Self { content: vec![Content::text(text)], details, is_error: false, useless: false }
    }

    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// Marks a result that contains nothing worth keeping.
    pub fn useless_if(mut self, useless: bool) -> Self {
        self.useless = useless;
        self
    }
}

/// An output with its details erased.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    pub content: Vec<Content>,
    pub details: Option<Value>,
    pub is_error: bool,
    /// See [`Output::useless`].
    pub useless: bool,
}

impl ToolOutput {
    pub fn error(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], is_error: true, ..Self::default() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// Sent to the model, which can try something else.
    #[error("{0}")]
    Reply(String),
    /// Ends the run: the model cannot fix it.
    #[error("{0}")]
    Fatal(String),
}

impl ToolError {
    pub fn reply(text: impl std::fmt::Display) -> Self {
        ToolError::Reply(text.to_string())
    }
}

/// The state of a call, for its renderer.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<D> {
    /// Not finished; the text is the newest partial output.
    Running,
    Done {
        details: D,
        is_error: bool,
    },
    /// Ended without details: refused, invalid, failed or aborted.
    Failed,
}

/// Which calls may run concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// Together with other shared calls of the same answer.
    Shared,
    /// Alone: after everything before it and before everything after it.
    Exclusive,
}

/// The kind of access that a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Read,
    Write,
    Exec,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub tier: Tier,
    /// Why the user should check the call, if there is a reason beyond the tier.
    pub reason: Option<String>,
    /// Asks the user even if the mode would not.
    pub force_prompt: bool,
    /// All known effects of the call, for rules and for the user.
    pub effects: Vec<Effect>,
    /// Whether the session's map also restricts the unknown effects: the call cannot write what the map denies.
    pub is_contained: bool,
    /// Whether the sandbox enforces all of that, without gaps.
    pub is_fully_contained: bool,
}

/// One effect of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A program with its arguments, as the shell starts it; a wrapper (`sudo`, `env`, `xargs`) is an effect of its own.
    /// `whole`: every word is known before it runs.
    Run {
        words: Vec<String>,
        whole: bool,
    },
    /// A path with links resolved.
    Read(PathBuf),
    Write(PathBuf),
    Connect {
        host: String,
    },
    /// A link in the workspace that leads out of it, and its target.
    Follow {
        link: PathBuf,
        to: PathBuf,
    },
    /// A service of this machine that is closed to commands, by its name: `ssh-agent`, `docker`.
    Use(String),
    /// Not known before the call runs, as the user reads it: ``may write: `$X` ``.
    Unknown(String),
}

impl From<Tier> for Approval {
    fn from(tier: Tier) -> Self {
        Self {
            tier,
            reason: None,
            force_prompt: false,
            effects: Vec::new(),
            is_contained: false,
            is_fully_contained: false,
        }
    }
}

/// The tools of a run with their descriptions for the model, built once.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: Vec<Arc<dyn AnyTool>>,
    specs: Arc<[ToolSpec]>,
}

impl ToolSet {
    pub fn new(tools: Vec<Arc<dyn AnyTool>>) -> Self {
        let specs = tools.iter().map(|tool| spec_of(&**tool)).collect();
        Self { tools, specs }
    }

    pub fn specs(&self) -> &Arc<[ToolSpec]> {
        &self.specs
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.specs.iter().map(|spec| spec.name.as_str())
    }

    /// The view of a call. `None` if the tool does not exist.
    pub fn view(&self, name: &str, arguments: &Value, outcome: Outcome<&Value>) -> Option<View> {
        Some(self.find(name)?.0.render(arguments, outcome))
    }

    /// The kind of operation that the calls of a tool perform.
    pub fn kind(&self, name: &str) -> CallKind {
        self.find(name).map_or(CallKind::Other, |(tool, _)| tool.kind())
    }

    /// The role that a tool has for the session.
    pub fn role(&self, name: &str) -> Option<ToolRole> {
        self.find(name)?.0.role()
    }

    /// A tool and the schema of its arguments.
    pub fn find(&self, name: &str) -> Option<(&Arc<dyn AnyTool>, &Value)> {
        let position = self.specs.iter().position(|spec| spec.name == name)?;
        Some((&self.tools[position], &self.specs[position].parameters))
    }
}

fn spec_of(tool: &dyn AnyTool) -> ToolSpec {
    ToolSpec {
        name: tool.name().into_owned(),
        description: tool.description().into_owned(),
        parameters: tool.parameters(),
    }
}

impl<T: Tool> AnyTool for T {
    fn name(&self) -> Cow<'_, str> {
        T::NAME.into()
    }

    fn description(&self) -> Cow<'_, str> {
        T::PROMPT.trim_end().into()
    }

    fn parameters(&self) -> Value {
        crate::schema::schema_of::<T::Params>()
    }

    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        let params =
            read_params::<T>(&arguments).map_err(|error| format!("Invalid arguments for `{}`: {error}", T::NAME))?;
        let Planned { approval, plan } = Tool::plan(self, params);
        Ok(Box::new(ToolPlan { tool: self, approval, plan }))
    }

    fn concurrency(&self) -> Concurrency {
        Tool::concurrency(self)
    }

    fn kind(&self) -> CallKind {
        T::KIND
    }

    fn role(&self) -> Option<ToolRole> {
        T::ROLE
    }

    fn abort_grace(&self) -> Duration {
        Tool::abort_grace(self)
    }

    fn render(&self, arguments: &Value, outcome: Outcome<&Value>) -> View {
        let kind = T::KIND;
        let Ok(params) = read_params::<T>(arguments) else {
            return View { kind, ..View::new(T::NAME, omp_view::Status::Failed) };
        };
        let view = match outcome {
            Outcome::Running => T::render(&params, Outcome::Running),
            Outcome::Failed => T::render(&params, Outcome::Failed),
            Outcome::Done { details, is_error } => match T::Details::deserialize(details) {
                Ok(details) => T::render(&params, Outcome::Done { details: &details, is_error }),
                Err(_) => T::render(&params, Outcome::Failed),
            },
        };
        View { kind, ..view }
    }

    fn preview(&self, call: &ArrivingCall<'_>) -> Option<View> {
        Some(View { kind: T::KIND, ..Tool::preview(self, call)? })
    }

    fn facts(&self, arguments: &Map<String, Value>, details: Option<&Value>) -> Option<CallFacts> {
        Some(T::facts(arguments, details))
    }

    fn restore(&self, last: &Value) {
        if let Ok(details) = T::Details::deserialize(last) {
            Tool::restore(self, details);
        }
    }
}

/// The only way to read arguments: each way is compiled for the parameters of every tool.
fn read_params<T: Tool>(arguments: &Value) -> Result<T::Params, serde_path_to_error::Error<serde_json::Error>> {
    serde_path_to_error::deserialize(arguments)
}

/// The plan of a typed tool.
struct ToolPlan<'t, T: Tool> {
    tool: &'t T,
    approval: Approval,
    plan: T::Plan,
}

impl<T: Tool> AnyPlan for ToolPlan<'_, T> {
    fn approval(&self) -> &Approval {
        &self.approval
    }

    fn preview(&self) -> Option<View> {
        Some(View { kind: T::KIND, ..self.tool.outlook(&self.plan)? })
    }

    fn foreseen_error(&self) -> Option<ToolError> {
        self.tool.foreseen_error(&self.plan)
    }

    fn run<'a>(self: Box<Self>, cx: ToolCx) -> BoxFuture<'a, Result<ToolOutput, ToolError>>
    where
        Self: 'a,
    {
        async move {
            let output = self.tool.run(self.plan, &cx).await?;
            let details = serde_json::to_value(&output.details).map_err(|error| {
                ToolError::Fatal(format!("`{}` made details that cannot be saved: {error}", T::NAME))
            })?;
            let details = Some(details).filter(|details| !details.is_null());
            Ok(ToolOutput { content: output.content, details, is_error: output.is_error, useless: output.useless })
        }
        .boxed()
    }
}
