//! Tests background jobs from `bash` to `job`, with real commands.

use omp_agent::{AnyTool, ToolOutput};
use omp_types::{Content, Env};
use serde_json::{Value, json};

use super::*;
use crate::bash::{Bash, BashOptions, BashParts};

fn tools(folder: &std::path::Path, options: BashOptions) -> (Bash, Job) {
    let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin")].into_iter().collect();
    let jobs = Arc::new(Jobs::new(options.max_jobs));
    let poll_wait = options.poll_wait;
    let bash = Bash::new(BashParts { options, jobs: jobs.clone(), ..BashParts::uncontained(folder, env) });
    (bash, Job { jobs, poll_wait })
}

fn on() -> BashOptions {
    BashOptions { jobs: true, max_jobs: 2, ..BashOptions::default() }
}

async fn call(tool: &dyn AnyTool, arguments: Value) -> Result<ToolOutput, ToolError> {
    crate::scratch::run(tool, arguments, &ToolCx::detached("call")).await
}

async fn says(tool: &dyn AnyTool, arguments: Value) -> String {
    match call(tool, arguments).await {
        Ok(output) => output.content.iter().filter_map(Content::as_text).collect(),
        Err(error) => format!("ERROR {error}"),
    }
}

#[tokio::test]
async fn a_job_is_started_waited_for_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, job) = tools(folder.path(), on());
    let command = "echo begun; while [ ! -e go ]; do sleep 0.01; done; echo finished; exit 3";
    let started = says(&bash, json!({"command": command, "async": true})).await;
    assert!(started.starts_with("Running in the background as job bash-1."), "{started}");
    assert!(says(&job, json!({})).await.starts_with("bash-1 running ("));
    std::fs::write(folder.path().join("go"), "").unwrap();
    let told = says(&job, json!({"poll": []})).await;
    assert!(told.starts_with("bash-1 failed (") && told.contains("begun\nfinished\n"), "{told}");
    assert!(told.ends_with("Command exited with code 3"), "{told}");
    assert!(says(&job, json!({"poll": []})).await.starts_with("bash-1 failed"));
}

#[tokio::test]
async fn the_end_of_a_job_is_news_once_unless_it_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, job) = tools(folder.path(), on());
    let ends = async || {
        let ended = job.jobs.ended();
        call(&bash, json!({"command": "true", "async": true})).await.unwrap();
        ended.await;
    };
    assert_eq!(job.jobs.take_news(), None);
    ends().await;
    let news = job.jobs.take_news().unwrap();
    assert!(news.contains("\nbash-1 completed (") && news.contains("): true\n"), "{news}");
    assert_eq!(job.jobs.take_news(), None);
    ends().await;
    call(&job, json!({"list": true})).await.unwrap();
    assert_eq!(job.jobs.take_news(), None, "the list has shown it");
}

#[tokio::test]
async fn jobs_are_bounded_and_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, job) = tools(folder.path(), on());
    for _ in 0..2 {
        call(&bash, json!({"command": "sleep 300", "async": true})).await.unwrap();
    }
    let refused = says(&bash, json!({"command": "sleep 300", "async": true})).await;
    assert!(refused.starts_with("ERROR 2 background jobs are already running\nhint:"), "{refused}");
    let cancelled = says(&job, json!({"cancel": ["bash-1"]})).await;
    assert!(cancelled.starts_with("bash-1 cancelled ("), "{cancelled}");
    assert!(cancelled.ends_with(" s; the command had printed nothing"), "{cancelled}");
    call(&bash, json!({"command": "sleep 300", "async": true})).await.unwrap();
    let unknown = says(&job, json!({"poll": ["bash-9"]})).await;
    assert_eq!(unknown, "ERROR There is no job bash-9\nhint: the jobs are bash-1, bash-2, bash-3");
}

#[tokio::test]
async fn a_slow_command_goes_to_the_background_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let after = |time| BashOptions { background_after: Some(time), ..on() };
    let (bash, _job) = tools(folder.path(), after(Duration::from_secs(600)));
    assert!(says(&bash, json!({"command": "echo quick"})).await.starts_with("quick\n"));
    let (bash, job) = tools(folder.path(), after(Duration::from_millis(1)));
    let slow = "while [ ! -e go ]; do sleep 0.01; done; echo slow";
    assert!(says(&bash, json!({"command": slow})).await.contains("as job bash-1"));
    std::fs::write(folder.path().join("go"), "").unwrap();
    assert!(says(&job, json!({"poll": ["bash-1"]})).await.contains("\nslow\n"));
}

#[tokio::test]
async fn jobs_end_with_the_session_and_need_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, job) = tools(folder.path(), on());
    let command = "echo $$ > pid.part; mv pid.part pid; sleep 300";
    call(&bash, json!({"command": command, "async": true})).await.unwrap();
    let pid = loop {
        match std::fs::read_to_string(folder.path().join("pid")) {
            Ok(pid) => break pid.trim().to_owned(),
            Err(_) => tokio::task::yield_now().await,
        }
    };
    drop((bash, job));
    let (bash, _job) = tools(folder.path(), BashOptions::default());
    let gone = async {
        while call(&bash, json!({"command": format!("kill -0 {pid}")})).await.is_ok_and(|output| !output.is_error) {}
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.unwrap();
    let off = says(&bash, json!({"command": "true", "async": true})).await;
    assert!(off.starts_with("ERROR Async bash execution is disabled.\nhint:"), "{off}");
}

#[tokio::test]
async fn waiting_in_vain_is_useless_and_an_end_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, mut job) = tools(folder.path(), on());
    let command = "while [ ! -e go ]; do sleep 0.01; done";
    call(&bash, json!({"command": command, "async": true})).await.unwrap();
    job.poll_wait = Duration::ZERO;
    assert!(call(&job, json!({"poll": []})).await.unwrap().useless);
    assert!(!call(&job, json!({"list": true})).await.unwrap().useless);
    std::fs::write(folder.path().join("go"), "").unwrap();
    job.poll_wait = on().poll_wait;
    assert!(!call(&job, json!({"poll": []})).await.unwrap().useless);
}
