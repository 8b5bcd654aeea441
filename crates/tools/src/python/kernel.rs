//! One Python process that runs cells in sequence and keeps its variables.

use std::io;
use std::path::Path;

use omp_exec::{Child, ChildEnv, Containment, InputPipe, Spawn, SpawnError};
use omp_stdx::lines::{JsonLineFrame, JsonLines};
use omp_types::{Env, vars};
use serde::Deserialize;

const DRIVER: &str = include_str!("driver.py");
/// Limits a line of the driver, which reads at most 64 KiB at a time; JSON escapes can make it six times as long.
const MAX_LINE: usize = 1024 * 1024;
const READ_BYTES: usize = 64 * 1024;

/// Dropping this kills Python and its descendants.
pub(super) struct Kernel {
    child: Child,
    input: InputPipe,
    lines: JsonLines,
    buffer: Vec<u8>,
}

/// A message of the driver.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    pub text: String,
    pub done: bool,
    pub failed: bool,
}

impl Kernel {
    pub fn start(env: &Env, cwd: &Path, containment: &Containment) -> Result<Self, SpawnError> {
        let mut missing = None;
        for program in interpreters(env) {
            let spawn =
                Spawn::new(&program, ChildEnv::unattended(env), containment).args(["-u", "-c", DRIVER]).cwd(cwd);
            match spawn.start_with_input() {
                Ok((child, input)) => {
                    let lines = JsonLines::new(MAX_LINE);
                    return Ok(Self { child, input, lines, buffer: vec![0; READ_BYTES] });
                }
                Err(error @ SpawnError::NotFound { .. }) => missing = missing.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        Err(missing.unwrap_or(SpawnError::NotFound { program: "python3".to_owned() }))
    }

    pub async fn send(&mut self, code: &str) -> io::Result<()> {
        let line = serde_json::json!({"code": code}).to_string() + "\n";
        self.input.write(line.as_bytes()).await
    }

    /// Returns the next messages, or `None` when Python has ended. Dropping the future loses nothing.
    pub async fn hear(&mut self) -> io::Result<Option<Vec<Said>>> {
        let read = self.child.read(&mut self.buffer).await?;
        if read == 0 {
            return Ok(None);
        }
        let mut said = Vec::new();
        self.lines.push(&self.buffer[..read], |frame| {
            if let JsonLineFrame::Text { bytes, .. } = frame {
                said.extend(serde_json::from_slice::<Said>(bytes));
            }
        });
        Ok(Some(said))
    }

    /// Raises `KeyboardInterrupt` in the running cell.
    pub fn interrupt(&self) {
        self.child.interrupt();
    }
}

/// Returns the user's activated environment, then interpreters on the path. An environment that is merely in the folder
/// belongs to the repository, not to the user, and is ignored.
fn interpreters(env: &Env) -> Vec<String> {
    let active = env.get(vars::VIRTUAL_ENV).map(|folder| {
        let program = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        Path::new(folder).join(program).display().to_string()
    });
    active.into_iter().chain(["python3".to_owned(), "python".to_owned()]).collect()
}
