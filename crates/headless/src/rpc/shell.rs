//! `bash` and `abort_bash`: commands of the user, whose output is sent to the model.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use omp_session::{Command, OutputSizes, RanBy, ShellRun};
use omp_wire::{BashReply, BashRequest};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::current::Current;
use super::frame::{Outcome, data};

/// The running commands.
#[derive(Default)]
pub struct Shells {
    cancel: Mutex<CancellationToken>,
    pub running: TaskTracker,
}

impl Shells {
    pub async fn run(&self, current: &Current, bash: BashRequest, cancel: CancellationToken) -> Outcome {
        let ran = current.shell.run(&bash.command, &|_| {}, cancel).await?;
        let message = ran.message(RanBy::Shell, &bash.command, false);
        current.session.send(Command::Append(Arc::new(message))).await.map_err(|error| error.to_string())?;
        let sizes = sizes(&ran);
        let working_dir = ran.working_dir.as_ref().map(|folder| folder.to_string_lossy());
        data(&BashReply {
            exit_code: ran.exit_code,
            cancelled: ran.cancelled,
            working_dir: working_dir.as_deref().unwrap_or(&current.header.cwd).into(),
            output: ran.output.as_str().into(),
            truncated: ran.truncated,
            total_lines: sizes.total_lines,
            total_bytes: sizes.total_bytes,
            output_lines: sizes.shown_lines,
            output_bytes: sizes.shown_bytes,
            artifact_id: ran.artifact_id.as_deref().map(Cow::Borrowed),
            notices: Cow::Borrowed(&ran.notices),
        })
    }

    /// Aborts all running commands.
    pub fn abort(&self) {
        std::mem::take(&mut *self.cancel.lock().unwrap_or_else(PoisonError::into_inner)).cancel();
    }

    /// Waits until all commands have ended; aborts them after `patience`.
    pub async fn settle(&self, patience: Duration) {
        self.running.close();
        if tokio::time::timeout(patience, self.running.wait()).await.is_err() {
            self.abort();
            self.running.wait().await;
        }
        self.running.reopen();
    }

    /// Cancelled when all commands should end.
    pub fn token(&self) -> CancellationToken {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Counts lines by their newlines; an empty rest after the last one is no line.
fn sizes(ran: &ShellRun) -> OutputSizes {
    ran.sizes.unwrap_or_else(|| {
        let (lines, bytes) = (ran.output.lines().count() as u64, ran.output.len() as u64);
        OutputSizes { total_lines: lines, total_bytes: bytes, shown_lines: lines, shown_bytes: bytes }
    })
}
