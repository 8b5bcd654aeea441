//! Ends omp's children when omp itself is killed and cannot.
//!
//! The kernel tells a direct child at most (and Linux only): grandchildren would live on. So a small shell script waits
//! at the end of a pipe whose other end only omp holds. However omp ends, the pipe closes; the script then kills the
//! groups it was told of, whoever bears omp's mark or its tag, and all that descends from those.

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

/// Starts the watchdog unless it runs, and tells it that a child is about to start, as omp may be killed before the child's
/// group is known. `false` when there is none: the child must then be tied to omp in another way.
pub(crate) fn expect_child() -> bool {
    with_watchdog(|watchdog| {
        let Some(watchdog) = watchdog else { return false };
        if !watchdog.expects_children {
            watchdog.expects_children = watchdog.pipe.write(b"!\n").is_ok();
        }
        true
    })
}

/// Everything in the group is to end with omp.
pub(crate) fn watch(group: i32) {
    tell(&format!("+{group}\n"));
}

/// The group has ended.
pub(crate) fn forget(group: i32) {
    tell(&format!("-{group}\n"));
}

/// The folder is to be removed with all it holds when omp has gone.
pub(crate) fn remove_later(folder: &Path) {
    tell_of("", folder);
}

/// The folder is to be removed when omp has gone, unless there is something in it.
pub(crate) fn remove_if_empty(folder: &Path) {
    tell_of("=", folder);
}

/// What was said last of the folder holds no more.
pub(crate) fn leave(folder: &Path) {
    tell_of("~", folder);
}

/// Only names that fit on a line can be told.
fn tell_of(what: &str, folder: &Path) {
    if let Some(folder) = folder.to_str().filter(|folder| folder.starts_with('/') && !folder.contains('\n')) {
        tell(&format!("{what}{folder}\n"));
    }
}

struct Watchdog {
    process: Child,
    pipe: io::PipeWriter,
    /// Whether it was told that there are children.
    expects_children: bool,
}

fn tell(line: &str) {
    with_watchdog(|watchdog| {
        if let Some(watchdog) = watchdog {
            // A full pipe means that the script was stopped: the marks still tell it, later. It is never waited for.
            let _ = watchdog.pipe.write(line.as_bytes());
        }
    });
}

fn with_watchdog<T>(act: impl FnOnce(&mut Option<Watchdog>) -> T) -> T {
    static WATCHDOG: LazyLock<Mutex<Option<Watchdog>>> = LazyLock::new(|| Mutex::new(None));
    let mut watchdog = WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner);
    if watchdog.as_mut().is_none_or(|watchdog| !matches!(watchdog.process.try_wait(), Ok(None))) {
        // Groups that were told to one that was killed are lost; their marks are not.
        *watchdog = start().ok();
    }
    act(&mut watchdog)
}

#[expect(clippy::disallowed_methods, reason = "this is the one door")]
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

/// As the script looks for it.
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

    /// Runs the script with what omp has told it until it was killed.
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
