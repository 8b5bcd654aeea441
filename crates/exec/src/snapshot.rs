//! A snapshot of the user's own shell: aliases, functions, options and variables, read once from its start files.
//!
//! It is a login shell unless `PI_BASH_NO_LOGIN` is set, so that the profile is read even if omp was not started from a
//! terminal. Commands themselves run in plain shells: see [`crate::Shell`]. Processes that the start files leave running,
//! such as an ssh-agent, are ended with the shell that read them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use omp_contain::Containment;
use omp_types::{Env, vars};
use tokio::sync::OnceCell;

use crate::declared::{self, WHOLE};
use crate::environment::is_passed_on;
use crate::session::variables_in;
use crate::{Child, ChildEnv, Shell, Spawn, Stderr};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShellSnapshot {
    /// Shell code that sets the options; to be read before the definitions.
    pub(crate) options: String,
    /// Shell code that defines the functions and aliases.
    pub(crate) definitions: String,
    /// Shell code that sets variables that are not exported.
    pub(crate) plain: String,
    variables: BTreeMap<String, String>,
}

/// Why the start files were ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SnapshotProblem {
    #[error(
        "Your shell's startup files took longer than {0} seconds and were skipped, so commands lack their PATH, functions and aliases. The setting `bash.startFilesTimeout` raises the limit."
    )]
    TooSlow(u64),
    #[error(
        "Your shell's startup files ended {0} and were skipped, so commands lack their PATH, functions and aliases."
    )]
    Ended(String),
    #[error("Your shell's startup files define more than 8 MiB and were skipped.")]
    TooMuch,
    #[error("Your shell's startup files were skipped: {0}")]
    NotStarted(String),
}

pub(crate) type SnapshotOutcome = Result<Option<Arc<ShellSnapshot>>, SnapshotProblem>;

const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Limits the code that has to be read again with every command.
const MAX_PLAIN: usize = 64 * 1024;
/// Number of snapshots kept, for different shells and start files.
const MAX_KEPT: usize = 8;
/// How long the processes of the start files get to exit by themselves.
const GRACE: Duration = Duration::from_millis(300);
const BEGIN: &str = "@omp-snapshot-begins@";
const DEFINITIONS: &str = "@omp-snapshot-definitions@";
const PLAIN: &str = "@omp-snapshot-plain@";
const VARIABLES: &str = "@omp-snapshot-variables@";
const END: &str = "@omp-snapshot-ends@";

/// Options that change the meaning of a command line. Other options are for interactive use, or would end commands early
/// (`errexit`).
const OPTIONS: &[&str] = &[
    // Both shells, with `set -o`.
    "noclobber",
    "pipefail",
    // bash, with `shopt`.
    "cdable_vars",
    "dotglob",
    "extglob",
    "failglob",
    "globstar",
    "lastpipe",
    "nocasematch",
    "xpg_echo",
    // zsh, with `set -o`.
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

/// Which files a shell reads at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum StartFiles {
    Login,
    Interactive,
}

/// A shell, how it is started, and its start files with their modification times.
type SnapshotKey = (PathBuf, StartFiles, Vec<(PathBuf, Option<SystemTime>)>);

/// The snapshot of `shell`, cached while no start file has changed; `None` if there is nothing to read. Concurrent callers
/// wait for one read of the files. A failure is not cached.
pub(crate) async fn of(shell: &Shell, env: &Env, limit: Duration) -> SnapshotOutcome {
    type Kept = HashMap<SnapshotKey, Arc<OnceCell<Arc<ShellSnapshot>>>>;
    static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
    let no_login = env.get(vars::PI_BASH_NO_LOGIN).or_else(|| env.get(vars::CLAUDE_BASH_NO_LOGIN)).is_some();
    let start = if no_login { StartFiles::Interactive } else { StartFiles::Login };
    let Some(files) = start_files(shell, env, start) else { return Ok(None) };
    let changed = |file: PathBuf| std::fs::metadata(&file).ok().map(|data| (file, data.modified().ok()));
    let files: Vec<_> = files.into_iter().filter_map(changed).collect();
    if files.is_empty() {
        return Ok(None);
    }
    let cell = {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (shell.program.clone(), start, files);
        if kept.len() >= MAX_KEPT && !kept.contains_key(&key) {
            kept.clear();
        }
        kept.entry(key).or_default().clone()
    };
    let taken = cell.get_or_try_init(|| async { take(shell, env, start, limit).await.map(Arc::new) });
    taken.await.map(|snapshot| Some(snapshot.clone()))
}

/// The paths of the start files, whether they exist or not.
fn start_files(shell: &Shell, env: &Env, start: StartFiles) -> Option<Vec<PathBuf>> {
    let home = env.get(vars::HOME).map(PathBuf::from)?;
    let (system, folder, own): (&[&str], _, &[&str]) = match start {
        StartFiles::Interactive if shell.is_bash() => (&[], home, &[".bashrc"]),
        StartFiles::Login if shell.is_bash() => {
            (&["/etc/profile"], home, &[".bash_profile", ".bash_login", ".profile", ".bashrc"])
        }
        _ if shell.is_zsh() => {
            let folder = env.get(vars::ZDOTDIR).map_or(home, PathBuf::from);
            match start {
                StartFiles::Interactive => (&[], folder, &[".zshrc"]),
                StartFiles::Login => {
                    let system = &["/etc/zprofile", "/etc/zsh/zprofile"];
                    (system, folder, &[".zshenv", ".zprofile", ".zshrc", ".zlogin"])
                }
            }
        }
        _ => return None,
    };
    Some(system.iter().map(PathBuf::from).chain(own.iter().map(|name| folder.join(name))).collect())
}

async fn take(shell: &Shell, env: &Env, start: StartFiles, limit: Duration) -> Result<ShellSnapshot, SnapshotProblem> {
    let flags: &[&str] = match start {
        // The script reads the profile itself, so that it can detect whether the profile reads `.bashrc`.
        StartFiles::Login if shell.is_bash() => &["--noprofile", "-l", "-i", "-c"],
        StartFiles::Login => &["-l", "-i", "-c"],
        StartFiles::Interactive => &["-i", "-c"],
    };
    let script = script(shell, start).unwrap_or_default();
    // The start files belong to the user, so they are not contained.
    let spawn = Spawn::new(&shell.program, ChildEnv::unattended(env), &Containment::of_user()).args(flags).arg(script);
    let spawn = spawn.cwd(env.get(vars::HOME).map_or("/", |home| if Path::new(home).is_dir() { home } else { "/" }));
    let child =
        spawn.stderr(Stderr::Discarded).start().map_err(|error| SnapshotProblem::NotStarted(error.to_string()))?;
    let output = tokio::time::timeout(limit, read_to_end(child)).await;
    let output = output.map_err(|_| SnapshotProblem::TooSlow(limit.as_secs()))??;
    let mut snapshot = parse(&String::from_utf8_lossy(&output), env)
        .ok_or_else(|| SnapshotProblem::Ended("with unexpected output".to_owned()))?;
    snapshot.variables.retain(|_, value| !env.is_kept_back(value));
    snapshot.forget_ended_agent();
    Ok(snapshot)
}

/// Reads up to the end mark, where the shell stops itself, and ends all processes that it has started. While the shell
/// exists, daemons are still its descendants. Dropping the future kills them at once.
async fn read_to_end(mut child: Child) -> Result<Vec<u8>, SnapshotProblem> {
    let (mut output, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    let end = format!("\n{END}\n");
    loop {
        let read = child.read(&mut buffer).await.unwrap_or_default();
        if read == 0 {
            let exit = child.finish().await.map_err(|error| SnapshotProblem::NotStarted(error.to_string()))?.exit;
            return Err(SnapshotProblem::Ended(format!("the shell with exit code {}", exit.code)));
        }
        let from = output.len().saturating_sub(end.len());
        output.extend_from_slice(&buffer[..read]);
        if output[from..].windows(end.len()).any(|piece| piece == end.as_bytes()) {
            child.end_descendants(GRACE).await;
            return Ok(output);
        }
        if output.len() > MAX_BYTES {
            return Err(SnapshotProblem::TooMuch);
        }
    }
}

/// A bash login shell reads the profile only, and most profiles read `.bashrc`, which must then not be read again: the trap
/// detects its first command.
const PROFILE: &str = r#"OMP_RC=; set -T
trap '[[ ${BASH_SOURCE[0]} -ef ~/.bashrc ]] && { OMP_RC=1; trap - DEBUG; set +T; }' DEBUG
[ -r /etc/profile ] && . /etc/profile
for OMP_FILE in ~/.bash_profile ~/.bash_login ~/.profile; do [ -r "$OMP_FILE" ] && { . "$OMP_FILE"; break; }; done
case $(trap -p DEBUG) in (*BASH_SOURCE*|'') ;; (*) grep -qs '^[^#]*bashrc' "$OMP_FILE" && OMP_RC=1 ;; esac
trap - DEBUG; set +T
[ -z "$OMP_RC" ] && [ -r ~/.bashrc ] && . ~/.bashrc
unset OMP_RC OMP_FILE
"#;

fn script(shell: &Shell, start: StartFiles) -> Option<String> {
    let dump = shell.dialect().dump_definitions()?;
    let profile = if shell.is_bash() && start == StartFiles::Login { PROFILE } else { "" };
    let (shopt, plain) = match shell.is_bash() {
        true => ("\\builtin shopt -p; ", "\\builtin declare -p"),
        // Autoloaded functions are found in these folders.
        false => ("", "typeset -p fpath"),
    };
    Some(format!(
        "{profile}echo; echo {BEGIN}; {shopt}set +o; echo; echo {DEFINITIONS}; {dump}; echo; echo {PLAIN}; {plain}; echo; \
         echo {VARIABLES}; command env -0; echo; echo {END}; kill -STOP $$"
    ))
}

fn parse(output: &str, env: &Env) -> Option<ShellSnapshot> {
    let (_, after) = output.split_once(&format!("\n{BEGIN}\n"))?;
    let (options, after) = after.split_once(&format!("\n{DEFINITIONS}\n"))?;
    let (definitions, after) = after.rsplit_once(&format!("\n{PLAIN}\n"))?;
    let (plain, after) = after.rsplit_once(&format!("\n{VARIABLES}\n"))?;
    let (variables, _) = after.rsplit_once(&format!("\n{END}\n"))?;
    let mut variables = variables_in(variables.as_bytes());
    variables.retain(|name, value| is_passed_on(name) && !value.contains(char::REPLACEMENT_CHARACTER));
    Some(ShellSnapshot {
        options: options.lines().filter(|line| sets_an_option(line)).map(|line| format!("{line}\n")).collect(),
        definitions: definitions.split_inclusive('\n').filter(|line| !asks(line)).collect(),
        plain: plain_variables(plain, env),
        variables,
    })
}

/// Removes keys, whether exported or not.
fn plain_variables(code: &str, env: &Env) -> String {
    let passed = |name: &str, value: &str| is_passed_on(name) && !env.is_kept_back(value);
    let plain = match code.starts_with("typeset ") {
        true => Some(code.to_owned()),
        false => declared::read_if(format!("{code}{WHOLE}").as_bytes(), passed).map(|declared| declared.plain),
    };
    plain.filter(|plain| plain.len() <= MAX_PLAIN).unwrap_or_default()
}

fn sets_an_option(line: &str) -> bool {
    let name = line.strip_prefix("shopt -s ").or_else(|| line.strip_prefix("set -o "));
    name.is_some_and(|name| OPTIONS.contains(&name))
}

/// Whether the alias prompts, such as `alias rm='rm -i'`: it would wait for an answer that never comes.
fn asks(line: &str) -> bool {
    let Some((name, value)) = line.strip_prefix("alias ").and_then(|alias| alias.split_once('=')) else { return false };
    matches!(name.trim_start_matches("-- "), "rm" | "cp" | "mv" | "ln") && value.contains(" -i")
}

impl ShellSnapshot {
    /// Adds variables that only the user's shell has; those that omp was started with are not changed.
    pub(crate) fn added_to(&self, variables: ChildEnv) -> ChildEnv {
        let path = self.merged_path(variables.get("PATH").unwrap_or_default());
        let missing: Vec<_> = self.variables.iter().filter(|(name, _)| variables.get(name).is_none()).collect();
        missing.into_iter().fold(variables, |env, (name, value)| env.set(name, value)).set("PATH", path)
    }

    /// Removes the variables of an agent that a start file started, since it was ended.
    fn forget_ended_agent(&mut self) {
        #[cfg(unix)]
        if let Some(socket) = self.variables.get("SSH_AUTH_SOCK")
            && std::os::unix::net::UnixStream::connect(socket).is_err()
        {
            self.variables.remove("SSH_AUTH_SOCK");
            self.variables.remove("SSH_AGENT_PID");
        }
    }

    /// Keeps the order of `current` and appends folders that only the user's shell has.
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
                      alias ll='ls -l'\nalias rm='rm -i'\n\n@omp-snapshot-plain@\ndeclare -- own=\"1\"\n\
                      declare -x PATH=\"/a\"\ndeclare -- OPENAI_API_KEY=\"sk\"\ndeclare -- kept=\"secret-1234\"\n\n\
                      @omp-snapshot-variables@\nPATH=/a:/b:rel\0JAVA_HOME=/j\0SHLVL=2\0OPENAI_API_KEY=sk\0PAGER=less\0\
                      LINES=two\nlines\0X=two\nlines\0\n@omp-snapshot-ends@\nlogout\n";
        let env: Env = [("KEY", "secret-1234")].into_iter().collect();
        let snapshot = parse(output, &env.keeping_back(["secret-1234".to_owned()])).unwrap();
        assert_eq!(snapshot.options, "shopt -s globstar\nset -o pipefail\n");
        assert_eq!(snapshot.definitions, "f () \n{ \n    :\n}\nalias ll='ls -l'\n");
        assert_eq!(snapshot.plain, "declare -- own=\"1\"\n");
        let env = ChildEnv::default().set("PATH", "/b:/c").set("PAGER", "cat");
        let added: Vec<_> = snapshot.added_to(env).iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(added, ["JAVA_HOME=/j", "PAGER=cat", "PATH=/b:/c:/a", "X=two\nlines"]);
        assert_eq!(parse("nothing of ours", &Env::default()), None);
    }
}
