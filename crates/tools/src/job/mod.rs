//! `job`: waits for, shows and cancels background commands.

mod listing;
mod registry;
#[cfg(all(test, unix))]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use omp_agent::{Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_stdx::format;
use omp_view::{CallKind, Status, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bash::TIME_TOLD;

use registry::ShownJob;
pub use registry::{EndedJob, Jobs};

pub struct Job {
    pub jobs: Arc<Jobs>,
    /// The longest time that `poll` waits.
    pub poll_wait: Duration,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JobParams {
    /// Job ids to wait for; empty: all that run.
    pub poll: Option<Vec<String>>,
    /// Job ids to stop.
    pub cancel: Option<Vec<String>>,
    /// Show all jobs.
    pub list: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobDetails {
    pub jobs: Vec<JobState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobState {
    pub id: String,
    pub status: String,
    pub duration_ms: u64,
}

/// Time to wait for the end of a cancelled command, which is asked to end before it is killed.
const CANCEL_WAIT: Duration = Duration::from_secs(5);

impl Tool for Job {
    type Params = JobParams;
    type Plan = JobParams;
    type Details = JobDetails;
    const NAME: &'static str = "job";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Execute;

    fn plan(&self, params: JobParams) -> Planned<JobParams> {
        Planned::new(Tier::Read, params)
    }

    async fn run(&self, params: JobParams, cx: &ToolCx) -> Result<Output<JobDetails>, ToolError> {
        let output = self.answer(params, cx).await?;
        self.jobs.mark_told(output.details.jobs.iter().map(|job| job.id.clone()));
        Ok(output)
    }

    fn render(params: &JobParams, outcome: Outcome<&JobDetails>) -> View {
        let (status, details) = match outcome {
            Outcome::Running => (Status::Running, None),
            Outcome::Done { details, is_error: false } => (Status::Done, Some(details)),
            Outcome::Done { details, is_error: true } => (Status::Failed, Some(details)),
            Outcome::Failed => (Status::Failed, None),
        };
        let title = match params {
            JobParams { cancel: Some(ids), .. } => format!("cancel {}", ids.join(", ")),
            JobParams { poll: Some(ids), .. } if !ids.is_empty() => format!("wait for {}", ids.join(", ")),
            JobParams { poll: Some(_), .. } => "wait for jobs".into(),
            _ => "jobs".into(),
        };
        let notes = details.map(|details| details.jobs.as_slice()).unwrap_or_default();
        let view = View { model_only_from: Some(TIME_TOLD), ..View::new(title, status) };
        notes.iter().map(|job| format!("{} {}", job.id, job.status)).fold(view, View::note)
    }
}
impl Job {
    async fn answer(&self, params: JobParams, cx: &ToolCx) -> Result<Output<JobDetails>, ToolError> {
        if let Some(ids) = params.cancel {
            self.check(&ids)?;
            let stopped: Vec<String> = ids.iter().filter(|id| self.jobs.cancel(id)).cloned().collect();
            self.wait(cx, CANCEL_WAIT, |jobs| named(jobs, &stopped).all(|job| job.status != "running")).await;
            return Ok(full(named(&self.jobs.shown(), &ids)));
        }
        match params.poll {
            Some(ids) => self.poll(ids, cx).await,
            None => Ok(list(&self.jobs.shown())),
        }
    }

    async fn poll(&self, ids: Vec<String>, cx: &ToolCx) -> Result<Output<JobDetails>, ToolError> {
        self.check(&ids)?;
        let ids = if ids.is_empty() { self.running() } else { ids };
        if ids.is_empty() {
            return Ok(list(&self.jobs.shown()));
        }
        self.wait(cx, self.poll_wait, |jobs| named(jobs, &ids).any(|job| job.status != "running")).await;
        let jobs = self.jobs.shown();
        // The output of a running job is shown again, with the rest, when the job ends.
        let nothing_new = named(&jobs, &ids).all(|job| job.status == "running");
        Ok(full(named(&jobs, &ids)).useless_if(nothing_new))
    }

    fn running(&self) -> Vec<String> {
        self.jobs.shown().into_iter().filter(|job| job.status == "running").map(|job| job.id).collect()
    }

    fn check(&self, ids: &[String]) -> Result<(), ToolError> {
        let jobs = self.jobs.shown();
        let Some(unknown) = ids.iter().find(|id| jobs.iter().all(|job| job.id != **id)) else { return Ok(()) };
        let known: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
        let hint =
            if known.is_empty() { "there are no jobs".into() } else { format!("the jobs are {}", known.join(", ")) };
        Err(ToolError::reply(format!("There is no job {unknown}\nhint: {hint}")))
    }

    async fn wait(&self, cx: &ToolCx, patience: Duration, enough: impl Fn(&[ShownJob]) -> bool) {
        let wait = async {
            loop {
                let ended = self.jobs.ended();
                tokio::pin!(ended);
                ended.as_mut().enable();
                if enough(&self.jobs.shown()) {
                    break;
                }
                ended.await;
            }
        };
        tokio::select! {
            () = cx.cancel.cancelled() => {}
            () = wait => {}
            () = tokio::time::sleep(patience) => {}
        }
    }
}

impl Jobs {
    /// Whether a background command is running.
    pub fn any_running(&self) -> bool {
        self.shown().iter().any(|job| job.status == "running")
    }

    /// Lists all jobs for the user, one per line.
    pub fn listed(&self) -> String {
        lines_of(&self.shown())
    }

    /// Returns the jobs that ended since the model last looked, each once.
    pub fn take_news(&self) -> Option<String> {
        let ended = self.take_untold();
        if ended.is_empty() {
            return None;
        }
        let lines: Vec<String> = ended.iter().map(line).collect();
        Some(format!(
            "<system-reminder>\nBackground jobs have ended; `job` with their ids in `poll` shows their output.\n{}\n\
             </system-reminder>",
            lines.join("\n")
        ))
    }
}

fn named<'a>(jobs: &'a [ShownJob], ids: &'a [String]) -> impl Iterator<Item = &'a ShownJob> + Clone {
    jobs.iter().filter(|job| ids.contains(&job.id))
}

fn line(job: &ShownJob) -> String {
    let command = job.command.lines().next().unwrap_or_default();
    format!("{} {} ({}): {command}", job.id, job.status, format::duration(job.for_how_long))
}

fn list(jobs: &[ShownJob]) -> Output<JobDetails> {
    Output::text(lines_of(jobs), details(jobs.iter()))
}

fn lines_of(jobs: &[ShownJob]) -> String {
    let lines: Vec<String> = jobs.iter().map(line).collect();
    if lines.is_empty() { "There are no jobs.".to_owned() } else { lines.join("\n") }
}

/// Shows jobs with their output.
fn full<'a>(jobs: impl Iterator<Item = &'a ShownJob> + Clone) -> Output<JobDetails> {
    let parts: Vec<String> = jobs.clone().map(with_output).collect();
    Output::text(parts.join("\n\n"), details(jobs))
}

fn with_output(job: &ShownJob) -> String {
    format!("{}\n{}", line(job), job.text.trim_end())
}

fn details<'a>(jobs: impl Iterator<Item = &'a ShownJob>) -> JobDetails {
    let state = |job: &ShownJob| JobState {
        id: job.id.clone(),
        status: job.status.to_owned(),
        duration_ms: u64::try_from(job.for_how_long.as_millis()).unwrap_or(u64::MAX),
    };
    JobDetails { jobs: jobs.map(state).collect() }
}
