//! Selects the shell that runs a command line, and how it is started.
//!
//! Commands run in plain shells (`-c`). As a login shell each of them would run the user's profile (150 ms of processor
//! time, compared to 1.5 ms for `-c`), and system profiles such as Debian's reset PATH, which undoes a virtual environment
//! or a version manager that was active when omp was started. So a login shell is started once, for the snapshot, and its
//! definitions are added to every command.

use std::path::{Path, PathBuf};

use omp_contain::Containment;
use omp_types::{Env, vars};

use crate::dialect::ShellDialect;
use crate::platform;
use crate::{ChildEnv, Spawn};

/// A shell that was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    pub program: PathBuf,
    /// The arguments between the program and the command line.
    pub args: Vec<String>,
    /// Prepended to every command line (`PI_SHELL_PREFIX`).
    pub prefix: Option<String>,
}

impl Shell {
    /// The user's shell if it is bash or zsh, else bash, else sh.
    pub fn choose(env: &Env) -> Self {
        let prefix = prefix(env);
        match posix_shell(env) {
            Some(program) => Self { program, args: vec!["-c".into()], prefix },
            None if cfg!(windows) => Self { program: "cmd.exe".into(), args: vec!["/D".into(), "/C".into()], prefix },
            None => Self { program: "/bin/sh".into(), args: vec!["-c".into()], prefix },
        }
    }

    /// The shell that the user configured, regardless of `$SHELL`. It has to support `-c`.
    pub fn at(program: &str, env: &Env) -> Self {
        Self { program: program.into(), args: vec!["-c".into()], prefix: prefix(env) }
    }

    /// Prepares `command` to be started.
    pub fn spawn(&self, command: &str, env: ChildEnv, containment: &Containment) -> Spawn {
        let spawn = Spawn::new(&self.program, env, containment).args(&self.args);
        match self.is_posix() {
            true => self.with_text(spawn, "", command),
            false => spawn.arg(self.line(command)),
        }
    }

    /// Passes `setup` and then `command` to the shell.
    pub(crate) fn with_text(&self, spawn: Spawn, setup: &str, command: &str) -> Spawn {
        let (dialect, slot) = (self.dialect(), platform::text_slot());
        let text = dialect.text(setup, &self.line(command), slot);
        let spawn = spawn.runs(command);
        match slot {
            Some(slot) => spawn.arg(dialect.boot(slot)).arg(&self.program).text(text),
            None => spawn.arg(dialect.boot_from_argument()).arg(&self.program).arg(text),
        }
    }

    pub(crate) fn line(&self, command: &str) -> String {
        match &self.prefix {
            Some(prefix) => format!("{prefix} {command}"),
            None => command.to_owned(),
        }
    }

    pub(crate) fn is_posix(&self) -> bool {
        self.args == ["-c"]
    }

    pub(crate) fn dialect(&self) -> ShellDialect {
        ShellDialect::of(&self.program)
    }

    pub(crate) fn is_bash(&self) -> bool {
        self.dialect() == ShellDialect::Bash
    }

    pub(crate) fn is_zsh(&self) -> bool {
        self.dialect() == ShellDialect::Zsh
    }
}

fn prefix(env: &Env) -> Option<String> {
    env.get(vars::PI_SHELL_PREFIX).or_else(|| env.get(vars::CLAUDE_CODE_SHELL_PREFIX)).map(str::to_owned)
}

fn posix_shell(env: &Env) -> Option<PathBuf> {
    let own = env.get(vars::SHELL).map(Path::new).filter(|shell| is_bash_or_zsh(shell) && shell.is_file());
    own.map(Path::to_owned).or_else(|| on_path("bash", env)).or_else(|| on_path("sh", env))
}

fn is_bash_or_zsh(shell: &Path) -> bool {
    shell.is_absolute() && shell.file_stem().is_some_and(|name| name == "bash" || name == "zsh")
}

fn on_path(name: &str, env: &Env) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::split_paths(env.get(vars::PATH).unwrap_or("/usr/local/bin:/usr/bin:/bin"));
    // With a relative entry the working folder of omp would choose the shell.
    folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(&file)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[track_caller]
    fn check(variables: &[(&str, &str)], program: &str) {
        let env: Env = variables.iter().copied().collect();
        assert_eq!(Shell::choose(&env).program, Path::new(program));
    }

    #[cfg(unix)]
    #[test]
    fn the_users_shell_wins_when_it_speaks_posix() {
        let bin = tempfile::tempdir().unwrap();
        let path = |name: &str| bin.path().join(name).to_string_lossy().into_owned();
        for name in ["bash", "zsh", "fish", "sh"] {
            std::fs::write(path(name), "").unwrap();
        }
        let bin = bin.path().to_str().unwrap();
        check(&[("SHELL", &path("zsh")), ("PATH", bin)], &path("zsh"));
        check(&[("SHELL", &path("fish")), ("PATH", bin)], &path("bash"));
        check(&[("SHELL", "/gone/bash"), ("PATH", bin)], &path("bash"));
        check(&[("SHELL", "bash"), ("PATH", bin)], &path("bash"));
        check(&[("PATH", &format!("relative:{bin}"))], &path("bash"));
        std::fs::remove_file(path("bash")).unwrap();
        check(&[("PATH", bin)], &path("sh"));
        check(&[("PATH", "/gone")], "/bin/sh");
    }

    #[test]
    fn prefix_stands_before_the_command() {
        let env: Env = [("PI_SHELL_PREFIX", "nice -n 5")].into_iter().collect();
        assert_eq!(Shell::choose(&env).prefix.as_deref(), Some("nice -n 5"));
        let env: Env = [("CLAUDE_CODE_SHELL_PREFIX", "old")].into_iter().collect();
        assert_eq!(Shell::choose(&env).prefix.as_deref(), Some("old"));
    }
}
