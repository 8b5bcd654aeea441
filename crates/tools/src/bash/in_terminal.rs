//! Runs a command in a terminal that the user works with: output goes to the screen, keys and sizes come from it.

use std::time::Duration;

use omp_agent::ToolError;
use omp_exec::{Child, Pty, Spawn, TerminalSize};
use omp_types::{CommandScreen, ScreenEvent, ScreenSize};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::run::{ABORT_GRACE, CommandEnd, FinishedCommand, READ_BYTES, STOP_GRACE, lost};
use crate::output_sink::OutputSink;

/// Input that a program has not read yet; what is typed beyond this is dropped.
const MOST_INPUT: usize = 1024 * 1024;
/// Maximum bytes of output that are shown before keys are read again.
const BURST: usize = 64 * 1024;
/// Time between the request to end and the kill, after the user left: an editor saves what was typed.
const HAND_BACK_GRACE: Duration = Duration::from_millis(500);

/// Runs the command to its end. Dropping the future kills it.
pub(super) async fn to_the_end(
    spawn: Spawn,
    mut screen: Box<dyn CommandScreen>,
    mut sink: OutputSink,
    patience: Duration,
    cancel: &CancellationToken,
) -> Result<FinishedCommand, ToolError> {
    let started = Instant::now();
    let failed = |error| ToolError::reply(format!("PTY error: {error}\n\nCommand failed: missing exit status"));
    let (mut child, pty) = spawn.start_in_terminal(terminal_size(screen.size())).map_err(failed)?;
    let mut keyboard = Keyboard { pty, waiting: Vec::new() };
    let stopped = tokio::select! {
        biased;
        () = cancel.cancelled() => Some(CommandEnd::Cancelled),
        () = sleep_until(started + patience) => Some(CommandEnd::TimedOut),
        end = serve(&mut child, &mut keyboard, &mut *screen, &mut sink) => end.map_err(lost)?,
    };
    if let Some(end) = stopped {
        push(&mut sink, &screen.close());
        let grace = match end {
            CommandEnd::Cancelled => ABORT_GRACE,
            CommandEnd::HandedBack => HAND_BACK_GRACE,
            _ => STOP_GRACE,
        };
        // What it prints while it ends is not on the screen that the user left.
        child.stop(grace, |_| {}).await;
        return Ok(finished(end, None, sink, started));
    }
    // A command may close its terminal long before it ends.
    let end = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(CommandEnd::Cancelled),
        () = sleep_until(started + patience) => Err(CommandEnd::TimedOut),
        () = hands_back(&mut *screen) => Err(CommandEnd::HandedBack),
        done = child.finish() => Ok(done.map_err(lost)?),
    };
    push(&mut sink, &screen.close());
    Ok(match end {
        Err(end) => finished(end, None, sink, started),
        Ok(done) => {
            let end = done.overran.map_or(CommandEnd::Exited(done.exit), CommandEnd::Overran);
            finished(end, done.leftover, sink, started)
        }
    })
}

fn finished(
    end: CommandEnd,
    leftover: Option<omp_exec::Leftover>,
    sink: OutputSink,
    started: Instant,
) -> FinishedCommand {
    FinishedCommand { end, summary: sink.finish(), wall_time: started.elapsed(), leftover }
}

/// The input side of the terminal. A program that does not read must not keep its output from being shown.
struct Keyboard {
    pty: Pty,
    waiting: Vec<u8>,
}

impl Keyboard {
    fn press(&mut self, bytes: &[u8]) {
        if self.waiting.len() + bytes.len() <= MOST_INPUT {
            self.waiting.extend_from_slice(bytes);
        }
    }

    /// Writes some of what waits. Dropping the future loses nothing.
    async fn write(&mut self) {
        match self.pty.write_some(&self.waiting).await {
            Ok(written) => drop(self.waiting.drain(..written)),
            // The program has closed its terminal, so nobody will read it.
            Err(_) => self.waiting.clear(),
        }
    }
}

/// Carries output, keys and sizes until the output ends (`None`) or the user leaves.
async fn serve(
    child: &mut Child,
    keyboard: &mut Keyboard,
    screen: &mut dyn CommandScreen,
    sink: &mut OutputSink,
) -> std::io::Result<Option<CommandEnd>> {
    let mut buffer = vec![0; READ_BYTES];
    let mut shown = 0;
    loop {
        tokio::select! {
            biased;
            event = screen.next() => match event {
                ScreenEvent::Input(bytes) => keyboard.press(&bytes),
                // A terminal that is already closed has no size.
                ScreenEvent::Resized(size) => _ = keyboard.pty.resize(terminal_size(size)),
                ScreenEvent::HandedBack => return Ok(Some(CommandEnd::HandedBack)),
            },
            () = keyboard.write(), if !keyboard.waiting.is_empty() => {}
            read = child.read(&mut buffer) => match read? {
                0 => return Ok(None),
                read => {
                    push(sink, &screen.show(&buffer[..read]));
                    shown += read;
                    if shown > BURST {
                        shown = 0;
                        // A flood of output must not keep keys from being read.
                        tokio::task::yield_now().await;
                    }
                }
            },
        }
    }
}

async fn hands_back(screen: &mut dyn CommandScreen) {
    while screen.next().await != ScreenEvent::HandedBack {}
}

fn push(sink: &mut OutputSink, text: &str) {
    if !text.is_empty() {
        sink.push(text.as_bytes());
    }
}

fn terminal_size(ScreenSize { rows, columns }: ScreenSize) -> TerminalSize {
    TerminalSize { rows, columns }
}
