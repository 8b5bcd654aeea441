//! A tmux server of its own, for tests that look at what a multiplexer makes of a program.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

/// Ends, with everything in it, when it is dropped.
pub struct Tmux {
    folder: tempfile::TempDir,
}

impl Tmux {
    /// Nothing runs in it before a session is told to begin.
    pub fn new() -> io::Result<Self> {
        let tmux = Self { folder: tempfile::tempdir()? };
        std::fs::write(tmux.folder().join("settings"), "set -g history-limit 50000\n")?;
        Ok(tmux)
    }

    /// For what the programs in it leave.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Has a command carried out that may well fail, such as a split of a small pane.
    #[expect(clippy::disallowed_methods, reason = "a program that omp itself never starts")]
    pub fn run(&self, arguments: &[&str]) -> io::Result<Output> {
        let mut command = Command::new("tmux");
        let (socket, settings) = (self.folder().join("socket"), self.folder().join("settings"));
        command.arg("-S").arg(socket).arg("-f").arg(settings).args(arguments);
        command.env_remove("TMUX").env("TERM", "xterm-256color").env("SHELL", "/bin/sh").env("LANG", "C.UTF-8");
        command.output()
    }

    /// What it answers to a command that has to succeed.
    pub fn told(&self, arguments: &[&str]) -> io::Result<String> {
        let output = self.run(arguments)?;
        if !output.status.success() {
            let problem = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{arguments:?}: {problem}")));
        }
        String::from_utf8(output.stdout).map_err(io::Error::other)
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // One in which nothing was begun has no server to end.
        let _ = self.run(&["kill-server"]);
    }
}
