//! Starts the binary in an isolated environment, always with a timeout.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{MockProvider, RecordedRequest, Script, Server, TempWorkspace, Wire};
use omp_types::Message;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;

/// Longer than any run takes on a slow and busy machine.
const LIMIT: Duration = Duration::from_secs(180);

/// A folder that all users can read, for files that the tests prepare once.
#[cfg(unix)]
pub const PREPARED: &str = "/var/cache/omp-tests";

/// Retries without delay, so that faults cost no time.
pub const QUICK_RETRIES: &str = "retry: { baseDelayMs: 1 }\n";

const NO_TITLE: &str = "PI_NO_TITLE";
const LOCAL_SERVERS: [&str; 3] = ["OLLAMA_BASE_URL", "LLAMA_CPP_BASE_URL", "LM_STUDIO_BASE_URL"];

/// A scripted provider, and a project with a home that knows only this provider.
pub struct Scene {
    pub server: Server,
    pub workspace: TempWorkspace,
}

impl Scene {
    pub async fn new(wire: Wire, script: impl Into<Script>) -> Self {
        let server = Server::start(script).await.unwrap();
        let workspace = TempWorkspace::new(&[("a.txt", "one\ntwo\nthree\n")]).unwrap();
        workspace.write_provider(&MockProvider::new(&server.base_url(), wire.api()).reasoning()).unwrap();
        workspace.write_config_yml(QUICK_RETRIES).unwrap();
        Self { server, workspace }
    }

    /// Starts the binary with the mock model in this project.
    pub fn omp(&self, args: &[&str]) -> Omp {
        Omp::bare(&self.workspace).args(self.workspace.args(args))
    }

    /// Replaces the script, for one that needs the paths of the workspace.
    pub async fn answers(&mut self, script: impl Into<Script>) {
        self.server = Server::start(script).await.unwrap();
        let provider = MockProvider::new(&self.server.base_url(), Wire::Completions.api()).reasoning();
        self.workspace.write_provider(&provider).unwrap();
    }

    pub fn last_request(&self) -> RecordedRequest {
        self.server.model_requests().pop().expect("no request for an answer was made")
    }

    /// Returns the only session file.
    pub fn session_file(&self) -> PathBuf {
        let mut files = self.workspace.session_files().unwrap();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    /// Returns the messages of the only session file; every line must be valid.
    pub fn messages(&self) -> Vec<Message> {
        messages_in(&self.session_file(), &self.workspace.agent_dir())
    }
}

pub fn messages_in(file: &Path, agent_dir: &Path) -> Vec<Message> {
    let mut session = LoadedSession::open(file, BlobStore::new(agent_dir)).unwrap();
    let context = session.context();
    let report = session.report();
    assert!(report.problems.is_empty(), "{report:?}");
    context.messages
}

/// Formats each message as `user: text`, `assistant: text [call, call]` or `result: text`, with only the first line of long
/// texts.
pub fn outline(messages: &[Message]) -> Vec<String> {
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let text_of =
        |content: &[omp_types::Content]| content.iter().filter_map(|block| block.as_text()).collect::<String>();
    let lines = messages.iter().map(|message| match message {
        Message::User(user) => format!("user: {}", first_line(text_of(&user.content))),
        Message::ToolResult(result) => format!("result: {}", first_line(text_of(&result.content))),
        Message::Assistant(answer) => {
            let calls: Vec<_> = answer.tool_calls().map(|call| call.name.clone()).collect();
            let calls = if calls.is_empty() { String::new() } else { format!(" [{}]", calls.join(", ")) };
            format!("assistant: {}{calls}", first_line(answer.text()))
        }
        other => other.role().to_owned(),
    });
    lines.collect()
}

/// A run that is being configured.
pub struct Omp {
    command: Command,
    input: Option<Vec<u8>>,
}

impl Omp {
    /// The binary without arguments, in the project, with an environment independent of the machine's user.
    pub fn bare(workspace: &TempWorkspace) -> Self {
        Self::of(Path::new(env!("CARGO_BIN_EXE_omp")), workspace)
    }

    /// The binary started by a shell: `script` prepares the environment and ends with `exec "$@"`.
    #[cfg(unix)]
    pub fn behind(script: &str, workspace: &TempWorkspace, args: &[&str]) -> Self {
        let shell = Self::of(Path::new("sh"), workspace);
        let binary = binary_for_all();
        shell.args(["-c", script, "sh"]).args([binary]).args(workspace.args(args))
    }

    /// Like [`Self::behind`], with only these arguments.
    #[cfg(target_os = "linux")]
    pub fn bare_behind(script: &str, workspace: &TempWorkspace, args: &[&str]) -> Self {
        Self::of(Path::new("sh"), workspace).args(["-c", script, "sh"]).args([binary_for_all()]).args(args)
    }

    /// Another program in the same environment, such as a copy of the binary.
    pub fn of(program: &Path, workspace: &TempWorkspace) -> Self {
        let mut command = command(program);
        command.env_clear().envs(workspace.env()).current_dir(workspace.project()).kill_on_drop(true);
        // A model server that runs on this machine must not be found.
        command.envs(LOCAL_SERVERS.map(|name| (name, "http://127.0.0.1:9")));
        // The request for a title would use up an answer of the script.
        command.env(NO_TITLE, "1");
        Self { command, input: None }
    }

    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Enables titles, as in attended sessions.
    pub fn titled(mut self) -> Self {
        self.command.env_remove(NO_TITLE);
        self
    }

    pub fn without_env(mut self) -> Self {
        self.command.env_clear();
        self
    }

    #[cfg(unix)]
    pub fn user(mut self, id: u32) -> Self {
        self.command.uid(id);
        self
    }

    #[cfg(unix)]
    pub fn group(mut self, id: u32) -> Self {
        self.command.gid(id);
        self
    }

    /// Runs under a seccomp filter that makes these system calls fail, as in containers.
    #[cfg(target_os = "linux")]
    pub fn without_calls(mut self, calls: &[nix::libc::c_long], errno: i32) -> Self {
        use nix::libc;
        let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
        let ends = |what| step(libc::BPF_RET | libc::BPF_K, 0, 0, what);
        let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
        for call in calls {
            filter.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, *call as u32));
            filter.push(ends(libc::SECCOMP_RET_ERRNO | errno as u32));
        }
        filter.push(ends(libc::SECCOMP_RET_ALLOW));
        // SAFETY: only system calls are made; the filter outlives them.
        unsafe {
            self.command.pre_exec(move || {
                let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
                let how = libc::SECCOMP_SET_MODE_FILTER;
                let done = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                    && libc::syscall(libc::SYS_seccomp, how, 0, &raw const program) == 0;
                if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
            });
        }
        self
    }

    /// Sets standard input, which is empty by default.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    pub fn start(self) -> Running {
        let Self { mut command, input } = self;
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            // A process that does not read its input may close the pipe.
            tokio::spawn(async move { stdin.write_all(&input).await.is_ok() });
        }
        let mut stderr = child.stderr.take().unwrap();
        let stderr = tokio::spawn(async move {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).await.unwrap();
            String::from_utf8_lossy(&text).into_owned()
        });
        let stdout = Some(BufReader::new(child.stdout.take().unwrap()).lines());
        Running { child, stdout, stderr, seen: String::new() }
    }

    /// Starts the process with pipes, for a test that talks to it.
    pub fn spawn_with_pipes(mut self) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap()
    }

    pub async fn run(self) -> Ran {
        self.start().finish().await
    }
}

/// A running process.
pub struct Running {
    child: Child,
    stdout: Option<Lines<BufReader<ChildStdout>>>,
    stderr: JoinHandle<String>,
    seen: String,
}

impl Running {
    /// Returns the next line of standard output; `None` at its end.
    pub async fn line(&mut self) -> Option<String> {
        let stdout = self.stdout.as_mut()?;
        let line = within(stdout.next_line()).await.unwrap()?;
        self.seen.push_str(&line);
        self.seen.push('\n');
        Some(line)
    }

    /// Reads until a line contains `needle`.
    pub async fn until(&mut self, needle: &str) -> String {
        loop {
            match self.line().await {
                Some(line) if line.contains(needle) => return line,
                Some(_) => {}
                None => panic!("the output ended without {needle:?}:\n{}", self.seen),
            }
        }
    }

    /// Closes the read end of standard output.
    pub fn close_stdout(&mut self) {
        self.stdout = None;
    }

    #[cfg(target_os = "linux")]
    pub fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    #[cfg(unix)]
    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
    }

    pub async fn finish(mut self) -> Ran {
        while self.line().await.is_some() {}
        let status = within(self.child.wait()).await.unwrap();
        let stderr = within(&mut self.stderr).await.unwrap();
        Ran { status, stdout: self.seen, stderr }
    }
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ran {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Checks the exit code and that nothing crashed.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert!(!self.stderr.contains("panicked"), "{self}");
        assert_eq!(self.status.code(), Some(code), "{self}");
        self
    }

    /// Checks that standard error contains all of `parts`.
    #[track_caller]
    pub fn complains(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is missing\n{self}");
        }
        self
    }

    /// Checks the whole standard output.
    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        assert_eq!(self.stdout, text, "{self}");
        self
    }

    /// Parses standard output as JSON lines.
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { status, stdout, stderr } = self;
        let shown = |text: &str| text.chars().take(4000).collect::<String>();
        write!(f, "{status}\n-- stdout\n{}\n-- stderr\n{}", shown(stdout), shown(stderr))
    }
}

/// Returns a free port below those that the system hands out, so that no other test gets it before the server starts.
pub fn free_port() -> u16 {
    let first = 10_000 + u16::try_from(std::process::id() % 20_000).unwrap();
    let free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (first..32_000).find(free).unwrap()
}

/// Fails the test after a timeout; the process is killed when its handle is dropped.
pub async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work).await.expect("omp did not get on within the time limit")
}

#[expect(clippy::disallowed_methods, reason = "the program under test is started as a shell would start it")]
fn command(program: &Path) -> Command {
    Command::new(program)
}

/// Returns a copy of the binary that every user can start, because the target folder may be in a private home.
#[cfg(unix)]
pub fn binary_for_all() -> PathBuf {
    use std::os::unix::fs::MetadataExt;
    let built = Path::new(env!("CARGO_BIN_EXE_omp"));
    if !nix::unistd::geteuid().is_root() {
        return built.to_owned();
    }
    let folder = Path::new(PREPARED).join("built");
    std::fs::create_dir_all(&folder).unwrap();
    let data = built.metadata().unwrap();
    let copy = folder.join(format!("omp-{}-{}-{}", data.ino(), data.mtime(), data.mtime_nsec()));
    if !copy.exists() {
        let older = format!("omp-{}-", data.ino());
        let fresh = tempfile::TempDir::new_in(&folder).unwrap();
        let fresh = fresh.path().join("omp");
        // Copied by another process: a file that this process has open for writing could not be executed after a concurrent
        // fork.
        run("cp", &[built.as_os_str(), fresh.as_os_str()]);
        std::fs::rename(&fresh, &copy).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            if entry.path() != copy && entry.file_name().to_string_lossy().starts_with(&older) {
                // A concurrent test may have removed it.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
    copy
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "what the test prepares is not omp's doing")]
fn run(program: &str, args: &[&std::ffi::OsStr]) {
    assert!(std::process::Command::new(program).args(args).status().unwrap().success(), "{program} {args:?}");
}
