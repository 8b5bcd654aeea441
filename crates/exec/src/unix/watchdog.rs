//! Kills omp's children when omp itself is killed.
//!
//! The kernel can notify a direct child only (and only on Linux): grandchildren would live on. So a small shell script
//! waits at the end of a pipe whose other end only omp holds. However omp ends, the pipe closes; the script then kills the
//! registered groups, all processes with omp's mark or tag, and their descendants.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::setsid;

use crate::spawn::owner_mark;

const SCRIPT: &str = include_str!("watchdog.sh");

/// Starts the watchdog unless it runs, and notifies it that a child is about to start, because omp may be killed before the
/// child's group is known. `false` if there is no watchdog: the child must then be tied to omp in another way.
pub(crate) fn expect_child() -> bool {
    with_watchdog(|watchdog| {
        let Some(watchdog) = watchdog else { return false };
        if !watchdog.expects_children {
            watchdog.expects_children = watchdog.pipe.write(b"!\n").is_ok();
        }
        true
    })
}

/// Registers a process group to be killed when omp ends.
pub(crate) fn watch(group: i32) {
    tell(&format!("+{group}\n"));
}

/// Unregisters a process group that has ended.
pub(crate) fn forget(group: i32) {
    tell(&format!("-{group}\n"));
}

/// Registers a folder to be removed with its contents when omp ends.
pub(crate) fn remove_later(folder: &Path) {
    tell_of("", folder);
}

/// Registers a folder to be removed when omp ends, if it is empty.
pub(crate) fn remove_if_empty(folder: &Path) {
    tell_of("=", folder);
}

/// Unregisters the folder.
pub(crate) fn leave(folder: &Path) {
    tell_of("~", folder);
}

/// Sends a line about a folder. Paths that contain a line break cannot be sent.
fn tell_of(what: &str, folder: &Path) {
    if let Some(folder) = folder.to_str().filter(|folder| folder.starts_with('/') && !folder.contains('\n')) {
        tell(&format!("{what}{folder}\n"));
    }
}

struct Watchdog {
    process: Child,
    pipe: io::PipeWriter,
    /// Whether it was notified that there are children.
    expects_children: bool,
}

fn tell(line: &str) {
    with_watchdog(|watchdog| {
        if let Some(watchdog) = watchdog {
            // A full pipe means that the script was stopped; it can still use the marks later. omp never waits for it.
            let _ = watchdog.pipe.write(line.as_bytes());
        }
    });
}

fn with_watchdog<T>(act: impl FnOnce(&mut Option<Watchdog>) -> T) -> T {
    static WATCHDOG: LazyLock<Mutex<Option<Watchdog>>> = LazyLock::new(|| Mutex::new(None));
    let mut watchdog = WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner);
    if watchdog.as_mut().is_none_or(|watchdog| !matches!(watchdog.process.try_wait(), Ok(None))) {
        // Groups registered with a watchdog that was killed are lost; their marks remain.
        *watchdog = start().ok();
    }
    act(&mut watchdog)
}

#[expect(clippy::disallowed_methods, reason = "the only place that starts processes")]
fn start() -> io::Result<Watchdog> {
    let (reader, pipe) = io::pipe()?;
    set_nonblocking(&pipe)?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "omp-watchdog", owner_mark(), &tag()]).env_clear().env("PATH", "/usr/bin:/bin");
    command.current_dir("/").stdin(OwnedFd::from(reader)).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: setsid is async-signal-safe and nothing is allocated.
    unsafe {
        command.pre_exec(|| Ok(setsid().map(drop)?));
    }
    Ok(Watchdog { process: command.spawn()?, pipe, expects_children: false })
}

/// The tag as the script searches for it.
#[cfg(target_os = "linux")]
fn tag() -> String {
    super::tag::pattern()
}

#[cfg(not(target_os = "linux"))]
fn tag() -> String {
    String::new()
}

fn set_nonblocking(pipe: &io::PipeWriter) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(pipe, FcntlArg::F_GETFL)?);
    fcntl(pipe, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "omp-watchdog-test";

    #[expect(clippy::disallowed_methods, reason = "the script is tried without omp around it")]
    fn marked_sleeper() -> Child {
        let mark = format!("{MARK}-{}-1", std::process::id());
        Command::new("sleep").arg("600").env("OMP_SPAWN", mark).stdin(Stdio::null()).spawn().unwrap()
    }

    /// Runs the script with the lines that omp has sent before it was killed.
    #[expect(clippy::disallowed_methods, reason = "the script is tried without omp around it")]
    fn after_omp_has_gone(told: &str) {
        let mark = format!("{MARK}-{}", std::process::id());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "omp-watchdog", &mark, ""]).env_clear().env("PATH", "/usr/bin:/bin");
        let mut script = command.stdin(Stdio::piped()).spawn().unwrap();
        script.stdin.take().unwrap().write_all(told.as_bytes()).unwrap();
        assert!(script.wait().unwrap().success());
    }

    #[test]
    fn a_child_whose_group_was_not_told_yet_is_killed() {
        let mut child = marked_sleeper();
        after_omp_has_gone("");
        assert!(child.try_wait().unwrap().is_none(), "nothing was to start, so nothing is looked for");
        after_omp_has_gone("!\n");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(9));
    }
}
