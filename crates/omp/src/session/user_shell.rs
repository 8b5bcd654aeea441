//! Runs what the user types after `!` in the shell that the model's commands share, and after `$` in a separate Python.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_exec::Containment;
use omp_session::{OutputSizes, ShellRun, UserShell};
use omp_tools::{Artifacts, UserCommand, UserPython};
use omp_types::Env;
use tokio_util::sync::CancellationToken;

pub struct UserTerminal(pub omp_tools::SessionShell);

impl UserShell for UserTerminal {
    fn run<'a>(
        &'a self,
        command: &'a str,
        progress: &'a (dyn Fn(&str) + Send + Sync),
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<ShellRun, String>> {
        async move {
            let started = Instant::now();
            let done = self.0.run(command, &cancel, progress).await.map_err(|error| error.to_string())?;
            Ok(told(done, started))
        }
        .boxed()
    }
}

pub struct UserInterpreter(UserPython);

impl UserInterpreter {
    pub fn new(env: Env, cwd: PathBuf, artifacts: Arc<dyn Artifacts>) -> Self {
        Self(UserPython::new(env, cwd, artifacts, Containment::of_user()))
    }
}

impl UserShell for UserInterpreter {
    fn run<'a>(
        &'a self,
        code: &'a str,
        progress: &'a (dyn Fn(&str) + Send + Sync),
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<ShellRun, String>> {
        async move {
            let started = Instant::now();
            Ok(told(self.0.run(code, &cancel, progress).await?, started))
        }
        .boxed()
    }
}

fn told(done: UserCommand, started: Instant) -> ShellRun {
    let sizes = |[(total_lines, total_bytes), (shown_lines, shown_bytes)]: [(u64, u64); 2]| OutputSizes {
        total_lines,
        total_bytes,
        shown_lines,
        shown_bytes,
    };
    ShellRun {
        working_dir: Some(done.working_dir),
        sizes: done.sizes.map(sizes),
        output: done.output,
        exit_code: done.exit_code,
        cancelled: done.cancelled,
        truncated: done.truncated,
        artifact_id: done.artifact_id,
        notices: done.notices,
        took: started.elapsed(),
    }
}
