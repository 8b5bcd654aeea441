//! Runs one hook: JSON on standard input; exit code, output and error output as the result. Nothing keeps running
//! afterwards.

use std::path::PathBuf;
use std::time::Duration;

use omp_contain::Containment;
use omp_exec::{Child, ChildEnv, ErrorPipe, InputPipe, ProcessLimits, Shell};
use omp_types::{Env, vars};

/// Maximum bytes kept of a hook's output, and of its error output.
pub(crate) const MOST_OUTPUT: usize = 1 << 20;
const MOST_COMPLAINTS: usize = 64 << 10;
const CHUNK: usize = 16 << 10;
/// How long to wait for error output once the hook has exited.
const LAST_WORDS: Duration = Duration::from_millis(150);

/// The environment in which hooks are run.
#[derive(Clone, Debug)]
pub(crate) struct HookMachine {
    pub env: Env,
    pub shell: Shell,
    /// What hooks may touch.
    pub containment: Containment,
}

impl HookMachine {
    pub fn new(env: Env, containment: Containment) -> Self {
        // Hooks are written for bash or sh, whatever shell the user has.
        let without: Env = env.iter().filter(|(name, _)| *name != vars::SHELL.name).collect();
        Self { shell: Shell::choose(&without), env, containment }
    }
}

/// The result of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HookRun {
    /// `None` if it exceeded its time limit.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Whether it printed more than is kept.
    pub truncated: bool,
}

/// The working folder of the hook, and its project folder.
#[derive(Clone, Debug)]
pub(crate) struct Where {
    pub cwd: PathBuf,
    pub project: PathBuf,
    /// The folder of its plugin.
    pub plugin: Option<PathBuf>,
}

/// `Err` says why it could not be started.
pub(crate) async fn run(
    machine: &HookMachine,
    place: &Where,
    command: &str,
    timeout: Duration,
    input: &[u8],
) -> Result<HookRun, String> {
    let project = place.project.to_string_lossy();
    let mut env = ChildEnv::unattended(&machine.env);
    env = env.set("CLAUDE_PROJECT_DIR", &*project).set("OMP_PROJECT_DIR", &*project);
    if let Some(plugin) = &place.plugin {
        let plugin = plugin.to_string_lossy();
        env = env.set("CLAUDE_PLUGIN_ROOT", &*plugin).set("OMP_PLUGIN_ROOT", &*plugin);
    }
    let containment = machine.containment.clone().for_command(command, &[]);
    let spawn = machine.shell.spawn(command, env, &containment).cwd(&place.cwd).limits(ProcessLimits::of_commands());
    let (child, stdin, stderr) = spawn.start_apart().map_err(|error| error.to_string())?;
    // Dropping the child at the time limit kills all its descendants.
    match tokio::time::timeout(timeout, finish(child, stdin, stderr, input)).await {
        Ok(ran) => ran.map_err(|error| error.to_string()),
        Err(_) => Ok(HookRun::default()),
    }
}

async fn finish(mut child: Child, stdin: InputPipe, mut errors: ErrorPipe, input: &[u8]) -> std::io::Result<HookRun> {
    let mut said = OutputHead::new(MOST_OUTPUT);
    let mut complained = OutputHead::new(MOST_COMPLAINTS);
    let finished = {
        let feed = async move {
            let mut stdin = stdin;
            // A hook may ignore its input.
            let _ = stdin.write(input).await;
        };
        let listen = async {
            let mut buffer = vec![0; CHUNK];
            while let read @ 1.. = child.read(&mut buffer).await? {
                said.add(&buffer[..read]);
            }
            // A hook may close its output early and keep running, so its exit is waited for.
            child.finish().await
        };
        let hear = async {
            let mut buffer = vec![0; CHUNK];
            while let Ok(read @ 1..) = errors.read(&mut buffer).await {
                complained.add(&buffer[..read]);
            }
        };
        tokio::pin!(feed, listen, hear);
        let (mut fed, mut heard) = (false, false);
        let finished = loop {
            tokio::select! {
                () = &mut feed, if !fed => fed = true,
                () = &mut hear, if !heard => heard = true,
                ended = &mut listen => break ended?,
            }
        };
        if !heard {
            // A background process may hold the pipe forever.
            let _ = tokio::time::timeout(LAST_WORDS, hear).await;
        }
        finished
    };
    let (code, truncated) = (Some(finished.exit.code), said.truncated);
    Ok(HookRun { code, stdout: said.text(), stderr: complained.text(), truncated })
}

/// Keeps the beginning of an output.
struct OutputHead {
    bytes: Vec<u8>,
    most: usize,
    truncated: bool,
}

impl OutputHead {
    fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most, truncated: false }
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = bytes.len().min(self.most - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        self.truncated |= room < bytes.len();
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).trim().to_owned()
    }
}
