//! Python for code that the user types after `$`: one process per session that keeps its variables.

mod kernel;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_exec::Containment;
use omp_types::Env;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::artifacts::Artifacts;
use crate::bash::UserCommand;
use crate::output_sink::OutputSink;
use kernel::Kernel;

/// Time for a cell to end after an interrupt.
const GRACE: Duration = Duration::from_secs(2);
/// Time between two partial outputs.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// Limits the newest output in a partial result.
const PROGRESS_BYTES: usize = 8 * 1024;
const RESTARTED: &str = "Python was restarted: earlier definitions are lost.";

/// A handle to the session's Python process, which starts on first use.
#[derive(Clone)]
pub struct UserPython {
    env: Env,
    cwd: PathBuf,
    artifacts: Arc<dyn Artifacts>,
    containment: Containment,
    kernel: Arc<Mutex<Option<Kernel>>>,
}

impl UserPython {
    pub fn new(env: Env, cwd: PathBuf, artifacts: Arc<dyn Artifacts>, containment: Containment) -> Self {
        Self { env, cwd, artifacts, containment, kernel: Arc::default() }
    }

    /// Runs one piece of code; `show` receives the newest output periodically. Cancelling keeps the output so far, and the
    /// variables if the code can be interrupted.
    pub fn run<'a>(
        &'a self,
        code: &'a str,
        cancel: &'a CancellationToken,
        show: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<UserCommand, String>> {
        // Boxed, so that it is compiled here and not again with the binary.
        Box::pin(self.run_to_the_end(code, cancel, show))
    }

    async fn run_to_the_end(
        &self,
        code: &str,
        cancel: &CancellationToken,
        show: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<UserCommand, String> {
        let mut held = self.kernel.lock().await;
        let mut cell = CellRun { sink: OutputSink::new(self.artifacts.clone(), "python"), notices: Vec::new() };
        let mut kernel = match held.take() {
            Some(kernel) => kernel,
            None => Kernel::start(&self.env, &self.cwd, &self.containment).map_err(|error| error.to_string())?,
        };
        kernel.send(code).await.map_err(lost)?;
        let end = cell.follow(&mut kernel, cancel, &show).await.map_err(lost)?;
        if end == CellEnd::Gone {
            cell.notices.push(RESTARTED.to_owned());
        } else {
            *held = Some(kernel);
        }
        Ok(cell.into_command(end, self.cwd.clone()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellEnd {
    Done {
        failed: bool,
    },
    Interrupted,
    /// The Python process has ended or was killed.
    Gone,
}

struct CellRun {
    sink: OutputSink,
    notices: Vec<String>,
}

impl CellRun {
    async fn follow(
        &mut self,
        kernel: &mut Kernel,
        cancel: &CancellationToken,
        show: &impl Fn(&str),
    ) -> io::Result<CellEnd> {
        let mut next_progress = Instant::now();
        let mut unseen = false;
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    kernel.interrupt();
                    let ended = timeout(GRACE, self.rest(kernel)).await;
                    return Ok(if matches!(ended, Ok(Ok(CellEnd::Done { .. }))) { CellEnd::Interrupted } else { CellEnd::Gone });
                }
                () = sleep_until(next_progress), if unseen => {
                    show(self.sink.tail(PROGRESS_BYTES));
                    unseen = false;
                    next_progress = Instant::now() + PROGRESS_EVERY;
                }
                heard = kernel.hear() => match self.take(heard?) {
                    Some(end) => return Ok(end),
                    None => unseen = true,
                },
            }
        }
    }

    async fn rest(&mut self, kernel: &mut Kernel) -> io::Result<CellEnd> {
        loop {
            let heard = kernel.hear().await?;
            if let Some(end) = self.take(heard) {
                return Ok(end);
            }
        }
    }

    fn take(&mut self, heard: Option<Vec<kernel::Said>>) -> Option<CellEnd> {
        let Some(said) = heard else { return Some(CellEnd::Gone) };
        let mut end = None;
        for said in said {
            self.sink.push(said.text.as_bytes());
            end = end.or(said.done.then_some(CellEnd::Done { failed: said.failed }));
        }
        end
    }

    fn into_command(self, end: CellEnd, working_dir: PathBuf) -> UserCommand {
        let summary = self.sink.finish();
        let mut ended = UserCommand {
            output: summary.text,
            notices: self.notices,
            working_dir,
            exit_code: match end {
                CellEnd::Done { failed } => Some(i32::from(failed)),
                CellEnd::Interrupted | CellEnd::Gone => None,
            },
            cancelled: end == CellEnd::Interrupted,
            ..UserCommand::default()
        };
        if let Some(cut) = summary.truncation {
            ended.sizes = Some([(cut.total_lines, cut.total_bytes), (cut.output_lines, cut.output_bytes)]);
            (ended.truncated, ended.artifact_id) = (true, cut.artifact_id);
        }
        ended
    }
}

fn lost(error: io::Error) -> String {
    format!("the connection to Python was lost: {error}\nhint: the next line restarts it")
}

#[cfg(test)]
mod tests;
