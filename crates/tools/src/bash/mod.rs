//! `bash`: runs one command line in the user's shell and controls its output, its end and all processes it starts.

mod asking;
mod command;
mod denied;
mod effects;
mod fixup;
mod in_terminal;
mod intercept;
mod minimizer;
mod missing;
mod network;
mod offered;
mod options;
mod process;
mod render;
mod run;
mod runner;
mod user_shell;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_agent::{AnyTool, Outcome, Output, Planned, Tool, ToolCx, ToolError, ToolOutput, ToolRole};
use omp_exec::{Containment, Reaper};
use omp_types::{CommandScreens, Content, EditorTerminals, Env, SERVICES, Stripped};
use omp_view::{CallKind, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::artifacts::Artifacts;
use crate::files::Files;
use crate::job::Jobs;
use crate::output_sink::Truncation;
use command::TypedLine;
pub use effects::CommandPlan;
use effects::LeftInShell;
pub use intercept::InterceptRule;
pub use network::Reached;
use offered::OfferedBash;
pub use options::{BashOptions, MinimizerOptions};
pub(crate) use render::TIME_TOLD;
use runner::{BashCall, Runner, StartedBy};
pub use user_shell::{SessionShell, UserCommand};

/// Runs shell commands.
pub struct Bash {
    runner: Arc<Runner>,
    jobs: Arc<Jobs>,
    /// Names of the other tools that the model has.
    offered: Vec<String>,
    left_in_shell: LeftInShell,
}

/// The parts of the tool. There is no default containment: the caller decides what the shell may access.
pub struct BashParts {
    pub files: Arc<Files>,
    pub env: Env,
    pub artifacts: Arc<dyn Artifacts>,
    /// Holds processes that commands leave in the background.
    pub reaper: Arc<Reaper>,
    /// The user's settings.
    pub options: BashOptions,
    /// The jobs that `job` shows.
    pub jobs: Arc<Jobs>,
    /// Names of the other tools that the model has.
    pub offered: Vec<String>,
    /// Whether a user can approve access that is closed to commands.
    pub attended: bool,
    /// The terminals of an editor. Commands that do not go to the background run there.
    pub editor: Option<Arc<dyn EditorTerminals>>,
    /// Whether the editor's terminals are used although commands there are not contained.
    pub uncontained_in_editor: bool,
    /// Where the user can work with a command in a terminal.
    pub screens: Option<Arc<dyn CommandScreens>>,
    /// `--no-pty`: no command gets such a terminal. `PI_NO_PTY=1` has the same effect.
    pub no_pty: bool,
    /// What the model's commands may access. The user's commands are not contained.
    pub containment: Containment,
}

#[cfg(test)]
impl BashParts {
    pub(crate) fn uncontained(folder: &std::path::Path, env: Env) -> Self {
        let options = BashOptions::default();
        Self {
            files: Arc::new(Files::new(folder, None)),
            env,
            artifacts: Arc::new(crate::artifacts::NoArtifacts),
            reaper: Arc::default(),
            jobs: Arc::new(Jobs::new(options.max_jobs)),
            options,
            offered: Vec::new(),
            attended: true,
            editor: None,
            uncontained_in_editor: false,
            screens: None,
            no_pty: false,
            containment: Containment::switched_off(),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct BashParams {
    /// Shell command line.
    pub command: String,
    /// Seconds until it is stopped, 1-3600 (default 300).
    pub timeout: Option<f64>,
    /// Folder to run in, for this call (default: where the shell is).
    pub cwd: Option<String>,
    /// Extra environment variables, for this call.
    pub env: Option<BTreeMap<String, String>>,
    /// Offered by [`OfferedBash`] where there are jobs; refused elsewhere.
    #[serde(rename = "async")]
    #[schemars(skip)]
    pub in_background: Option<bool>,
    /// Offered by [`OfferedBash`] if the user has a terminal to show it in; otherwise ignored.
    #[schemars(skip)]
    pub pty: Option<bool>,
    /// Additional paths that the command writes to. Offered by [`OfferedBash`] if commands run in the sandbox.
    #[serde(default)]
    #[schemars(skip)]
    pub write: Vec<String>,
    /// Hidden paths that the command reads. Offered like `write`.
    #[serde(default)]
    #[schemars(skip)]
    pub read: Vec<String>,
    /// Services outside the sandbox that the command uses. Offered like `write`.
    #[serde(default)]
    #[schemars(skip)]
    pub sockets: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BashDetails {
    pub timeout_seconds: u64,
    /// The requested timeout, if it was out of bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_timeout_seconds: Option<f64>,
    pub wall_time_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// The command was aborted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
    /// Set if the command continues as a background job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<OutputMeta>,
    /// Connections through the proxy since the previous command, allowed and refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<Reached>,
    /// Accesses that containment denied, each with the argument or setting that grants it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contained: Vec<String>,
    /// Escapes and control characters that were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripped: Option<Stripped>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputMeta {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
}

const DEFAULT_TIMEOUT: f64 = 300.0;
const MIN_TIMEOUT: f64 = 1.0;
const MAX_TIMEOUT: f64 = 3600.0;
/// Limits how long the result of an aborted command may take; the command itself is killed at once.
const ABORT_GRACE: Duration = Duration::from_secs(2);

impl Bash {
    pub fn new(parts: BashParts) -> Self {
        let (jobs, offered) = (parts.jobs.clone(), parts.offered.clone());
        let runner = Arc::new(Runner::new(parts));
        Self { runner, jobs, offered, left_in_shell: LeftInShell::default() }
    }

    /// Returns the same shell for the user's own commands.
    pub fn user_shell(&self) -> SessionShell {
        SessionShell { runner: self.runner.clone() }
    }

    /// Builds the offered tool: with `async` only if there are jobs, with `pty` only if the user has a screen for it.
    pub fn into_tool(self) -> Arc<dyn AnyTool> {
        Arc::new(OfferedBash { bash: self })
    }

    fn call(&self, plan: CommandPlan, id: &str) -> Result<BashCall, ToolError> {
        let CommandPlan { params, line, writes, .. } = plan;
        let options = &self.runner.options;
        let in_background = params.in_background.unwrap_or(false);
        let in_terminal = params.pty == Some(true) && !in_background && self.runner.screens.is_some();
        let most =
            if options.max_timeout > 0.0 { options.max_timeout.clamp(MIN_TIMEOUT, MAX_TIMEOUT) } else { MAX_TIMEOUT };
        // The user needs time to read and to type.
        let default = if in_terminal { most } else { DEFAULT_TIMEOUT };
        let requested = params.timeout.filter(|seconds| seconds.is_finite()).unwrap_or(default);
        let seconds = requested.clamp(MIN_TIMEOUT, most);
        if in_background && !options.jobs {
            let hint = "hint: run it without `async`; the setting `async.enabled` turns background jobs on";
            return Err(ToolError::reply(format!("Async bash execution is disabled.\n{hint}")));
        }
        let mut notices = Vec::new();
        self.check_services(&params.sockets, &mut notices)?;
        let job = command::prepare(params, &self.runner.files, &self.runner.shell_folder(&mut notices))?;
        let left_off = line.left_off.iter();
        notices
            .extend(left_off.map(|end| format!("`{end}` was removed: omp shortens the output and stores all of it.")));
        if let Some(refusal) = line.refusal {
            return Err(ToolError::Reply(refusal));
        }
        if seconds != requested {
            notices.push(format!("The timeout was set to {seconds} seconds ({requested} is out of bounds)."));
        }
        let written: Vec<PathBuf> = writes.iter().map(|target| target.path.clone()).collect();
        let containment = self.runner.containment_of(id).for_command(&line.text, &written);
        Ok(BashCall {
            job,
            seconds,
            requested,
            notices,
            contained: Vec::new(),
            in_background,
            in_terminal,
            in_editor: None,
            started_by: StartedBy::Model(containment),
            writes,
        })
    }

    /// Rejects unknown services; adds a notice for services that are not on this machine.
    fn check_services(&self, asked: &[String], notices: &mut Vec<String>) -> Result<(), ToolError> {
        let Some(access) = self.runner.containment.access().filter(|_| self.runner.is_contained()) else {
            return Ok(());
        };
        for name in asked {
            if !SERVICES.contains(&name.as_str()) {
                let known = SERVICES.join(", ");
                return Err(ToolError::reply(format!("unknown service `{name}`\nhint: `sockets` takes {known}")));
            }
            if access.map().service(name).is_none() {
                notices.push(format!("{name} was not found on this machine."));
            }
        }
        Ok(())
    }

    /// Starts the call as a separate task, so that it can become a job.
    fn start(&self, call: BashCall, cx: &ToolCx) -> RunningCommand {
        let (cancel, tail) = (CancellationToken::new(), Arc::new(std::sync::Mutex::new(String::new())));
        let command = call.job.command.clone();
        let (runner, stop, progress, newest) =
            (self.runner.clone(), cancel.clone(), cx.progress.clone(), Arc::clone(&tail));
        let in_background = call.in_background;
        let work = async move {
            let show = |text: &str| {
                text.clone_into(&mut newest.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
                if !in_background {
                    progress.update(partial(text));
                }
            };
            runner.run(call, &stop, show).await
        };
        RunningCommand { command, cancel, tail, task: AbortOnDropHandle::new(tokio::spawn(work)) }
    }

    fn to_background(&self, running: RunningCommand, timeout_seconds: u64) -> Result<Output<BashDetails>, ToolError> {
        let id = self.jobs.adopt(running)?;
        let details = BashDetails { timeout_seconds, job_id: Some(id.clone()), ..BashDetails::default() };
        Ok(Output::text(
            format!("Running in the background as job {id}.\nUse `job` to wait for it or cancel it."),
            details,
        ))
    }
}

/// A command that runs as a task.
pub(crate) struct RunningCommand {
    pub(crate) command: String,
    pub(crate) cancel: CancellationToken,
    /// The newest output.
    pub(crate) tail: Arc<std::sync::Mutex<String>>,
    pub(crate) task: AbortOnDropHandle<Result<Output<BashDetails>, ToolError>>,
}

impl Tool for Bash {
    type Params = BashParams;
    type Plan = CommandPlan;
    type Details = BashDetails;
    const NAME: &'static str = "bash";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Execute;
    const ROLE: Option<ToolRole> = Some(ToolRole::Shell);

    fn plan(&self, mut params: BashParams) -> Planned<CommandPlan> {
        let line = TypedLine::settle(&mut params, &self.runner.options, &self.offered);
        let setting = effects::EffectContext {
            files: &self.runner.files,
            shell_folder: &self.runner.session.cwd(),
            left: &self.left_in_shell,
            containment: &self.runner.containment,
            is_contained: self.runner.is_contained() && !self.runner.uncontained_in_editor,
        };
        effects::plan(params, line, &setting)
    }

    fn foreseen_error(&self, plan: &CommandPlan) -> Option<ToolError> {
        plan.line.refusal.clone().map(ToolError::Reply)
    }

    fn abort_grace(&self) -> Duration {
        ABORT_GRACE
    }

    async fn run(&self, plan: CommandPlan, cx: &ToolCx) -> Result<Output<BashDetails>, ToolError> {
        self.left_in_shell.note(&plan.defined);
        let mut call = self.call(plan, &cx.call_id)?;
        let timeout = call.seconds as u64;
        if call.in_background {
            self.jobs.check_room()?;
            return self.to_background(self.start(call, cx), timeout);
        }
        // A user is at the terminal, so the command is not moved to the background automatically.
        let Some(patience) = self.runner.options.background_after.filter(|_| !call.in_terminal) else {
            call.in_editor = (!call.in_terminal).then(|| cx.call_id.clone());
            let show = |text: &str| cx.progress.update(partial(text));
            return self.runner.run(call, &cx.cancel, show).await;
        };
        let mut running = self.start(call, cx);
        let mut patience = Some(patience);
        loop {
            tokio::select! {
                biased;
                () = cx.cancel.cancelled(), if !running.cancel.is_cancelled() => {
                    running.cancel.cancel();
                    patience = None;
                    continue;
                }
                done = &mut running.task => return done.unwrap_or_else(|error| Err(ToolError::reply(error))),
                () = tokio::time::sleep(patience.unwrap_or(Duration::MAX)), if patience.is_some() => patience = None,
            }
            // Without room for another job the command continues in the foreground.
            if self.jobs.check_room().is_ok() {
                return self.to_background(running, timeout);
            }
        }
    }

    fn render(params: &BashParams, outcome: Outcome<&BashDetails>) -> View {
        render::view(params, outcome)
    }
}

fn partial(text: &str) -> ToolOutput {
    let details = Some(serde_json::Value::Object(serde_json::Map::new()));
    ToolOutput { content: vec![Content::text(text)], details, ..ToolOutput::default() }
}

#[cfg(test)]
mod editor_tests;
#[cfg(test)]
mod terminal_tests;
#[cfg(test)]
mod tests;
