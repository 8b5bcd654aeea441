//! Runs one validated call in the agent's shell and reports the result.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_agent::{Output, ToolError};
use omp_exec::{Child, Containment, Overrun, ProcessExit, Reaper, Shell, ShellSession, Spawn};
use omp_types::{Access, CommandScreens, EditorTerminals, Env, vars};
use tokio_util::sync::CancellationToken;

use super::asking::Asking;
use super::command::BashJob;
use super::denied::{self, EndedCommand};
use super::effects::WrittenPath;
use super::in_terminal;
use super::minimizer::Minimizer;
use super::missing;
use super::network;
use super::process::{InEditor, KEPT_BY_EDITOR};
use super::run::{self, CommandEnd, FinishedCommand};
use super::{BashDetails, BashOptions, BashParts, OutputMeta, TIME_TOLD};
use crate::artifacts::Artifacts;
use crate::files::Files;
use crate::output_sink::{OutputSink, OutputSummary, SinkLimits};

const PRINTED_NOTHING: &str = "the command had printed nothing";
const PRINTED_SO_FAR: &str = "the output above is what the command printed until then";

const ON_THE_SCREEN: &str = "the output above is what was on its screen then";

/// What all commands of a session share.
pub(super) struct Runner {
    pub(super) files: Arc<Files>,
    pub(super) session: Arc<ShellSession>,
    /// The user's own shell; the same as the agent's if commands are not contained.
    users: Arc<ShellSession>,
    pub(super) containment: Containment,
    pub(super) artifacts: Arc<dyn Artifacts>,
    /// Holds processes that commands leave in the background until the session ends.
    pub(super) reaper: Arc<Reaper>,
    pub(super) options: BashOptions,
    pub(super) editor: Option<Arc<dyn EditorTerminals>>,
    /// Whether the editor's terminals are used although commands there are not contained.
    pub(super) uncontained_in_editor: bool,
    /// Where the user can work with a command in a terminal; `None` if that is switched off.
    pub(super) screens: Option<Arc<dyn CommandScreens>>,
    /// There would be screens, but `--no-pty` or `PI_NO_PTY` switches them off.
    pub(super) no_pty: bool,
    pub(super) asking: Asking,
    env: Env,
}

/// Prevents contained commands from changing the user's shell.
fn keep_from_commands(users: &ShellSession, access: &Access) {
    if let Some(folder) = users.folder().and_then(|folder| folder.canonicalize().ok()) {
        access.change_early(move |map| map.guarded.push(folder));
    }
}

/// A call with validated arguments.
pub(super) struct BashCall {
    pub job: BashJob,
    pub seconds: f64,
    pub requested: f64,
    /// Notices for the model besides the output.
    pub notices: Vec<String>,
    /// Accesses that containment denied.
    pub contained: Vec<String>,
    pub in_background: bool,
    pub in_terminal: bool,
    /// The id of the tool call that a terminal of the editor may show.
    pub in_editor: Option<String>,
    pub started_by: StartedBy,
    /// Paths that the command is known to write.
    pub writes: Vec<WrittenPath>,
}

/// Who started a command, which decides about its shell and its containment.
pub(super) enum StartedBy {
    Model(Containment),
    /// The user typed it, so it may do what the user may.
    User,
}

impl Runner {
    pub(super) fn new(parts: BashParts) -> Self {
        let BashParts { files, env, options, containment, .. } = parts;
        let shell = || match &options.shell_path {
            Some(program) => Shell::at(program, &env),
            None => Shell::choose(&env),
        };
        let limit = Duration::try_from_secs_f64(options.start_files.max(1.0)).unwrap_or(Duration::MAX);
        let session = ShellSession::new(shell(), &env, files.cwd().to_owned()).start_limit(limit);
        let session = Arc::new(session);
        // Contained commands must not change the shell of the user's own commands.
        let users = match containment.access().filter(|_| containment.is_on()) {
            Some(access) => {
                let users = ShellSession::new(shell(), &env, files.cwd().to_owned()).started_like(&session);
                keep_from_commands(&users, access);
                Arc::new(users)
            }
            None => session.clone(),
        };
        let no_pty = parts.screens.is_some() && (parts.no_pty || env.get(vars::PI_NO_PTY) == Some("1"));
        Self {
            files,
            session,
            users,
            containment,
            artifacts: parts.artifacts,
            reaper: parts.reaper,
            options,
            editor: parts.editor,
            uncontained_in_editor: parts.uncontained_in_editor,
            screens: parts.screens.filter(|_| !no_pty),
            no_pty,
            asking: if parts.attended { Asking::User } else { Asking::Nobody },
            env,
        }
    }

    /// Returns the containment for a model's call, as it is when the call begins.
    pub(super) fn containment_of(&self, call: &str) -> Containment {
        self.containment.for_call(call)
    }

    /// Whether the model's commands have less access than the user.
    pub(super) fn is_contained(&self) -> bool {
        self.containment.is_on()
    }

    /// Returns the current folder of the shell.
    pub(super) fn standing_in(&self) -> PathBuf {
        self.session.cwd()
    }

    /// Returns the current folder of the shell; returns to the working folder if that folder no longer exists.
    pub(super) fn shell_folder(&self, notices: &mut Vec<String>) -> PathBuf {
        let folder = self.session.cwd();
        if folder.is_dir() || folder == self.files.cwd() {
            return folder;
        }
        notices.push(format!("{} no longer exists; the shell is back in the working folder.", folder.display()));
        self.session.return_to(self.files.cwd());
        self.files.cwd().to_owned()
    }

    /// Dropping the future kills the command.
    pub(super) async fn run(
        &self,
        mut call: BashCall,
        cancel: &CancellationToken,
        show: impl Fn(&str),
    ) -> Result<Output<BashDetails>, ToolError> {
        let finished = self.execute(&mut call, cancel, show).await?;
        let passages = self.containment.egress().map(|egress| egress.take_new()).unwrap_or_default();
        call.contained.extend(network::refused(&passages));
        let details = BashDetails {
            contained: self.asking.worded(call.contained),
            network: network::reached(passages),
            timeout_seconds: call.seconds as u64,
            requested_timeout_seconds: (call.seconds != call.requested).then_some(call.requested),
            wall_time_ms: finished.wall_time.as_secs_f64() * 1000.0,
            ..BashDetails::default()
        };
        Ok(self.report(finished.summary, &finished.end, &call.notices, details))
    }

    /// Runs the command to its end and adds notices to the call.
    pub(super) async fn execute(
        &self,
        call: &mut BashCall,
        cancel: &CancellationToken,
        show: impl Fn(&str),
    ) -> Result<FinishedCommand, ToolError> {
        let BashCall { job, notices, contained, .. } = call;
        let _stale = self.files.anything_may_change();
        let (session, containment) = match &call.started_by {
            StartedBy::Model(containment) => (&self.session, containment.clone()),
            StartedBy::User => (&self.users, Containment::of_user()),
        };
        let missing = containment.access().map(|access| missing::made(&call.writes, &access.map(), &containment));
        if !Arc::ptr_eq(session, &self.session) {
            session.return_to(&self.session.cwd());
        }
        let keep = !call.in_background;
        let screens = self.screens.as_ref().filter(|_| call.in_terminal);
        let begin = async {
            match screens {
                None => (session.begin(&job.command, &job.cwd, &job.env, keep, &containment).await, None),
                Some(screens) => {
                    // Another command may hold the screen, and change the shell's state until it ends.
                    let screen = screens.open(&job.command).await;
                    (session.begin_in_terminal(&job.command, &job.cwd, &job.env, &containment).await, Some(screen))
                }
            }
        };
        let begun = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            begun = begin => Some(begun),
        };
        let begun = begun.filter(|_| !cancel.is_cancelled());
        let Some(((spawn, turn), screen)) = begun else { return Ok(self.never_started()) };
        let variables = session.variables();
        let minimizer = Minimizer::of(&job.command, &self.options.minimizer).filter(|_| !call.in_terminal);
        let capture_bytes = if minimizer.is_some() { self.options.minimizer.max_capture } else { 0 };
        let sink = self.sink(SinkLimits { capture_bytes, ..self.options.sink });
        let patience = Duration::from_secs_f64(call.seconds);
        let mut finished = if let Some(screen) = screen {
            let spawn = spawn.limits(self.options.limits());
            in_terminal::to_the_end(spawn, screen, sink, patience, cancel).await?
        } else if let Some(process) = self.start_in_editor(&spawn, call.in_editor.as_deref(), patience, cancel).await? {
            // Notifies the front end that the command has started.
            show("");
            run::to_the_end(process, sink, patience, cancel, show).await?
        } else {
            let child: Child = spawn.limits(self.options.limits()).start().map_err(ToolError::reply)?;
            run::to_the_end(child, sink, patience, cancel, show).await?
        };

        let before = self.session.cwd();
        if let Some(turn) = turn {
            turn.end();
        }
        notices.extend(session.take_notices());
        notices.extend(too_large_for_programs(&finished.summary.text, session));
        if !Arc::ptr_eq(session, &self.session) {
            self.session.follow(session, &variables);
        }
        notices.extend(containment.take_signed());
        if let Some(access) = containment.access() {
            let failed = !matches!(&finished.end, CommandEnd::Exited(exit) if exit.code == 0);
            missing.unwrap_or_default().keep_unless(failed);
            contained.extend(denied::set_aside(&containment.take_set_aside()));
            let (command, output, cwd) = (job.command.as_str(), finished.summary.text.as_str(), job.cwd.as_path());
            let ended = EndedCommand { command, output, cwd, home: self.files.paths().home(), env: &self.env, failed };
            let map = access.map();
            denied::missing_caches(&ended, &map).iter().for_each(|cache| containment.want_cache(cache));
            contained.extend(denied::told(&ended, &map, omp_stdx::rights::may_write));
            contained.extend(network::off(output, &map));
        }
        let after = self.session.cwd();
        if after != before {
            notices.push(format!("The shell is now in {}", after.display()));
        }
        if let Some(leftover) = finished.leftover.take() {
            notices.push("Background processes are still running; they end with this session, and what they print from now on is lost.".to_owned());
            self.reaper.adopt(leftover);
        }
        if let Some(minimizer) = minimizer {
            finished.summary = self.minimized(finished.summary, &minimizer);
        }
        Ok(finished)
    }

    /// The result of a command that was aborted before it started.
    fn never_started(&self) -> FinishedCommand {
        let summary = self.sink(self.options.sink).finish();
        FinishedCommand { end: CommandEnd::Cancelled, summary, wall_time: Duration::ZERO, leftover: None }
    }

    /// Explains why a command that exceeded a limit was killed.
    pub(super) fn overran(&self, what: Overrun) -> String {
        let limits = self.options.limits();
        let (had, setting) = match what {
            Overrun::Processes => (format!("{} processes", self.options.max_processes), "bash.maxProcesses"),
            Overrun::Memory => {
                (format!("{} MiB of memory", limits.tree_memory.unwrap_or_default() >> 20), "bash.maxMemory")
            }
        };
        format!("Command killed: it exceeded the limit of {had}\nhint: the setting `{setting}` sets the limit")
    }

    /// Returns `None` if there is no editor, or if it offers no terminal for this command.
    async fn start_in_editor(
        &self,
        spawn: &Spawn,
        call: Option<&str>,
        patience: Duration,
        cancel: &CancellationToken,
    ) -> Result<Option<InEditor>, ToolError> {
        let (Some(editor), Some(call)) = (&self.editor, call) else { return Ok(None) };
        let Some(command) = spawn.elsewhere(KEPT_BY_EDITOR, self.uncontained_in_editor) else { return Ok(None) };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ToolError::reply("Command aborted")),
            // The editor may still start it: running it here as well could run it twice.
            () = tokio::time::sleep(patience) => Err(ToolError::reply("Command failed: the editor did not open a terminal")),
            started = editor.start(call, command) => Ok(started.ok().map(InEditor::new)),
        }
    }

    fn sink(&self, limits: SinkLimits) -> OutputSink {
        OutputSink::with_limits(self.artifacts.clone(), "bash", limits)
    }

    /// Returns the output without noise if the raw output can be stored.
    fn minimized(&self, summary: OutputSummary, minimizer: &Minimizer) -> OutputSummary {
        let Some((raw, short)) = summary.captured.as_ref().and_then(|raw| Some((raw, minimizer.shorten(raw)?))) else {
            return summary;
        };
        let spilled = summary.truncation.as_ref().and_then(|truncation| truncation.artifact_id.clone());
        let Some(id) = spilled.or_else(|| self.keep_raw(raw)) else { return summary };
        let mut sink = self.sink(self.options.sink);
        sink.push(short.as_bytes());
        let mut shorter = OutputSummary { stripped: summary.stripped, ..sink.finish() };
        if !shorter.text.ends_with('\n') {
            shorter.text.push('\n');
        }
        shorter.text.push_str(&format!("[raw output: artifact://{id}]\n"));
        shorter
    }

    fn keep_raw(&self, raw: &str) -> Option<String> {
        let mut artifact = self.artifacts.create("bash-original").ok()?;
        artifact.file.write_all(raw.as_bytes()).and_then(|()| artifact.file.flush()).ok()?;
        Some(artifact.id)
    }

    /// Explains that a file was truncated by the size limit.
    fn about_file_size(&self, exit: ProcessExit, output: &str) -> String {
        /// The exit code that shells report for `SIGXFSZ`.
        const TOO_LARGE: i32 = 128 + 25;
        let was_cut = exit.code == TOO_LARGE || output.contains("File size limit exceeded");
        let most = self.options.max_file_size;
        match was_cut && most > 0 {
            true => format!("\nhint: files can have at most {most} MiB; the setting `bash.maxFileSize` sets the limit"),
            false => String::new(),
        }
    }

    fn report(
        &self,
        summary: OutputSummary,
        end: &CommandEnd,
        notices: &[String],
        mut details: BashDetails,
    ) -> Output<BashDetails> {
        let output = if summary.text.is_empty() { "(no output)" } else { &summary.text };
        let mut text = output.to_owned();
        if !details.contained.is_empty() {
            // Appended to the output, so that every view of the output also shows the reason.
            text.truncate(text.trim_end().len());
            text.push_str(&format!("\n\n{}", details.contained.join("\n")));
        }
        text.push_str(&format!("{TIME_TOLD}{:.2} seconds", details.wall_time_ms / 1000.0));
        for notice in notices {
            text.push('\n');
            text.push_str(notice);
        }
        let failure = match end {
            CommandEnd::Exited(exit) if exit.code == 0 => None,
            CommandEnd::Exited(exit) => {
                details.exit_code = Some(exit.code);
                let signal = exit.signal.map(|signal| format!(" (killed by signal {signal})")).unwrap_or_default();
                Some(format!("Command exited with code {}{signal}{}", exit.code, self.about_file_size(*exit, output)))
            }
            CommandEnd::TimedOut => {
                details.timed_out = true;
                Some(format!("Command timed out after {} seconds", details.timeout_seconds))
            }
            CommandEnd::Cancelled => {
                details.aborted = true;
                let printed = if summary.text.is_empty() { PRINTED_NOTHING } else { PRINTED_SO_FAR };
                Some(format!("Interrupted after {:.0} s; {printed}", details.wall_time_ms / 1000.0))
            }
            CommandEnd::HandedBack => {
                details.aborted = true;
                let printed = if summary.text.is_empty() { PRINTED_NOTHING } else { ON_THE_SCREEN };
                Some(format!("The user ended the command after {:.0} s; {printed}", details.wall_time_ms / 1000.0))
            }
            CommandEnd::Overran(what) => Some(self.overran(*what)),
        };
        details.stripped = Some(summary.stripped).filter(|stripped| !stripped.is_empty());
        details.meta = summary.truncation.map(|truncation| OutputMeta { truncation: Some(truncation) });
        match failure {
            Some(failure) => Output::text(format!("{text}\n\n{failure}"), details).failed(),
            None => Output::text(text, details),
        }
    }
}

/// Explains why no program could be started if the environment is too large.
fn too_large_for_programs(output: &str, session: &ShellSession) -> Option<String> {
    let failed = output.contains("rgument list too long");
    let (name, bytes) = failed.then(|| session.oversized().into_iter().next()).flatten()?;
    let kilobytes = bytes / 1024;
    Some(format!(
        "The exported variable {name} has {kilobytes} KiB, too much to start a program. \
         Run `unset {name}`; the shell's builtins still work."
    ))
}
