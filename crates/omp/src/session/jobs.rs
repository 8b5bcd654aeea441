//! Notifies the model and the user when background commands end.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use omp_session::{BackgroundJobs, FeatureMessage, JobEnded, SessionCx, SessionFeature, ToolOutcome};
use omp_tools::{EndedJob, Jobs};

/// Adapts the jobs to the trait through which a session waits for their end.
pub fn watched(jobs: &Arc<Jobs>) -> Arc<dyn BackgroundJobs> {
    Arc::new(JobWatcher(jobs.clone()))
}

struct JobWatcher(Arc<Jobs>);

impl BackgroundJobs for JobWatcher {
    fn next_end(&self) -> BoxFuture<'_, JobEnded> {
        let ended = self.0.next_end();
        ended.map(|EndedJob { id, command, status, duration }| JobEnded { id, status, command, duration }).boxed()
    }
}

pub struct JobNews {
    pub jobs: Arc<Jobs>,
}

impl JobNews {
    fn take(&self) -> Option<FeatureMessage> {
        let text = self.jobs.take_news()?;
        Some(FeatureMessage::new("async-result", text))
    }
}

impl SessionFeature for JobNews {
    fn news(&self) -> Option<FeatureMessage> {
        self.take()
    }

    fn after_call<'a>(
        &'a self,
        _cx: &'a SessionCx,
        _outcome: &'a mut ToolOutcome,
    ) -> BoxFuture<'a, Option<FeatureMessage>> {
        ready(self.take()).boxed()
    }

    fn before_finish<'a>(&'a self, _cx: &'a SessionCx) -> BoxFuture<'a, Option<FeatureMessage>> {
        ready(self.take()).boxed()
    }
}
