//! Runs a command to its end: reads output into the sink, sends the newest output to observers and enforces the timeout.

use std::time::Duration;

use omp_agent::ToolError;
use omp_exec::{Leftover, Overrun, ProcessExit};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::process::BashProcess;
use crate::output_sink::{OutputSink, OutputSummary};

pub(super) enum CommandEnd {
    Exited(ProcessExit),
    TimedOut,
    /// Killed because the call was cancelled.
    Cancelled,
    /// Killed because the user left its terminal.
    HandedBack,
    /// Killed for too many processes or too much memory.
    Overran(Overrun),
}

pub(super) struct FinishedCommand {
    pub end: CommandEnd,
    pub summary: OutputSummary,
    pub wall_time: Duration,
    pub leftover: Option<Leftover>,
}

/// Time between two partial outputs.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// Limits the newest output in a partial result.
const PROGRESS_BYTES: usize = 8 * 1024;
/// Time between the request to end and the kill, after a timeout.
pub(super) const STOP_GRACE: Duration = Duration::from_secs(2);
/// Time between the request to end and the kill, after an abort. Short, but long enough to read the last output.
pub(super) const ABORT_GRACE: Duration = Duration::from_millis(50);
/// The capacity of a pipe.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// Runs the command. Dropping the future kills it. `show` receives the newest output periodically.
pub(super) async fn to_the_end(
    mut child: impl BashProcess,
    mut sink: OutputSink,
    patience: Duration,
    cancel: &CancellationToken,
    show: impl Fn(&str),
) -> Result<FinishedCommand, ToolError> {
    let started = Instant::now();
    let deadline = started + patience;
    let mut buffer = vec![0; READ_BYTES];
    let mut next_progress = started;
    let mut unseen = false;
    let stopped = loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => break Some(CommandEnd::Cancelled),
            () = sleep_until(deadline) => break Some(CommandEnd::TimedOut),
            () = sleep_until(next_progress), if unseen => {
                show(sink.tail(PROGRESS_BYTES));
                unseen = false;
                next_progress = Instant::now() + PROGRESS_EVERY;
            }
            read = child.read(&mut buffer) => match read.map_err(lost)? {
                0 => break None,
                read => {
                    sink.push(&buffer[..read]);
                    unseen = true;
                }
            },
        }
    };
    let finished = |end, leftover, sink: OutputSink| FinishedCommand {
        end,
        summary: sink.finish(),
        wall_time: started.elapsed(),
        leftover,
    };
    if let Some(end) = stopped {
        let grace = if matches!(end, CommandEnd::Cancelled) { ABORT_GRACE } else { STOP_GRACE };
        child.stop(grace, |bytes| sink.push(bytes)).await;
        return Ok(finished(end, None, sink));
    }
    // A command may close its output long before it ends.
    tokio::select! {
        () = cancel.cancelled() => Ok(finished(CommandEnd::Cancelled, None, sink)),
        done = timeout_at(deadline, child.finish()) => match done {
            Ok(done) => {
                let done = done.map_err(lost)?;
                let end = done.overran.map_or(CommandEnd::Exited(done.exit), CommandEnd::Overran);
                Ok(finished(end, done.leftover, sink))
            }
            Err(_) => Ok(finished(CommandEnd::TimedOut, None, sink)),
        },
    }
}

pub(super) fn lost(error: std::io::Error) -> ToolError {
    ToolError::reply(format!("Command failed: missing exit status ({error})"))
}
