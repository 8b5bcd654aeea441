//! `bash` and `abort_bash`: what the user runs beside the model, which hears of it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use omp_session::{Command, OutputSizes, RanBy, ShellRun};
use omp_wire::{BashReply, BashRequest};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::current::Current;
use super::frame::{Outcome, data};

/// The commands that run.
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

    /// Ends every command that runs now.
    pub fn abort(&self) {
        std::mem::take(&mut *self.cancel.lock().unwrap_or_else(PoisonError::into_inner)).cancel();
    }

    /// Ends every command and waits for them; they may end by themselves for so long.
    pub async fn settle(&self, patience: Duration) {
        self.running.close();
        if tokio::time::timeout(patience, self.running.wait()).await.is_err() {
            self.abort();
            self.running.wait().await;
        }
        self.running.reopen();
    }

    /// Cancelled when every command is to end.
    pub fn token(&self) -> CancellationToken {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A line ends with its newline: nothing behind the last one is no line.
fn sizes(ran: &ShellRun) -> OutputSizes {
    ran.sizes.unwrap_or_else(|| {
        let (lines, bytes) = (ran.output.lines().count() as u64, ran.output.len() as u64);
        OutputSizes { total_lines: lines, total_bytes: bytes, shown_lines: lines, shown_bytes: bytes }
    })
}
