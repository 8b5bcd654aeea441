//! What the user types after `!`, in the shell that the model's commands share.

use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{ShellRun, UserShell};
use tokio_util::sync::CancellationToken;

pub struct UserTerminal(pub omp_tools::UserShell);

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
            Ok(ShellRun {
                output: done.output,
                exit_code: done.exit_code,
                cancelled: done.cancelled,
                truncated: done.truncated,
                artifact_id: done.artifact_id,
                notices: done.notices,
                took: started.elapsed(),
            })
        }
        .boxed()
    }
}
