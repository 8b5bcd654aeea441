//! Tells the model, and the user, which of its background commands have ended.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_config::Settings;
use omp_session::{BackgroundJobs, JobEnded, Reminder, Said, Session, ToolOutcome};
use omp_tools::{EndedJob, Jobs};

/// Has the session tell the ends of its jobs, and go on by itself where the user wants that.
pub fn watch_jobs(session: &Session, jobs: &Arc<Jobs>, settings: &Settings) {
    let wakes = settings.get("async.wakeIdle").unwrap_or(false);
    session.watch_jobs(Arc::new(Watched(jobs.clone())), wakes);
}

/// The jobs as a session watches them.
struct Watched(Arc<Jobs>);

impl BackgroundJobs for Watched {
    fn next_end(&self) -> BoxFuture<'_, JobEnded> {
        let ended = self.0.next_end();
        ended.map(|EndedJob { id, command, status, duration }| JobEnded { id, status, command, duration }).boxed()
    }
}

pub struct JobNews {
    pub jobs: Arc<Jobs>,
}

impl JobNews {
    fn news(&self) -> Option<Said> {
        let text = self.jobs.take_news()?;
        Some(Said { custom_type: "async-result".to_owned(), text, event: None })
    }
}

impl Reminder for JobNews {
    fn with_prompt(&self) -> Option<Said> {
        self.news()
    }

    fn after_call(&self, _outcome: &ToolOutcome) -> Option<Said> {
        self.news()
    }

    fn before_finish(&self) -> Option<Said> {
        self.news()
    }
}
