//! `jobs://` and `jobs://<id>`: shows background jobs without waiting for them.

use std::sync::Arc;

use super::{Resource, UrlContent, joined};

/// Provides the background jobs of the session. Implemented by their owner.
pub trait JobList: Send + Sync {
    /// Returns the jobs, oldest first.
    fn list(&self) -> Vec<JobLine>;

    /// Returns the state and output so far of one job; `None` if there is no such job.
    fn show(&self, id: &str) -> Option<String>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    pub id: String,
    /// `running`, `completed`, …
    pub status: String,
    /// The command, or another description of the job.
    pub title: String,
}

pub struct JobsResource(pub Arc<dyn JobList>);

impl Resource for JobsResource {
    fn scheme(&self) -> &'static str {
        "jobs"
    }

    fn read(&self, id: &str) -> Result<UrlContent, String> {
        self.0.show(id).map(UrlContent::Text).ok_or_else(|| {
            let ids: Vec<String> = self.0.list().into_iter().map(|job| job.id).collect();
            let available = if ids.is_empty() { "none".to_owned() } else { joined(&ids) };
            format!("Not found: {id}\nAvailable: {available}")
        })
    }

    fn list(&self) -> Result<Vec<String>, String> {
        let line = |job: JobLine| format!("{} [{}] {}", job.id, job.status, one_line(&job.title));
        Ok(self.0.list().into_iter().map(line).collect())
    }
}

fn one_line(title: &str) -> String {
    omp_stdx::display_width::ellipsize(title.lines().next().unwrap_or_default(), 120).into_owned()
}
