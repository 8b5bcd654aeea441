//! The user's own commands (`!cmd`, RPC `bash`): run in the model's shell, exactly as typed.
//!
//! If the model's commands are contained, the user's commands use a separate shell: what a contained command leaves in its
//! shell (`LD_PRELOAD`, an alias) must not run outside. The folder is shared in both directions, variables only from the
//! user to the model.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_agent::ToolError;
use omp_shell::{TerminalNeed, needs_terminal};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::command::{self, BashJob};
use super::run::CommandEnd;
use super::runner::{BashCall, Runner, StartedBy};

/// A handle to the shell of the session. It exists even if the model has no `bash`.
#[derive(Clone)]
pub struct SessionShell {
    pub(super) runner: Arc<Runner>,
}

/// A user's command that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UserCommand {
    pub output: String,
    /// `None` if the command was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub cancelled: bool,
    pub truncated: bool,
    /// The artifact with the full text of a truncated output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// Notices for the user: the shell's new folder, processes that still run.
    pub notices: Vec<String>,
    /// The current folder of the shell.
    pub working_dir: PathBuf,
    /// Lines and bytes of a truncated output: of the whole output, then of the shown part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<[(u64, u64); 2]>,
}

/// The user's commands have no timeout; the user can stop them.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl SessionShell {
    /// Starts reading the start files of the user's shell in advance.
    pub fn read_start_files(&self) {
        self.runner.session.read_start_files();
    }

    /// Runs one command line; `show` receives the newest output periodically. Cancelling keeps the output so far.
    pub fn run<'a>(
        &'a self,
        command: &'a str,
        cancel: &'a CancellationToken,
        show: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<UserCommand, ToolError>> {
        // Boxed, so that it is compiled here and not again with the binary.
        Box::pin(self.run_to_the_end(command, cancel, show))
    }

    async fn run_to_the_end(
        &self,
        command: &str,
        cancel: &CancellationToken,
        show: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<UserCommand, ToolError> {
        let (command, in_terminal) = self.in_terminal(command)?;
        command::check(command, &BTreeMap::new())?;
        let mut notices = Vec::new();
        let cwd = self.runner.shell_folder(&mut notices);
        let job = BashJob { command: command.to_owned(), cwd, env: BTreeMap::new() };
        let seconds = FOR_EVER.as_secs_f64();
        let mut call = BashCall {
            job,
            seconds,
            requested: seconds,
            notices,
            contained: Vec::new(),
            in_background: false,
            in_terminal,
            in_editor: None,
            started_by: StartedBy::User,
            writes: Vec::new(),
        };
        let finished = self.runner.execute(&mut call, cancel, show).await?;
        let mut ended = UserCommand { output: finished.summary.text, notices: call.notices, ..UserCommand::default() };
        if let Some(cut) = finished.summary.truncation {
            ended.sizes = Some([(cut.total_lines, cut.total_bytes), (cut.output_lines, cut.output_bytes)]);
            (ended.truncated, ended.artifact_id) = (true, cut.artifact_id);
        }
        ended.working_dir = self.runner.standing_in();
        match finished.end {
            CommandEnd::Exited(exit) => ended.exit_code = Some(exit.code),
            CommandEnd::Cancelled | CommandEnd::HandedBack => ended.cancelled = true,
            CommandEnd::TimedOut => {}
            CommandEnd::Overran(what) => ended.notices.push(self.runner.overran(what)),
        }
        if self.runner.screens.is_some() && !in_terminal && wanted_terminal(&ended) {
            ended.notices.push(format!("hint: `!{PREFIX}{command}` runs it in a terminal, where it can ask you"));
        }
        Ok(ended)
    }

    /// Whether the user works with the command in a terminal: because it is known to need one, or was typed with `pty`.
    fn in_terminal<'a>(&self, command: &'a str) -> Result<(&'a str, bool), ToolError> {
        let offered = self.runner.screens.is_some();
        if !offered && !self.runner.no_pty {
            return Ok((command, false));
        }
        let asked = command.trim_start().strip_prefix(PREFIX);
        let program = needs_terminal(command);
        let full_screen = program.as_ref().filter(|program| program.need == TerminalNeed::FullScreen);
        if let Some(name) =
            full_screen.map(|program| program.name.as_str()).or(asked.map(str::trim)).filter(|_| !offered)
        {
            return Err(ToolError::reply(format!(
                "`{name}` needs a terminal, which `--no-pty` or PI_NO_PTY=1 turns off\n\
                 hint: start omp without them, or run it in another window"
            )));
        }
        Ok((asked.unwrap_or(command), offered && (asked.is_some() || program.is_some())))
    }
}

/// The user puts this before a command that needs a terminal but is not in the list.
const PREFIX: &str = "pty ";

/// Whether the command failed because it could not prompt.
fn wanted_terminal(ended: &UserCommand) -> bool {
    const COMPLAINTS: [&str; 7] = [
        "a terminal is required",
        "no tty present",
        "not a tty",
        "not a terminal",
        "terminal prompts disabled",
        "could not read Username",
        "/dev/tty: No such device",
    ];
    ended.exit_code.is_some_and(|code| code != 0) && COMPLAINTS.iter().any(|said| ended.output.contains(said))
}
