//! The exit codes of runs without a terminal.

use std::process::ExitCode;

/// See `docs/exit-codes.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Success,
    /// The model, the provider or the session failed.
    Failed,
    /// Invalid flags, invalid configuration, an unknown model: nothing was sent.
    Usage,
    /// A limit on time, turns or output was reached.
    Limit,
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// SIGHUP, or the terminal was closed.
    HungUp,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Limit => 3,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
            Exit::HungUp => 129,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
