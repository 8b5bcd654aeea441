//! Runs the command lines of a template and inserts their output.

use std::time::Duration;

use omp_exec::{Captured, ChildEnv, ProcessLimits, Shell};
use omp_stdx::sanitize::strip_control;

use super::CommandPlace;
use super::template::Arguments;

const PATIENCE: Duration = Duration::from_secs(60);
/// Caps the output that is kept.
const MAX_OUTPUT: usize = 32 << 10;

pub struct ShellText {
    pub text: String,
    /// A note for the user.
    pub note: Option<String>,
}

/// Runs a line in the working folder. The arguments are passed as shell parameters (`$1`, `$@`, and `$ARGUMENTS` for all of
/// them), so the shell treats them as data.
pub async fn output(line: &str, arguments: &Arguments, place: &CommandPlace) -> ShellText {
    let shell = match &place.shell {
        Some(program) => Shell::at(program, &place.env),
        None => Shell::choose(&place.env),
    };
    let env = ChildEnv::unattended(&place.env).set("ARGUMENTS", arguments.line());
    let containment = place.containment.clone().for_command(line, &[]);
    let mut spawn = shell.spawn(line, env, &containment).cwd(&place.cwd).limits(ProcessLimits::of_commands());
    // A shell that is not POSIX would treat the following arguments as part of the line.
    if shell.args == ["-c"] {
        spawn = spawn.args(arguments.words());
    }
    match spawn.capture(MAX_OUTPUT, PATIENCE).await {
        Ok(captured) => told(line, &captured),
        Err(error) => {
            let why = error.to_string();
            ShellText {
                text: format!("[`{line}` could not be run: {why}]"),
                note: Some(format!("`{line}` could not be run: {why}")),
            }
        }
    }
}

fn told(line: &str, captured: &Captured) -> ShellText {
    let output = String::from_utf8_lossy(&captured.output);
    let mut text = strip_control(&output).trim_end().to_owned();
    let mut marks = Vec::new();
    if captured.truncated {
        marks.push(format!("only the first {} KiB of the output are shown", MAX_OUTPUT >> 10));
    }
    match captured.exit {
        None => marks.push(format!("stopped after {} s", PATIENCE.as_secs())),
        Some(exit) if exit.code != 0 => marks.push(format!("exit code {}", exit.code)),
        Some(_) => {}
    }
    if marks.is_empty() {
        return ShellText { text, note: None };
    }
    let marks = marks.join("; ");
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("[{marks}]"));
    ShellText { text, note: Some(format!("`{line}`: {marks}")) }
}
