//! What the user's own shell knows: aliases, functions, options and variables, read once from its start files.
//!
//! The shell that is asked is a login shell unless `PI_BASH_NO_LOGIN` is set, so that the profile counts even where omp
//! was not started from a terminal. Commands themselves run in plain shells: see [`crate::Shell`].

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use omp_contain::Containment;
use omp_types::{Env, vars};

use crate::environment::is_passed_on;
use crate::session::variables_in;
use crate::{ChildEnv, Shell, Spawn, Stderr};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Shell code that sets the options again; to be read before the definitions.
    pub(crate) options: String,
    /// Shell code that makes the functions and aliases again.
    pub(crate) definitions: String,
    variables: BTreeMap<String, String>,
}

/// Start files that take longer are done without.
const PATIENCE: Duration = Duration::from_secs(2);
const MAX_BYTES: usize = 1024 * 1024;
/// Different shells and start files remembered.
const MAX_KEPT: usize = 8;
const BEGIN: &str = "@omp-snapshot-begins@";
const DEFINITIONS: &str = "@omp-snapshot-definitions@";
const VARIABLES: &str = "@omp-snapshot-variables@";

/// Options that change what a command line means. Others belong to a shell that somebody types into, or would end
/// commands early (`errexit`).
const OPTIONS: &[&str] = &[
    // Both shells, by `set -o`.
    "noclobber",
    "pipefail",
    // bash, by `shopt`.
    "cdable_vars",
    "dotglob",
    "extglob",
    "failglob",
    "globstar",
    "lastpipe",
    "nocasematch",
    "xpg_echo",
    // zsh, by `set -o`.
    "extendedglob",
    "globdots",
    "globstarshort",
    "interactivecomments",
    "kshglob",
    "nonomatch",
    "rcquotes",
    "shwordsplit",
    // Both, each in its own way.
    "nocaseglob",
    "nullglob",
];

/// Which files a shell reads when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Start {
    Login,
    Interactive,
}

/// A shell, how it is started, and its start files with their times.
type Key = (PathBuf, Start, Vec<(PathBuf, Option<SystemTime>)>);

/// The snapshot for `shell`, from memory while no start file has changed. `None` when there is nothing to read or
/// reading it failed.
pub(crate) async fn of(shell: &Shell, env: &Env) -> Option<Arc<Snapshot>> {
    let no_login = env.get(vars::PI_BASH_NO_LOGIN).or_else(|| env.get(vars::CLAUDE_BASH_NO_LOGIN)).is_some();
    if !no_login && let Some(snapshot) = kept_or_taken(shell, env, Start::Login).await {
        return Some(snapshot);
    }
    kept_or_taken(shell, env, Start::Interactive).await
}

async fn kept_or_taken(shell: &Shell, env: &Env, start: Start) -> Option<Arc<Snapshot>> {
    static KEPT: LazyLock<Mutex<HashMap<Key, Arc<Snapshot>>>> = LazyLock::new(Mutex::default);
    let changed = |file: PathBuf| std::fs::metadata(&file).ok().map(|data| (file, data.modified().ok()));
    let files: Vec<_> = start_files(shell, env, start)?.into_iter().filter_map(changed).collect();
    if files.is_empty() {
        return None;
    }
    let key = (shell.program.clone(), start, files);
    if let Some(kept) = KEPT.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Some(kept.clone());
    }
    let taken = Arc::new(take(shell, env, start).await?);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(key, taken.clone());
    Some(taken)
}

/// Where the shell looks, whether something is there or not.
fn start_files(shell: &Shell, env: &Env, start: Start) -> Option<Vec<PathBuf>> {
    let home = env.get(vars::HOME).map(PathBuf::from)?;
    let (system, folder, own): (&[&str], _, &[&str]) = match start {
        Start::Interactive if shell.is_bash() => (&[], home, &[".bashrc"]),
        Start::Login if shell.is_bash() => {
            (&["/etc/profile"], home, &[".bash_profile", ".bash_login", ".profile", ".bashrc"])
        }
        _ if shell.is_zsh() => {
            let folder = env.get(vars::ZDOTDIR).map_or(home, PathBuf::from);
            match start {
                Start::Interactive => (&[], folder, &[".zshrc"]),
                Start::Login => {
                    let system = &["/etc/zprofile", "/etc/zsh/zprofile"];
                    (system, folder, &[".zshenv", ".zprofile", ".zshrc", ".zlogin"])
                }
            }
        }
        _ => return None,
    };
    Some(system.iter().map(PathBuf::from).chain(own.iter().map(|name| folder.join(name))).collect())
}

async fn take(shell: &Shell, env: &Env, start: Start) -> Option<Snapshot> {
    let flags: &[&str] = if start == Start::Login { &["-l", "-i", "-c"] } else { &["-i", "-c"] };
    // The user's own start files, which may do what the user may.
    let spawn = Spawn::new(&shell.program, ChildEnv::unattended(env), &Containment::none());
    let spawn = spawn.args(flags).arg(script(shell, start)?);
    let home = Path::new(env.get(vars::HOME)?);
    let captured = spawn.cwd(home).stderr(Stderr::Discarded).capture(MAX_BYTES, PATIENCE).await.ok()?;
    if captured.truncated || captured.exit.is_none_or(|exit| exit.code != 0) {
        return None;
    }
    let mut snapshot = parse(&String::from_utf8_lossy(&captured.output))?;
    snapshot.variables.retain(|_, value| !env.is_kept_back(value));
    Some(snapshot)
}

fn script(shell: &Shell, start: Start) -> Option<String> {
    let dump = shell.dump_definitions()?;
    // A login shell of bash reads the profile only, and not every profile reads the other file.
    let rc = if shell.is_bash() && start == Start::Login { "[ -r ~/.bashrc ] && . ~/.bashrc; " } else { "" };
    let shopt = if shell.is_bash() { "shopt -p; " } else { "" };
    Some(format!(
        "{rc}echo; echo {BEGIN}; {shopt}set +o; echo; echo {DEFINITIONS}; {dump}; echo; echo {VARIABLES}; /usr/bin/env -0"
    ))
}

fn parse(output: &str) -> Option<Snapshot> {
    let (_, after) = output.split_once(&format!("\n{BEGIN}\n"))?;
    let (options, after) = after.split_once(&format!("\n{DEFINITIONS}\n"))?;
    let (definitions, variables) = after.rsplit_once(&format!("\n{VARIABLES}\n"))?;
    // A login shell may still say something as it leaves.
    let (variables, _) = variables.rsplit_once('\0')?;
    let mut variables = variables_in(variables.as_bytes());
    variables.retain(|name, value| is_passed_on(name) && !value.contains(char::REPLACEMENT_CHARACTER));
    Some(Snapshot {
        options: options.lines().filter(|line| sets_an_option(line)).map(|line| format!("{line}\n")).collect(),
        definitions: definitions.split_inclusive('\n').filter(|line| !asks(line)).collect(),
        variables,
    })
}

fn sets_an_option(line: &str) -> bool {
    let name = line.strip_prefix("shopt -s ").or_else(|| line.strip_prefix("set -o "));
    name.is_some_and(|name| OPTIONS.contains(&name))
}

/// `alias rm='rm -i'` and its like would wait for an answer that nobody gives.
fn asks(line: &str) -> bool {
    let Some((name, value)) = line.strip_prefix("alias ").and_then(|alias| alias.split_once('=')) else { return false };
    matches!(name.trim_start_matches("-- "), "rm" | "cp" | "mv" | "ln") && value.contains(" -i")
}

impl Snapshot {
    /// What omp was started with stays as it is; what only the user's shell has is added.
    pub(crate) fn added_to(&self, variables: ChildEnv) -> ChildEnv {
        let path = self.merged_path(variables.get("PATH").unwrap_or_default());
        let missing: Vec<_> = self.variables.iter().filter(|(name, _)| variables.get(name).is_none()).collect();
        missing.into_iter().fold(variables, |env, (name, value)| env.set(name, value)).set("PATH", path)
    }

    /// `current` wins; folders that only the user's shell has come after.
    fn merged_path(&self, current: &str) -> String {
        let own = self.variables.get("PATH").map(String::as_str).unwrap_or_default();
        let mut folders: Vec<&str> = current.split(':').filter(|folder| !folder.is_empty()).collect();
        for folder in own.split(':').filter(|folder| folder.starts_with('/')) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders.join(":")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_is_left_out_and_the_rest_is_joined() {
        let output = "motd\n\n@omp-snapshot-begins@\nshopt -s globstar\nshopt -u extglob\nshopt -s login_shell\n\
                      set -o pipefail\nset -o errexit\n\n@omp-snapshot-definitions@\nf () \n{ \n    :\n}\n\
                      alias ll='ls -l'\nalias rm='rm -i'\n\n@omp-snapshot-variables@\n\
                      PATH=/a:/b:rel\0JAVA_HOME=/j\0SHLVL=2\0OPENAI_API_KEY=sk\0PAGER=less\0LINES=two\nlines\0X=two\nlines\0logout=1\n";
        let snapshot = parse(output).unwrap();
        assert_eq!(snapshot.options, "shopt -s globstar\nset -o pipefail\n");
        assert_eq!(snapshot.definitions, "f () \n{ \n    :\n}\nalias ll='ls -l'\n");
        let env = ChildEnv::default().set("PATH", "/b:/c").set("PAGER", "cat");
        let added: Vec<_> = snapshot.added_to(env).iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(added, ["JAVA_HOME=/j", "PAGER=cat", "PATH=/b:/c:/a", "X=two\nlines"]);
        assert_eq!(parse("nothing of ours"), None);
    }
}
