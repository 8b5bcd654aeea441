//! Checks the shell that commands run in, how long its start-up files take and what they write to standard error; and git.

use std::path::Path;
use std::time::{Duration, Instant};

use omp_exec::{Captured, ChildEnv, Containment, Shell, Spawn, SpawnError};
use omp_stdx::plain_file::read_text;
use omp_types::vars;

use super::report::Finding;
use crate::folder::FolderSetup;

const SHELL: &str = "shell";
const START_UP: &str = "start-up";
const GIT: &str = "git";
/// How long this check waits for the start-up files.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a session waits for the start-up files.
const TOO_SLOW: Duration = Duration::from_secs(2);
const SLOW: Duration = Duration::from_millis(500);
const MOST_OUTPUT: usize = 64 << 10;
const LARGEST_PROFILE: u64 = 1 << 20;
/// Caps the number of error lines that are shown.
const MOST_LINES: usize = 3;
/// Messages that interactive shells print because there is no terminal.
const NO_TERMINAL: [&str; 4] =
    ["no job control in this shell", "cannot set terminal process group", "can't set tty pgrp", "can't change option"];
/// Discards what a start-up file prints and keeps what it writes to standard error.
const COMPLAINTS_ONLY: &str = "exec \"$0\" -l -i -c \"$1\" 2>&1 >/dev/null";
/// Bash as a login shell reads only its profile.
const ALSO_BASHRC: &str = "[ -z \"$BASH_VERSION\" ] || [ ! -r ~/.bashrc ] || . ~/.bashrc; :";
/// Bash reads the first of these that exists.
const PROFILES: [&str; 3] = [".bash_profile", ".bash_login", ".profile"];

pub async fn check(setup: &FolderSetup) -> Vec<Finding> {
    let set: Option<String> = setup.settings.user("shellPath").filter(|path: &String| !path.is_empty());
    let shell = match &set {
        Some(program) => Shell::at(program, &setup.env),
        None => Shell::choose(&setup.env),
    };
    let program = shell.program.display().to_string();
    if !shell.program.is_file() {
        let text =
            format!("{program} does not exist\nhint: install bash, or set `shellPath` to a shell that supports -c");
        return vec![Finding::failure(SHELL, text)];
    }
    let own = setup.env.get(vars::SHELL).filter(|own| *own != program && set.is_none());
    let why = own.map(|own| format!(" (not your {own}; set `shellPath` to use it)")).unwrap_or_default();
    let named = Finding::fine(SHELL, format!("{program}{why}"));
    if cfg!(windows) { vec![named] } else { vec![named, start_up(setup, &shell).await] }
}

/// Runs the start-up files once, as a session does. They belong to the user, so they run without a sandbox.
async fn start_up(setup: &FolderSetup, shell: &Shell) -> Finding {
    let spawn = Spawn::new("/bin/sh", ChildEnv::unattended(&setup.env), &Containment::of_user());
    let spawn = spawn.arg("-c").arg(COMPLAINTS_ONLY).arg(&shell.program).arg(last_words(&setup.dirs.home));
    let spawn = spawn.cwd(&setup.dirs.home);
    let started = Instant::now();
    let captured = spawn.capture(MOST_OUTPUT, PATIENCE).await;
    judged(captured, started.elapsed())
}

/// Returns the command to run last. Most profiles source `.bashrc` themselves, and it must not be counted twice.
fn last_words(home: &Path) -> &'static str {
    let profile = PROFILES.iter().find_map(|name| read_text(&home.join(name), LARGEST_PROFILE).ok());
    if profile.is_some_and(|profile| profile.contains("bashrc")) { ":" } else { ALSO_BASHRC }
}

fn judged(captured: Result<Captured, SpawnError>, took: Duration) -> Finding {
    let captured = match captured {
        Ok(captured) => captured,
        Err(error) => return Finding::failure(START_UP, error.to_string()),
    };
    let hint = "hint: start the shell with `-l -i -x` to see where the time goes";
    let Some(exit) = captured.exit else {
        let text = format!("the startup files take more than {} s, so omp skips them\n{hint}", PATIENCE.as_secs());
        return Finding::warning(START_UP, text);
    };
    let output = String::from_utf8_lossy(&captured.output);
    let complaints: Vec<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !NO_TERMINAL.iter().any(|said| line.contains(said)))
        .take(MOST_LINES)
        .collect();
    let ms = took.as_millis();
    if exit.code != 0 || !complaints.is_empty() {
        let said = complaints.join("\n");
        let hint = "hint: fix the startup file; commands run without its settings";
        return Finding::warning(
            START_UP,
            format!("the startup files exit with code {}\n{said}\n{hint}", exit.code).replace("\n\n", "\n"),
        );
    }
    match took {
        took if took > TOO_SLOW => {
            Finding::warning(START_UP, format!("the startup files take {ms} ms, so omp may skip them\n{hint}"))
        }
        took if took > SLOW => Finding::warning(START_UP, format!("the startup files take {ms} ms\n{hint}")),
        _ => Finding::fine(START_UP, format!("the startup files take {ms} ms")),
    }
}

/// Checks that git is installed and has a committer identity.
pub async fn git(setup: &FolderSetup) -> Finding {
    let ask = async |args: &[&str]| {
        let spawn = Spawn::new("git", ChildEnv::unattended(&setup.env), setup.containment());
        let captured = spawn.args(args).cwd(&setup.cwd).capture(MOST_OUTPUT, PATIENCE).await.ok()?;
        let is_fine = captured.exit.is_some_and(|exit| exit.code == 0);
        is_fine.then(|| String::from_utf8_lossy(&captured.output).trim().to_owned()).filter(|said| !said.is_empty())
    };
    let Some(version) = ask(&["--version"]).await else {
        return Finding::warning(GIT, "git does not exist, or does not start\nhint: install git");
    };
    let version = version.trim_start_matches("git version ").to_owned();
    let place = match ask(&["rev-parse", "--show-toplevel"]).await {
        Some(top) => format!("repository {top}"),
        None => "not in a repository".to_owned(),
    };
    match (ask(&["config", "user.name"]).await, ask(&["config", "user.email"]).await) {
        (Some(name), Some(email)) => Finding::fine(GIT, format!("{version}, {name} <{email}>, {place}")),
        _ => Finding::warning(
            GIT,
            format!(
                "{version}, {place}; user.name and user.email are not set\nhint: git config --global user.name NAME && git config --global user.email EMAIL"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use omp_exec::ProcessExit;

    use super::super::report::FindingLevel;
    use super::*;

    #[track_caller]
    fn check(output: &str, code: Option<i32>, ms: u64, state: FindingLevel, says: &str) {
        let exit = code.map(|code| ProcessExit { code, signal: None });
        let captured = Captured { output: output.into(), truncated: false, exit };
        let finding = judged(Ok(captured), Duration::from_millis(ms));
        assert_eq!(finding.state, state, "{finding:?}");
        assert!(finding.text.contains(says), "{finding:?}");
        assert_eq!(finding.text.contains("hint:"), state != FindingLevel::Fine, "{finding:?}");
    }

    #[test]
    fn start_up_files_are_judged_by_time_and_complaints() {
        check("", Some(0), 40, FindingLevel::Fine, "take 40 ms");
        check("bash: no job control in this shell\n", Some(0), 40, FindingLevel::Fine, "40 ms");
        check("", Some(0), 700, FindingLevel::Warning, "take 700 ms");
        check("", Some(0), 2500, FindingLevel::Warning, "may skip them");
        check("", None, 10_000, FindingLevel::Warning, "more than 10 s");
        check(
            ".bashrc: line 3: nvm: command not found\n",
            Some(0),
            40,
            FindingLevel::Warning,
            "nvm: command not found",
        );
        check("", Some(7), 40, FindingLevel::Warning, "exit with code 7\nhint:");
    }
}
