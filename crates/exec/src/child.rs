//! A running child: its output in order, its end, and the end of all it started.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use omp_contain::TreeGuard;
use tokio::time::timeout;

use crate::guard::ResourceGuard;
use crate::platform::{self, OutputPipe, Tree};
use crate::spawn::Overrun;

/// How long the output may stay silent after the main process has ended while something still holds the pipe.
const DRAIN_IDLE: Duration = Duration::from_millis(150);
/// How long the output is read at most after the main process has ended.
const DRAIN_MAX: Duration = Duration::from_secs(2);
/// Bytes asked for at a time by those who do not bring a buffer of their own.
const CHUNK: usize = 16 * 1024;

/// A running process. Dropping it kills it and everything it started, at once.
#[derive(Debug)]
pub struct Child {
    process: platform::Process,
    output: OutputPipe,
    tree: Tree,
    /// Set once the main process has ended.
    ended: Option<(ProcessExit, Instant)>,
    /// False once the child has been handed over to [`Finished`].
    armed: bool,
    guard: Option<ResourceGuard>,
    /// What containment needs as long as anything of the tree runs.
    kept: TreeGuard,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessExit {
    /// As a shell reports it: 128 plus the signal for a process that was killed.
    pub code: i32,
    pub signal: Option<i32>,
}

/// A process that has ended, and what it left behind.
#[derive(Debug)]
pub struct Finished {
    pub exit: ProcessExit,
    /// Processes of its group that still run. They die when this is dropped: give it to a [`crate::Reaper`] to keep them.
    pub leftover: Option<Leftover>,
    /// See [`Child::overran`].
    pub overran: Option<Overrun>,
}

/// Background processes whose command has finished.
#[derive(Debug)]
pub struct Leftover {
    pub(crate) tree: Tree,
    pub(crate) output: OutputPipe,
    pub(crate) guard: Option<ResourceGuard>,
    pub(crate) kept: TreeGuard,
}

/// What [`crate::Spawn::capture`] brings back.
#[derive(Debug)]
pub struct Captured {
    pub output: Vec<u8>,
    /// True when there was more than the limit.
    pub truncated: bool,
    /// `None` when the deadline passed first.
    pub exit: Option<ProcessExit>,
}

impl Child {
    pub(crate) fn new(
        process: platform::Process,
        output: OutputPipe,
        tree: Tree,
        guard: Option<ResourceGuard>,
        kept: TreeGuard,
    ) -> Self {
        Self { process, output, tree, ended: None, armed: true, guard, kept }
    }

    /// The process id; the id of its group as well.
    pub fn id(&self) -> u32 {
        self.tree.id()
    }

    /// The limit that its tree was killed for, if it was.
    pub fn overran(&self) -> Option<Overrun> {
        self.guard.as_ref().and_then(|guard| guard.overran)
    }

    /// Reads the next piece of output. `0` means there is no more: the pipe was closed, or the main process has ended
    /// and what still holds the pipe open has been silent for a moment. Dropping the future loses nothing.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ended.is_none() {
            let leader = self.leader();
            tokio::select! {
                biased;
                () = next_look(&mut self.guard) => look(&mut self.guard, &self.tree, leader),
                read = self.output.read(buffer) => return read,
                status = self.process.wait() => self.ended = Some((ProcessExit::from(status?), Instant::now())),
            }
        }
        let since = self.ended.map(|(_, at)| at.elapsed()).unwrap_or_default();
        let patience = DRAIN_IDLE.min(DRAIN_MAX.saturating_sub(since));
        timeout(patience, self.output.read(buffer)).await.unwrap_or(Ok(0))
    }

    /// What ctrl+c in a terminal would do to it. Where there is no such thing nothing happens.
    pub fn interrupt(&self) {
        if self.ended.is_none() {
            self.tree.interrupt();
        }
    }

    /// Waits for the main process to end, whatever it has left behind. Dropping the future loses nothing.
    pub async fn wait(&mut self) -> io::Result<ProcessExit> {
        if let Some((exit, _)) = self.ended {
            return Ok(exit);
        }
        let exit = ProcessExit::from(self.wait_on_guard().await?);
        self.ended = Some((exit, Instant::now()));
        Ok(exit)
    }

    /// Waits for the main process to end. Output that was not read yet is lost.
    pub async fn finish(mut self) -> io::Result<Finished> {
        let exit = self.wait().await?;
        let mut goes_on = self.tree.has_members();
        if goes_on {
            // Helpers such as those of `<(…)` end a moment after the shell that does not wait for them.
            tokio::time::sleep(DRAIN_IDLE).await;
            look(&mut self.guard, &self.tree, platform::Leader::Reaped);
            goes_on = self.tree.has_members();
        }
        self.armed = false;
        let overran = self.overran();
        let leftover = (overran.is_none() && goes_on).then(|| Leftover {
            tree: self.tree.clone(),
            output: std::mem::take(&mut self.output),
            guard: self.guard.take(),
            kept: std::mem::take(&mut self.kept),
        });
        if leftover.is_none() {
            self.tree.has_ended();
        }
        Ok(Finished { exit, leftover, overran })
    }

    /// Asks the whole tree to end, gives it `grace`, then kills what is left. Goes on reading meanwhile, so that last
    /// words are heard by `hear` and nobody blocks on a full pipe.
    pub async fn stop(&mut self, grace: Duration, mut hear: impl FnMut(&[u8])) {
        self.tree.terminate(self.leader());
        let mut buffer = vec![0; CHUNK];
        let listen = async {
            while let Ok(read @ 1..) = self.read(&mut buffer).await {
                hear(&buffer[..read]);
            }
            if self.ended.is_none() {
                // An error here means that there is nothing to wait for any more.
                let _ = self.process.wait().await;
            }
        };
        let _ = timeout(grace, listen).await;
        self.kill(grace).await;
    }

    /// Ends all but the process itself, politely first, then everything.
    pub(crate) async fn end_descendants(mut self, grace: Duration) {
        const LOOK_EVERY: Duration = Duration::from_millis(10);
        let wait = async {
            while self.tree.terminate_descendants() > 0 {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let _ = timeout(grace, wait).await;
        self.kill(grace).await;
    }

    /// Kills the whole tree and waits for the main process: where nobody does, a dead one stays in the process table until
    /// omp has something else to do.
    async fn kill(&mut self, patience: Duration) {
        self.tree.kill(self.leader());
        if self.ended.is_none()
            && let Ok(Ok(status)) = timeout(patience, self.process.wait()).await
        {
            self.ended = Some((ProcessExit::from(status), Instant::now()));
        }
        self.armed = self.ended.is_none();
    }

    pub(crate) async fn capture(mut self, limit: usize, deadline: Duration) -> io::Result<Captured> {
        let (mut output, mut truncated) = (Vec::new(), false);
        let read_all = async {
            let mut buffer = vec![0; CHUNK];
            loop {
                match self.read(&mut buffer).await? {
                    0 => break,
                    read => {
                        let kept = read.min(limit - output.len());
                        output.extend_from_slice(&buffer[..kept]);
                        truncated |= kept < read;
                    }
                }
            }
            self.finish().await.map(|finished| finished.exit)
        };
        let exit = timeout(deadline, read_all).await.ok().transpose()?;
        Ok(Captured { output, truncated, exit })
    }

    async fn wait_on_guard(&mut self) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                status = self.process.wait() => return status,
                () = next_look(&mut self.guard) => look(&mut self.guard, &self.tree, platform::Leader::Ours),
            }
        }
    }

    fn leader(&self) -> platform::Leader {
        if self.ended.is_some() { platform::Leader::Reaped } else { platform::Leader::Ours }
    }
}

pub(crate) async fn next_look(guard: &mut Option<ResourceGuard>) {
    match guard {
        Some(guard) => guard.next_look().await,
        None => std::future::pending().await,
    }
}

pub(crate) fn look(guard: &mut Option<ResourceGuard>, tree: &Tree, leader: platform::Leader) {
    if let Some(guard) = guard {
        guard.look(tree, leader);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.armed {
            self.tree.kill(self.leader());
        }
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        self.tree.kill(platform::Leader::Reaped);
    }
}

impl From<ExitStatus> for ProcessExit {
    fn from(status: ExitStatus) -> Self {
        let signal = platform::signal_of(status);
        let code = status.code().unwrap_or_else(|| 128 + signal.unwrap_or_default());
        Self { code, signal }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{ChildEnv, Spawn};

    #[tokio::test]
    async fn what_was_ended_is_not_left_in_the_process_table() {
        let env = ChildEnv::unattended(&[("PATH", "/usr/bin:/bin")].into_iter().collect());
        let spawn = Spawn::new("sleep", env, &omp_contain::Containment::none()).arg("600");
        let child = spawn.start().unwrap();
        let entry = format!("/proc/{}", child.id());
        assert!(std::fs::exists(&entry).unwrap());
        child.end_descendants(Duration::from_secs(60)).await;
        assert!(!std::fs::exists(&entry).unwrap());
    }
}
