//! `bash`: one command line in the user's shell, with its output, its end and everything it started under control.

mod command;
mod critical;
mod render;
mod run;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use omp_agent::{Approval, Outcome, Output, Tier, Tool, ToolCx, ToolError, ToolOutput};
use omp_exec::{ChildEnv, Reaper, Shell};
use omp_types::{Content, Env};
use omp_view::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifacts::Artifacts;
use crate::files::Files;
use crate::output_sink::{OutputSink, Summary, Truncation};
use run::End;

/// Runs shell commands.
pub struct Bash {
    files: Arc<Files>,
    shell: Shell,
    env: ChildEnv,
    artifacts: Arc<dyn Artifacts>,
    /// Keeps what commands leave in the background until the session ends.
    reaper: Arc<Reaper>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct BashParams {
    /// Shell command line.
    pub command: String,
    /// Seconds until it is stopped, 1-3600 (default 300).
    pub timeout: Option<f64>,
    /// Folder to run in (default: the working folder).
    pub cwd: Option<String>,
    /// Extra environment variables.
    pub env: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BashDetails {
    pub timeout_seconds: u64,
    /// What was asked for, when it was out of bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_timeout_seconds: Option<f64>,
    pub wall_time_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<OutputMeta>,
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

impl Bash {
    pub fn new(files: Arc<Files>, env: &Env, artifacts: Arc<dyn Artifacts>, reaper: Arc<Reaper>) -> Self {
        Self { files, shell: Shell::choose(env), env: ChildEnv::unattended(env), artifacts, reaper }
    }
}

impl Tool for Bash {
    type Params = BashParams;
    type Details = BashDetails;
    const NAME: &'static str = "bash";
    const PROMPT: &'static str = include_str!("prompt.md");

    fn approval(&self, params: &BashParams) -> Approval {
        let reason = critical::reason(&params.command).map(str::to_owned);
        Approval { tier: Tier::Exec, force_prompt: reason.is_some(), reason }
    }

    async fn run(&self, params: BashParams, cx: &ToolCx) -> Result<Output<BashDetails>, ToolError> {
        let requested = params.timeout.filter(|seconds| seconds.is_finite()).unwrap_or(DEFAULT_TIMEOUT);
        let seconds = requested.clamp(MIN_TIMEOUT, MAX_TIMEOUT);
        let job = command::prepare(params, &self.files)?;
        let env = job.env.into_iter().fold(self.env.clone(), |env, (name, value)| env.set(name, value));
        let child = self.shell.spawn(&job.command, env).cwd(job.cwd).start().map_err(ToolError::reply)?;
        let sink = OutputSink::new(self.artifacts.clone(), Self::NAME);
        let patience = Duration::from_secs_f64(seconds);
        let show = |text: &str| cx.progress.update(partial(text));
        let finished = run::to_the_end(child, sink, patience, &cx.cancel, show).await?;

        let mut notices = Vec::new();
        if let Some(leftover) = finished.leftover {
            notices.push("Background processes are still running; they end with this session, and what they print from now on is lost.".to_owned());
            self.reaper.adopt(leftover);
        }
        if seconds != requested {
            notices.push(format!("The timeout was set to {seconds} seconds ({requested} is out of bounds)."));
        }
        let details = BashDetails {
            timeout_seconds: seconds as u64,
            requested_timeout_seconds: (seconds != requested).then_some(requested),
            wall_time_ms: finished.wall_time.as_secs_f64() * 1000.0,
            ..BashDetails::default()
        };
        Ok(report(finished.summary, &finished.end, &notices, details))
    }

    fn render(params: &BashParams, outcome: Outcome<&BashDetails>) -> View {
        render::view(params, outcome)
    }
}

fn partial(text: &str) -> ToolOutput {
    let details = Some(serde_json::Value::Object(serde_json::Map::new()));
    ToolOutput { content: vec![Content::text(text)], details, is_error: false }
}

fn report(summary: Summary, end: &End, notices: &[String], mut details: BashDetails) -> Output<BashDetails> {
    let output = if summary.text.is_empty() { "(no output)" } else { &summary.text };
    let mut text = format!("{output}\n\nWall time: {:.2} seconds", details.wall_time_ms / 1000.0);
    for notice in notices {
        text.push('\n');
        text.push_str(notice);
    }
    let failure = match end {
        End::Exited(exit) if exit.code == 0 => None,
        End::Exited(exit) => {
            details.exit_code = Some(exit.code);
            let signal = exit.signal.map(|signal| format!(" (killed by signal {signal})")).unwrap_or_default();
            Some(format!("Command exited with code {}{signal}", exit.code))
        }
        End::TimedOut => {
            details.timed_out = true;
            Some(format!("Command timed out after {} seconds", details.timeout_seconds))
        }
    };
    details.meta = summary.truncation.map(|truncation| OutputMeta { truncation: Some(truncation) });
    match failure {
        Some(failure) => Output::text(format!("{text}\n\n{failure}"), details).failed(),
        None => Output::text(text, details),
    }
}

#[cfg(test)]
mod tests;
