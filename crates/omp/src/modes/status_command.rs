//! Runs the user's own command for the status line: contained like the commands of the model, and never for long.

use std::path::Path;
use std::time::Duration;

use omp_exec::{ChildEnv, Containment, ProcessLimits, Shell, Spawn, Stderr};
use omp_interactive::STATUS_SETTINGS;
use omp_types::{Env, vars};
use serde_json::Value;

use crate::folder::FolderSetup;

/// Maximum bytes of the output that are read.
const MOST_OUTPUT: usize = 4 << 10;
const SETTING: &str = "statusLine.command";

/// The command and what it needs.
#[derive(Clone)]
pub struct StatusCommand {
    command: String,
    timeout: Duration,
    env: Env,
    containment: Containment,
}

impl StatusCommand {
    /// Reads the user's settings: a repository cannot name a command.
    pub fn of(setup: &FolderSetup) -> Option<Self> {
        let settings = setup.settings.of(STATUS_SETTINGS);
        let command: String = settings.user(SETTING);
        let timeout: f64 = settings.user("statusLine.commandTimeout");
        (!command.trim().is_empty()).then(|| Self {
            containment: setup.containment().clone().for_command(&command, &[]),
            command,
            timeout: Duration::from_secs_f64(timeout),
            env: setup.env.clone(),
        })
    }

    /// Returns the output. An error says why there is none.
    pub async fn run(&self, facts: &Value, folder: &Path) -> Result<String, String> {
        match tokio::time::timeout(self.timeout, self.output(facts, folder)).await {
            Ok(output) => output,
            Err(_) => Err(format!(
                "{SETTING} took longer than {} s and was stopped\nhint: make it faster, or raise \
                 statusLine.commandTimeout",
                self.timeout.as_secs_f64()
            )),
        }
    }

    /// Dropping the future ends the command with all its descendants.
    async fn output(&self, facts: &Value, folder: &Path) -> Result<String, String> {
        let failed = |why: String| format!("{SETTING} failed: {why}\nhint: run it in a shell, or remove the setting");
        let (mut child, mut input) =
            self.spawn().cwd(folder).start_with_input().map_err(|error| failed(error.to_string()))?;
        let facts = format!("{facts}\n");
        let feed = async move {
            // A command may ignore its input.
            let _ = input.write(facts.as_bytes()).await;
        };
        let listen = async {
            let (mut output, mut buffer) = (Vec::new(), vec![0; MOST_OUTPUT]);
            while let read @ 1.. = child.read(&mut buffer).await? {
                let room = MOST_OUTPUT - output.len();
                output.extend_from_slice(&buffer[..read.min(room)]);
            }
            child.finish().await.map(|finished| (finished.exit, output))
        };
        let ((), ended) = tokio::join!(feed, listen);
        let (exit, output) = ended.map_err(|error| failed(error.to_string()))?;
        match exit.code {
            0 => Ok(String::from_utf8_lossy(&output).into_owned()),
            code => Err(failed(format!("it exited with code {code}"))),
        }
    }

    fn spawn(&self) -> Spawn {
        // Such commands are written for bash or sh, whatever shell the user has.
        let without: Env = self.env.iter().filter(|(name, _)| *name != vars::SHELL.name).collect();
        let env = ChildEnv::unattended(&self.env);
        let spawn = Shell::choose(&without).spawn(&self.command, env, &self.containment);
        spawn.stderr(Stderr::Discarded).limits(ProcessLimits::of_commands())
    }
}
