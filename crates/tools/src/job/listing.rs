//! The jobs behind `jobs://`.

use omp_stdx::format;

use super::registry::{Jobs, ShownJob};
use crate::urls::{JobLine, JobList};

impl JobList for Jobs {
    fn list(&self) -> Vec<JobLine> {
        let line = |job: ShownJob| JobLine { id: job.id, status: job.status.to_owned(), title: job.command };
        self.shown().into_iter().map(line).collect()
    }

    fn show(&self, id: &str) -> Option<String> {
        let job = self.shown().into_iter().find(|job| job.id == id)?;
        let so_far = if job.status == "running" { "newest output" } else { "result" };
        let head = format!("{} [{}, {}] {}", job.id, job.status, format::duration(job.for_how_long), job.command);
        Some(if job.text.is_empty() { head } else { format!("{head}\n{so_far}:\n{}", job.text) })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Arc;

    use omp_agent::ToolCx;
    use omp_types::Env;
    use serde_json::json;

    use super::*;
    use crate::bash::{Bash, BashOptions, BashParts};
    use crate::job::Job;

    #[tokio::test]
    async fn a_job_is_seen_while_it_runs_and_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin")].into_iter().collect();
        let options = BashOptions { jobs: true, ..BashOptions::default() };
        let jobs = Arc::new(Jobs::new(1));
        assert!(jobs.list().is_empty() && jobs.show("bash-1").is_none());
        let parts = BashParts::uncontained(folder.path(), env);
        let bash = Bash::new(BashParts { options: options.clone(), jobs: jobs.clone(), ..parts });
        let cx = ToolCx::detached("call");
        let command = "while [ ! -e go ]; do sleep 0.01; done; echo finished";
        crate::scratch::run(&bash, json!({"command": command, "async": true}), &cx).await.unwrap();
        let line = JobLine { id: "bash-1".into(), status: "running".into(), title: command.into() };
        assert_eq!(jobs.list(), [line]);
        assert!(jobs.show("bash-1").unwrap().starts_with("bash-1 [running, "));
        std::fs::write(folder.path().join("go"), "").unwrap();
        let job = Job { jobs: jobs.clone(), poll_wait: options.poll_wait };
        crate::scratch::run(&job, json!({"poll": ["bash-1"]}), &cx).await.unwrap();
        let shown = jobs.show("bash-1").unwrap();
        assert!(
            shown.starts_with("bash-1 [completed, ") && shown.contains("result:\n") && shown.contains("finished"),
            "{shown}"
        );
    }
}
