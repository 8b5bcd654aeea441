//! Describes a process to start: program, arguments, folder, environment and limits, all explicit.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omp_contain::{Cage, Containment, ContainmentRefused, TreeGuard};
use tokio::process::Command;

use crate::child::{Captured, Child};
use crate::environment::ChildEnv;
use crate::guard::ResourceGuard;
use crate::lookup;
use crate::platform::{self, Herald, InputPipe, OutputPipe, Tree};
use crate::pty::{Pty, TerminalSize};

/// A process that has not started yet. Its standard input is empty and it gets only the given environment.
#[derive(Clone, Debug)]
pub struct Spawn {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: ChildEnv,
    pub(crate) containment: Containment,
    /// Folders of omp that the child may write to although it is contained.
    own: Vec<PathBuf>,
    stderr: Stderr,
    limits: ProcessLimits,
    /// Text that the program reads from the descriptor [`platform::text_slot`].
    pub(crate) text: Option<Arc<str>>,
    /// The command line, if the program is a shell that gets it as text.
    runs: Option<Arc<str>>,
}

/// The standard error of a child started with [`Spawn::start_apart`].
#[derive(Debug)]
pub struct ErrorPipe {
    pipe: OutputPipe,
}

impl ErrorPipe {
    /// Reads the next piece; `0` when the other end is closed. Dropping the future loses no data.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pipe.read(buffer).await
    }
}

/// The destination of a child's standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stderr {
    /// The same pipe as standard output, so that lines keep their order.
    #[default]
    Merged,
    Discarded,
}

/// Limits for a child and its descendants. `None` keeps the limit of omp itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessLimits {
    pub cpu_seconds: Option<u64>,
    /// Maximum size of one file; writing more raises a signal.
    pub file_bytes: Option<u64>,
    pub open_files: Option<u64>,
    pub processes: Option<u64>,
    /// Maximum processes of the tree; it is killed if it has more. Linux only.
    pub tree_processes: Option<usize>,
    /// Maximum private memory of the tree; it is killed if it uses more. Linux only. Memory that is only reserved does not
    /// count: virtual machines reserve more than exists.
    pub tree_memory: Option<u64>,
}

/// The limit that a tree was killed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    Processes,
    Memory,
}

impl ProcessLimits {
    /// Limits for commands of a model: more than any build needs, but not enough to exhaust the machine.
    pub fn of_commands() -> Self {
        const FILE: u64 = 64 << 30;
        const PROCESSES: usize = 1_000;
        Self {
            file_bytes: Some(FILE),
            tree_processes: Some(PROCESSES),
            tree_memory: platform::memory_of_machine().map(|bytes| bytes / 4 * 3),
            ..Self::default()
        }
    }
}

/// Why a child did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("cannot start `{program}`: no such program\nhint: check that it is installed and on PATH")]
    NotFound { program: String },
    #[error("cannot start `{program}`: {what} is missing\nhint: {hint}")]
    Missing { program: String, what: String, hint: &'static str },
    #[error(
        "cannot start `{program}`: this user has reached the process limit ({source})\nhint: end other programs, or raise the limit (`ulimit -u`)"
    )]
    NoMoreProcesses { program: String, source: io::Error },
    #[error(
        "cannot start `{program}`: {cwd} cannot be entered\nhint: it may have been moved or removed; restart omp where it is now"
    )]
    BadFolder { program: String, cwd: String },
    #[error("cannot start `{program}`: {source}")]
    Io { program: String, source: io::Error },
    #[error("{0}")]
    Refused(#[from] ContainmentRefused),
    #[error(
        "`{program}` was not started: its sandbox could not be set up: {step}\nhint: `omp doctor` shows what this system supports"
    )]
    NotContained { program: String, step: String },
}

impl Spawn {
    /// `containment` says what it may touch; use [`Containment::of_user`] for programs that the user started.
    pub fn new(program: impl Into<OsString>, env: ChildEnv, containment: &Containment) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env,
            containment: containment.clone(),
            own: Vec::new(),
            stderr: Stderr::Merged,
            limits: ProcessLimits::default(),
            text: None,
            runs: None,
        }
    }

    /// Replaces the containment.
    pub fn contained(mut self, containment: &Containment) -> Self {
        self.containment = containment.clone();
        self
    }

    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    pub(crate) fn own_folder(mut self, folder: &Path) -> Self {
        self.own.push(folder.to_owned());
        self
    }

    /// Passes text to the program on a descriptor of its own, where it is not visible among the arguments.
    pub(crate) fn text(mut self, text: impl Into<Arc<str>>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Sets the command line of the text that is passed to the program.
    pub(crate) fn runs(mut self, command: &str) -> Self {
        self.runs = Some(command.into());
        self
    }

    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    pub fn limits(mut self, limits: ProcessLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Starts the process in a session of its own. Needs a running tokio runtime.
    pub fn start(self) -> Result<Child, SpawnError> {
        self.try_start().map_err(|error| self.explain(error))
    }

    /// Starts the process with a pipe as its standard input. Dropping the pipe ends the input.
    pub fn start_with_input(self) -> Result<(Child, InputPipe), SpawnError> {
        self.try_start_with_input().map_err(|error| self.explain(error))
    }

    /// Starts the process with a pipe for input, and with standard error separate from standard output.
    pub fn start_apart(self) -> Result<(Child, InputPipe, ErrorPipe), SpawnError> {
        self.try_start_apart().map_err(|error| self.explain(error))
    }

    /// Starts the process in a session of its own with a terminal for all three streams. The child reads the terminal's
    /// output; the other half writes its input.
    pub fn start_in_terminal(self, size: TerminalSize) -> Result<(Child, Pty), SpawnError> {
        self.try_start_in_terminal(size).map_err(|error| self.explain(error))
    }

    /// Runs to the end and keeps at most `limit` bytes of output; the tree is killed when `deadline` passes.
    pub async fn capture(self, limit: usize, deadline: Duration) -> Result<Captured, SpawnError> {
        let program = self.program.to_string_lossy().into_owned();
        self.start()?.capture(limit, deadline).await.map_err(|source| SpawnError::Io { program, source })
    }

    fn try_start(&self) -> io::Result<Child> {
        self.try_start_reading(Stdio::null())
    }

    fn try_start_with_input(&self) -> io::Result<(Child, InputPipe)> {
        let (reader, writer) = io::pipe()?;
        let input = InputPipe::new(writer)?;
        Ok((self.try_start_reading(reader)?, input))
    }

    fn try_start_apart(&self) -> io::Result<(Child, InputPipe, ErrorPipe)> {
        let (reader, writer) = io::pipe()?;
        let input = InputPipe::new(writer)?;
        let (errors, complaints) = io::pipe()?;
        let errors = ErrorPipe { pipe: OutputPipe::new(errors)? };
        Ok((self.try_start_with(reader, Some(complaints.into()))?, input, errors))
    }

    fn try_start_reading(&self, input: impl Into<Stdio>) -> io::Result<Child> {
        self.try_start_with(input, None)
    }

    fn try_start_with(&self, input: impl Into<Stdio>, apart: Option<Stdio>) -> io::Result<Child> {
        let (reader, writer) = io::pipe()?;
        let output = OutputPipe::new(reader)?;
        let mark = Self::new_mark();
        let (cage, kept, herald) = self.cage()?;
        let mut command = self.command(&mark, cage.as_ref());
        match (apart, self.stderr) {
            (Some(apart), _) => command.stderr(apart),
            (None, Stderr::Merged) => command.stderr(writer.try_clone()?),
            (None, Stderr::Discarded) => command.stderr(Stdio::null()),
        };
        command.stdin(input).stdout(writer);
        let process = platform::start(command, self.given(cage)?)?;
        let tree = Tree::new(&process, mark, herald);
        Ok(Child::new(process, output, tree, self.guard(), kept))
    }

    fn try_start_in_terminal(&self, size: TerminalSize) -> io::Result<(Child, Pty)> {
        let mark = Self::new_mark();
        let (cage, kept, herald) = self.cage()?;
        let command = self.command(&mark, cage.as_ref());
        let (process, output, terminal) = platform::start_in_terminal(command, self.given(cage)?, size)?;
        let tree = Tree::new(&process, mark, herald);
        Ok((Child::new(process, output, tree, self.guard(), kept), Pty::new(terminal)))
    }

    fn cage(&self) -> io::Result<(Option<Cage>, TreeGuard, Option<Herald>)> {
        let prepared = self.containment.prepare(&self.own, &self.command_line()).map_err(io::Error::other)?;
        let Some((mut cage, kept)) = prepared else { return Ok(Default::default()) };
        let herald = platform::tag(&mut cage);
        Ok((Some(cage), kept, Some(herald)))
    }

    /// The command as text for display, not for a shell.
    fn command_line(&self) -> Cow<'_, str> {
        match &self.runs {
            Some(command) => Cow::Borrowed(command),
            None => {
                let words: Vec<&OsStr> =
                    [&self.program].into_iter().chain(&self.args).map(OsString::as_os_str).collect();
                Cow::Owned(words.join(OsStr::new(" ")).to_string_lossy().into_owned())
            }
        }
    }

    fn given(&self, cage: Option<Cage>) -> io::Result<Given> {
        let text = self.text.as_deref().map(platform::text_file).transpose()?;
        Ok(Given { limits: self.limits, cage, text })
    }

    fn new_mark() -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        format!("{}-{}", owner_mark(), COUNT.fetch_add(1, Ordering::Relaxed))
    }

    fn guard(&self) -> Option<ResourceGuard> {
        ResourceGuard::new(self.limits)
    }

    #[expect(clippy::disallowed_methods, reason = "the only place that starts processes")]
    pub(crate) fn command(&self, mark: &str, cage: Option<&Cage>) -> Command {
        let mut words = cage.map(Cage::wrapper).unwrap_or_default();
        words.push(lookup::resolved(&self.program, self.env.get("PATH")));
        words.extend_from_slice(&self.args);
        let variables = cage.map(Cage::variables).unwrap_or_default();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env_clear().envs(self.env.iter());
        command.envs(variables.iter().map(|(name, value)| (name, value))).env(MARK_VARIABLE, mark);
        if let Some(desk) = cage.and_then(|_| self.containment.desk()) {
            command.envs(self.env.more_of_git(&desk.settings));
        }
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd).env("PWD", cwd);
        }
        command
    }

    /// Explains a "not found" error: the program is missing, or something needed to start it.
    fn what_is_missing(&self, program: String) -> SpawnError {
        let place = PathBuf::from(lookup::resolved(&self.program, self.env.get("PATH")));
        if cfg!(unix) && !Path::new("/dev/null").exists() {
            let hint = "/dev has to be mounted; in a chroot: `mount --bind /dev NEW_ROOT/dev`";
            return SpawnError::Missing { program, what: "/dev/null".to_owned(), hint };
        }
        if !place.is_absolute() || !place.exists() {
            return SpawnError::NotFound { program };
        }
        let interpreter = interpreter_of(&place).filter(|interpreter| !Path::new(interpreter).exists());
        let what = interpreter.unwrap_or_else(|| "the interpreter or the loader that it names".to_owned());
        SpawnError::Missing { program, what, hint: "the file exists, but not the program that should run it" }
    }

    pub(crate) fn explain(&self, source: io::Error) -> SpawnError {
        let program = self.program.to_string_lossy().into_owned();
        if let Some(refused) = source.get_ref().and_then(|inner| inner.downcast_ref::<ContainmentRefused>()) {
            return refused.clone().into();
        }
        if let Some(step) = omp_contain::explain(&source) {
            return SpawnError::NotContained { program, step };
        }
        match &self.cwd {
            Some(cwd) if !cwd.is_dir() => SpawnError::BadFolder { program, cwd: show(cwd) },
            _ if source.kind() == io::ErrorKind::NotFound => self.what_is_missing(program),
            _ if source.kind() == io::ErrorKind::WouldBlock => SpawnError::NoMoreProcesses { program, source },
            _ => SpawnError::Io { program, source },
        }
    }
}

/// What a child gets besides its program, arguments and streams.
pub(crate) struct Given {
    pub(crate) limits: ProcessLimits,
    pub(crate) cage: Option<Cage>,
    /// For the descriptor [`platform::text_slot`].
    pub(crate) text: Option<platform::TextFile>,
}

/// Every child has this variable with a unique value, so that its descendants can be identified even after leaving its
/// group, its session and its parent.
pub(crate) const MARK_VARIABLE: &str = "OMP_SPAWN";

/// Whether this process was started by omp, judging by its environment.
pub fn is_child_of_omp(env: &omp_types::Env) -> bool {
    env.lookup(MARK_VARIABLE).is_some()
}

/// The common prefix of the marks of all children of this process.
pub(crate) fn owner_mark() -> &'static str {
    static OWNER: LazyLock<String> = LazyLock::new(|| format!("{}-{:x}", std::process::id(), *BEGAN));
    &OWNER
}

/// In nanoseconds, so that it is unique to this process.
pub(crate) static BEGAN: LazyLock<u64> = LazyLock::new(|| {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or_default()
});

fn show(path: &Path) -> String {
    path.display().to_string()
}

/// The interpreter named in the first line of a script.
fn interpreter_of(program: &Path) -> Option<String> {
    use std::io::Read;
    let mut line = Vec::new();
    std::fs::File::open(program).ok()?.take(256).read_to_end(&mut line).ok()?;
    let line = String::from_utf8_lossy(line.strip_prefix(b"#!")?).into_owned();
    line.split_whitespace().next().map(str::to_owned)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/opt/no-such-interpreter -x\ntrue\n").unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        let start = |program: &Path| {
            Spawn::new(program, ChildEnv::default(), &Containment::of_user()).start().map(drop).unwrap_err().to_string()
        };
        assert!(start(&script).contains("/opt/no-such-interpreter is missing"), "{}", start(&script));
        assert!(start(&folder.path().join("gone")).contains("no such program"));
        let spawn = Spawn::new("sh", ChildEnv::default(), &Containment::of_user());
        let told = spawn.explain(io::ErrorKind::WouldBlock.into()).to_string();
        assert!(told.contains("process limit") && told.contains("hint: "), "{told}");
    }
}
