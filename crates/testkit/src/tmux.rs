//! A private tmux server, for tests of programs inside a multiplexer.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

/// Dropping this kills the server and everything in it.
pub struct Tmux {
    folder: tempfile::TempDir,
}

impl Tmux {
    /// Runs nothing until a session is started.
    pub fn new() -> io::Result<Self> {
        let tmux = Self { folder: tempfile::tempdir()? };
        std::fs::write(tmux.folder().join("settings"), "set -g history-limit 50000\n")?;
        Ok(tmux)
    }

    /// Returns a folder for files of the programs in it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command that may fail, such as a split of a small pane.
    #[expect(clippy::disallowed_methods, reason = "a program that omp itself never starts")]
    pub fn run(&self, arguments: &[&str]) -> io::Result<Output> {
        let mut command = Command::new("tmux");
        let (socket, settings) = (self.folder().join("socket"), self.folder().join("settings"));
        command.arg("-S").arg(socket).arg("-f").arg(settings).args(arguments);
        command.env_remove("TMUX").env("TERM", "xterm-256color").env("SHELL", "/bin/sh").env("LANG", "C.UTF-8");
        command.output()
    }

    /// Returns the output of a command that must succeed.
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
        // Without a session there is no server to kill.
        let _ = self.run(&["kill-server"]);
    }
}
