//! A running child process: reads its output in order, waits for its exit, and ends its process tree.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use omp_contain::TreeGuard;
use tokio::time::timeout;

use crate::guard::ResourceGuard;
use crate::platform::{self, OutputPipe, Tree};
use crate::spawn::Overrun;

/// How long the output may be silent after the main process has exited while another process still holds the pipe.
const DRAIN_IDLE: Duration = Duration::from_millis(150);
/// How long the output is read at most after the main process has exited.
const DRAIN_MAX: Duration = Duration::from_secs(2);
/// Bytes read at a time if the caller provides no buffer.
const CHUNK: usize = 16 * 1024;

/// A running process. Dropping it immediately kills it and all its descendants.
#[derive(Debug)]
pub struct Child {
    process: platform::Process,
    output: OutputPipe,
    tree: Tree,
    /// Set once the main process has exited.
    ended: Option<(ProcessExit, Instant)>,
    /// False once the child has been handed over to [`Finished`].
    armed: bool,
    guard: Option<ResourceGuard>,
    /// Resources that containment needs as long as any process of the tree runs.
    kept: TreeGuard,
}

/// The exit of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessExit {
    /// The exit code as a shell reports it: 128 plus the signal number for a killed process.
    pub code: i32,
    pub signal: Option<i32>,
}

/// A process that has exited, and the processes that it left behind.
#[derive(Debug)]
pub struct Finished {
    pub exit: ProcessExit,
    /// Processes of its group that still run. They are killed when this is dropped; pass it to a [`crate::Reaper`] to keep
    /// them.
    pub leftover: Option<Leftover>,
    /// See [`Child::overran`].
    pub overran: Option<Overrun>,
}

/// Background processes whose command has exited.
#[derive(Debug)]
pub struct Leftover {
    pub(crate) tree: Tree,
    pub(crate) output: OutputPipe,
    pub(crate) guard: Option<ResourceGuard>,
    pub(crate) kept: TreeGuard,
}

/// The result of [`crate::Spawn::capture`].
#[derive(Debug)]
pub struct Captured {
    pub output: Vec<u8>,
    /// True if there was more output than the limit.
    pub truncated: bool,
    /// `None` if the deadline passed first.
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

    /// The process id, which is also the process group id.
    pub fn id(&self) -> u32 {
        self.tree.id()
    }

    /// The limit that its tree was killed for exceeding, if it was.
    pub fn overran(&self) -> Option<Overrun> {
        self.guard.as_ref().and_then(|guard| guard.overran)
    }

    /// Reads the next piece of output. `0` means the end: the pipe was closed, or the main process has exited and the
    /// processes that still hold the pipe have been silent for a moment. Dropping the future loses no data.
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

    /// Interrupts the child like ctrl+c in a terminal. Does nothing on systems without such a signal.
    pub fn interrupt(&self) {
        if self.ended.is_none() {
            self.tree.interrupt();
        }
    }

    /// Waits for the main process to exit, regardless of other processes. Dropping the future loses no data.
    pub async fn wait(&mut self) -> io::Result<ProcessExit> {
        if let Some((exit, _)) = self.ended {
            return Ok(exit);
        }
        let exit = ProcessExit::from(self.wait_on_guard().await?);
        self.ended = Some((exit, Instant::now()));
        Ok(exit)
    }

    /// Waits for the main process to exit. Output that was not read yet is lost.
    pub async fn finish(mut self) -> io::Result<Finished> {
        let exit = self.wait().await?;
        let mut goes_on = self.tree.has_members();
        if goes_on {
            // Helper processes such as those of `<(…)` exit a moment after the shell, which does not wait for them.
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

    /// Terminates the whole tree, waits for `grace`, then kills the rest. Passes output to `hear` meanwhile, so that the
    /// last output is not lost and no process blocks on a full pipe.
    pub async fn stop(&mut self, grace: Duration, mut hear: impl FnMut(&[u8])) {
        self.tree.terminate(self.leader());
        let mut buffer = vec![0; CHUNK];
        let listen = async {
            while let Ok(read @ 1..) = self.read(&mut buffer).await {
                hear(&buffer[..read]);
            }
            if self.ended.is_none() {
                // An error here means that there is no process left to wait for.
                let _ = self.process.wait().await;
            }
        };
        let _ = timeout(grace, listen).await;
        self.kill(grace).await;
    }

    /// Terminates all descendants of the process and, after `grace`, kills the whole tree.
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

    /// Kills the whole tree and waits for the main process. Without the wait, a zombie would stay in the process table.
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
        let spawn = Spawn::new("sleep", env, &omp_contain::Containment::of_user()).arg("600");
        let child = spawn.start().unwrap();
        let entry = format!("/proc/{}", child.id());
        assert!(std::fs::exists(&entry).unwrap());
        child.end_descendants(Duration::from_secs(60)).await;
        assert!(!std::fs::exists(&entry).unwrap());
    }
}
