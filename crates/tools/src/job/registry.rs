//! Background jobs of a session: limited in number, killed when the session ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use omp_agent::ToolError;
use omp_types::Content;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::bash::RunningCommand;

/// All jobs. Dropping this kills the running ones.
pub struct Jobs {
    max_running: usize,
    inner: Mutex<RegisteredJobs>,
    ended: Arc<Notify>,
}

#[derive(Default)]
struct RegisteredJobs {
    count: u64,
    jobs: Vec<RegisteredJob>,
}

struct RegisteredJob {
    id: String,
    command: String,
    started: Instant,
    cancel: CancellationToken,
    tail: Arc<Mutex<String>>,
    state: JobProgress,
    /// The model has seen the end of this job.
    told: bool,
    /// The user has been notified of the end of this job.
    reported: bool,
    _task: Option<AbortOnDropHandle<()>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum JobProgress {
    Running,
    Ended { text: String, status: &'static str, after: Duration },
}

/// A job in the form that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownJob {
    pub id: String,
    pub command: String,
    /// `running`, `completed`, `failed`, `cancelled`
    pub status: &'static str,
    pub for_how_long: Duration,
    /// The whole result of an ended job, or the newest output of a running one.
    pub text: String,
}

/// The end of a job, reported to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedJob {
    pub id: String,
    pub command: String,
    /// `completed`, `failed`, `cancelled`
    pub status: &'static str,
    pub duration: Duration,
}

/// Limits the ended jobs whose result is kept.
const MAX_ENDED: usize = 64;

impl Jobs {
    pub fn new(max_running: usize) -> Self {
        Self { max_running, inner: Mutex::default(), ended: Arc::default() }
    }

    /// Whether another job may start.
    pub(crate) fn check_room(&self) -> Result<(), ToolError> {
        let running = self.lock().jobs.iter().filter(|job| job.state == JobProgress::Running).count();
        if running < self.max_running {
            return Ok(());
        }
        let hint = "hint: wait for one with `job` or cancel one; the setting `async.maxJobs` sets the limit";
        Err(ToolError::reply(format!("{running} background jobs are already running\n{hint}")))
    }

    /// Turns a running command into a job and returns its id.
    pub(crate) fn adopt(self: &Arc<Self>, running: RunningCommand) -> Result<String, ToolError> {
        self.check_room()?;
        let RunningCommand { command, cancel, tail, task } = running;
        let mut inner = self.lock();
        inner.count += 1;
        let id = format!("bash-{}", inner.count);
        let (jobs, name, stopped) = (Arc::downgrade(self), id.clone(), cancel.clone());
        let watch = async move {
            let (text, failed) = match task.await {
                Ok(Ok(output)) => (output.content.iter().filter_map(Content::as_text).collect(), output.is_error),
                Ok(Err(error)) => (error.to_string(), true),
                Err(error) => (error.to_string(), true),
            };
            let status = match failed {
                true if stopped.is_cancelled() => "cancelled",
                true => "failed",
                false => "completed",
            };
            Self::end(&jobs, &name, text, status);
        };
        let task = Some(AbortOnDropHandle::new(tokio::spawn(watch)));
        let started = Instant::now();
        inner.jobs.push(RegisteredJob {
            id: id.clone(),
            command,
            started,
            cancel,
            tail,
            state: JobProgress::Running,
            told: false,
            reported: false,
            _task: task,
        });
        inner.forget_oldest();
        Ok(id)
    }

    /// Asks a job to stop; returns `false` if no running job has this id.
    pub(super) fn cancel(&self, id: &str) -> bool {
        let inner = self.lock();
        let job = inner.jobs.iter().find(|job| job.id == id && job.state == JobProgress::Running);
        job.inspect(|job| job.cancel.cancel()).is_some()
    }

    /// Wakes when a job ends. Create it before checking the jobs, so that no end is missed.
    pub(super) fn ended(&self) -> tokio::sync::futures::Notified<'_> {
        self.ended.notified()
    }

    pub(super) fn shown(&self) -> Vec<ShownJob> {
        self.lock().jobs.iter().map(RegisteredJob::shown).collect()
    }

    /// Marks these jobs as seen by the model in their current state.
    pub(super) fn mark_told(&self, ids: impl Iterator<Item = String>) {
        let ids: Vec<String> = ids.collect();
        let mut inner = self.lock();
        let ended = inner.jobs.iter_mut().filter(|job| job.state != JobProgress::Running);
        ended.filter(|job| ids.contains(&job.id)).for_each(|job| job.told = true);
    }

    /// Waits for the next ended job that [`Jobs::next_end`] has not yet returned.
    pub async fn next_end(&self) -> EndedJob {
        loop {
            let ended = self.ended();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if let Some(job) = self.take_unreported() {
                return job;
            }
            ended.await;
        }
    }

    fn take_unreported(&self) -> Option<EndedJob> {
        let mut inner = self.lock();
        let job = inner.jobs.iter_mut().find(|job| job.state != JobProgress::Running && !job.reported)?;
        job.reported = true;
        let ShownJob { id, command, status, for_how_long, .. } = job.shown();
        Some(EndedJob { id, command, status, duration: for_how_long })
    }

    /// Returns the ended jobs that the model has not seen, each once.
    pub(super) fn take_untold(&self) -> Vec<ShownJob> {
        let mut inner = self.lock();
        let untold = inner.jobs.iter_mut().filter(|job| job.state != JobProgress::Running && !job.told);
        untold
            .map(|job| {
                job.told = true;
                job.shown()
            })
            .collect()
    }

    fn end(jobs: &Weak<Self>, id: &str, text: String, status: &'static str) {
        let Some(jobs) = jobs.upgrade() else { return };
        let mut inner = jobs.lock();
        if let Some(job) = inner.jobs.iter_mut().find(|job| job.id == id) {
            job.state = JobProgress::Ended { text, status, after: job.started.elapsed() };
        }
        drop(inner);
        jobs.ended.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, RegisteredJobs> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RegisteredJobs {
    fn forget_oldest(&mut self) {
        let ended = self.jobs.iter().filter(|job| job.state != JobProgress::Running).count();
        let mut surplus = ended.saturating_sub(MAX_ENDED);
        self.jobs.retain(|job| {
            let forget = surplus > 0 && job.state != JobProgress::Running;
            surplus -= usize::from(forget);
            !forget
        });
    }
}

impl RegisteredJob {
    fn shown(&self) -> ShownJob {
        let (status, for_how_long, text) = match &self.state {
            JobProgress::Running => {
                let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner).clone();
                ("running", self.started.elapsed(), tail)
            }
            JobProgress::Ended { text, status, after } => (*status, *after, text.clone()),
        };
        ShownJob { id: self.id.clone(), command: self.command.clone(), status, for_how_long, text }
    }
}
