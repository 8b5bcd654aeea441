//! `bash` and `abort_bash`: what the user runs beside the model, which hears of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use omp_session::{Command, ShellRun};
use omp_types::{Message, OtherMessage, now_ms};
use serde::{Deserialize, Serialize};
use serde_json::json;
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

#[derive(Deserialize)]
pub struct Bash {
    command: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ran<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    cancelled: bool,
    working_dir: &'a str,
    output: &'a str,
    truncated: bool,
    total_lines: usize,
    total_bytes: usize,
    output_lines: usize,
    output_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_id: Option<&'a str>,
    /// Ours: what the user is to know besides.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notices: &'a [String],
}

impl Shells {
    pub async fn run(&self, current: &Current, bash: Bash) -> Outcome {
        let cancel = self.token().child_token();
        let ran = current.shell.run(&bash.command, &|_| {}, cancel).await?;
        let message = recorded(&bash.command, &ran);
        current.session.send(Command::Append(Arc::new(message))).await.map_err(|error| error.to_string())?;
        let (lines, bytes) = (ran.output.split('\n').count(), ran.output.len());
        data(&Ran {
            exit_code: ran.exit_code,
            cancelled: ran.cancelled,
            working_dir: &current.header.cwd,
            output: &ran.output,
            truncated: ran.truncated,
            total_lines: lines,
            total_bytes: bytes,
            output_lines: lines,
            output_bytes: bytes,
            artifact_id: ran.artifact_id.as_deref(),
            notices: &ran.notices,
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

    fn token(&self) -> CancellationToken {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn recorded(command: &str, ran: &ShellRun) -> Message {
    let role = "bashExecution".to_owned();
    let mut value = json!({
        "role": role,
        "command": command,
        "output": ran.output,
        "exitCode": ran.exit_code,
        "cancelled": ran.cancelled,
        "truncated": ran.truncated,
        "timestamp": now_ms(),
    });
    if ran.exit_code.is_none()
        && let Some(fields) = value.as_object_mut()
    {
        fields.remove("exitCode");
    }
    Message::Other(OtherMessage { role, value })
}
