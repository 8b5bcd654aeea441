//! A started command, either as a child process or in a terminal of the editor.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use omp_exec::{Child, Finished, ProcessExit};
use omp_types::{EditorExit, EditorTerminal};
use tokio::time::timeout;

/// Dropping this ends the command.
pub(super) trait BashProcess: Send {
    /// Reads the next piece of output; `0` means end of output. Dropping the future loses no output.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Ends the command within about `grace`; `hear` receives the remaining output.
    fn stop(&mut self, grace: Duration, hear: impl FnMut(&[u8]) + Send) -> impl Future<Output = ()> + Send;

    fn finish(self) -> impl Future<Output = io::Result<Finished>> + Send;
}

impl BashProcess for Child {
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        Child::read(self, buffer)
    }

    fn stop(&mut self, grace: Duration, hear: impl FnMut(&[u8]) + Send) -> impl Future<Output = ()> + Send {
        Child::stop(self, grace, hear)
    }

    fn finish(self) -> impl Future<Output = io::Result<Finished>> + Send {
        Child::finish(self)
    }
}

/// A command in an editor terminal. The editor shows the output live; we request it once, when the command has ended.
pub(super) struct InEditor {
    terminal: Arc<dyn EditorTerminal>,
    exit: Option<ProcessExit>,
    output: Option<io::Cursor<String>>,
}

/// Bytes at the end of an output that the editor keeps.
pub(super) const KEPT_BY_EDITOR: u64 = 4 * 1024 * 1024;
/// Time limit for an answer of the editor, which is another program.
const EDITOR_GRACE: Duration = Duration::from_millis(500);
const BEGINNING_LOST: &str = "[the editor kept only the end of the output]\n";

impl InEditor {
    pub(super) fn new(terminal: Arc<dyn EditorTerminal>) -> Self {
        Self { terminal, exit: None, output: None }
    }

    async fn wait(&mut self) -> io::Result<ProcessExit> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        let exit = as_shells_say(self.terminal.exit().await.map_err(io::Error::other)?);
        Ok(*self.exit.insert(exit))
    }

    async fn output(&mut self) -> io::Result<&mut io::Cursor<String>> {
        if self.output.is_none() {
            let said = self.terminal.output().await.map_err(io::Error::other)?;
            let text = if said.truncated { format!("{BEGINNING_LOST}{}", said.text) } else { said.text };
            self.output = Some(io::Cursor::new(text));
        }
        self.output.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl BashProcess for InEditor {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait().await?;
        io::Read::read(self.output().await?, buffer)
    }

    async fn stop(&mut self, grace: Duration, mut hear: impl FnMut(&[u8]) + Send) {
        let grace = grace.max(EDITOR_GRACE);
        // A failure is ignored: releasing the terminal ends the command as well.
        let _ = timeout(grace, self.terminal.kill()).await;
        let _ = timeout(grace, self.wait()).await;
        if let Ok(Ok(output)) = timeout(grace, self.output()).await {
            hear(output.get_ref().as_bytes());
        }
    }

    async fn finish(mut self) -> io::Result<Finished> {
        Ok(Finished { exit: self.wait().await?, leftover: None, overran: None })
    }
}

/// Maps a signal to the exit code 128 + signal, as shells do.
fn as_shells_say(exit: EditorExit) -> ProcessExit {
    let signal = exit.signal.as_deref().and_then(number_of);
    let code = exit.code.unwrap_or_else(|| signal.map_or(1, |signal| 128 + signal));
    ProcessExit { code, signal }
}

/// Parses a signal that an editor gives as a name (`SIGKILL`, `KILL`) or as a number.
fn number_of(signal: &str) -> Option<i32> {
    let known =
        [("HUP", 1), ("INT", 2), ("QUIT", 3), ("ABRT", 6), ("KILL", 9), ("SEGV", 11), ("PIPE", 13), ("TERM", 15)];
    let name = signal.trim().to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    known.iter().find(|(known, _)| *known == name).map(|(_, number)| *number).or_else(|| name.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_as_shells_tell_them() {
        for (code, signal, expect) in [
            (Some(3), None, (3, None)),
            (None, Some("SIGKILL"), (137, Some(9))),
            (None, Some("term"), (143, Some(15))),
            (None, Some("9"), (137, Some(9))),
            (Some(130), Some("SIGINT"), (130, Some(2))),
            (None, Some("strange"), (1, None)),
            (None, None, (1, None)),
        ] {
            let exit = as_shells_say(EditorExit { code, signal: signal.map(str::to_owned) });
            assert_eq!((exit.code, exit.signal), expect, "{code:?} {signal:?}");
        }
    }
}
