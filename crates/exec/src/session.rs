//! A shell whose working folder, environment, functions and aliases persist from one command to the next.
//!
//! Every command gets a shell process of its own, so that no command can break the session: the shell dumps its state when
//! it exits, and the next one loads it. `exit 7`, a crash or a kill do no harm.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use omp_contain::Containment;
use omp_types::Env;
use tokio::sync::OnceCell;
use tokio_util::task::AbortOnDropHandle;

use crate::declared;
use crate::dialect::{ShellDialect, ShellDump};
use crate::oversized;
use crate::private_folder::PrivateFolder;
use crate::snapshot::{self, ShellSnapshot};
use crate::spawn::MARK_VARIABLE;
use crate::{ChildEnv, Shell, Spawn};

/// The shell of one agent. Overlapping commands start from its state and do not change it.
pub struct ShellSession {
    shell: Shell,
    env: Env,
    folder: Option<PrivateFolder>,
    /// Set once the definitions of the user's start files are part of the state.
    started: OnceCell<()>,
    /// The result of reading the start files, including a failure: they are run once.
    outcome: Arc<OnceCell<snapshot::SnapshotOutcome>>,
    /// The time limit for the start files.
    start_limit: Duration,
    /// The task that reads the start files before the first command.
    reading: OnceLock<AbortOnDropHandle<()>>,
    state: Mutex<ShellState>,
    busy: AtomicBool,
}

struct ShellState {
    variables: ChildEnv,
    /// Shell code that sets the variables that are not exported.
    plain: String,
    cwd: PathBuf,
    /// Functions and aliases that may define or remove others.
    defining: HashSet<String>,
    /// Notices for the user and the model, delivered with the next command.
    notices: Vec<String>,
}

/// Who reads what a command prints while it runs, and can answer it.
#[derive(Clone, Copy)]
enum Audience {
    /// `keep` says whether the command's changes to the shell's state last.
    Nobody {
        keep: bool,
    },
    User,
}

impl Audience {
    fn keeps_changes(self) -> bool {
        match self {
            Self::Nobody { keep } => keep,
            Self::User => true,
        }
    }
}

/// The right to change the session's state, held by one command at a time.
pub struct ShellTurn {
    session: Arc<ShellSession>,
    /// Variables set for this command only, with their previous values.
    borrowed: Vec<(String, Option<String>)>,
    started_in: PathBuf,
}

/// If the state after a command is larger than this, it is discarded.
const MAX_STATE: u64 = 16 * 1024 * 1024;
/// The default time limit for start files; if it is exceeded, they are ignored.
const START_LIMIT: Duration = Duration::from_secs(10);
const TOO_MUCH_STATE: &str =
    "The shell's variables take more than 16 MiB: changes that this command made to the shell are lost.";
/// The files that a command leaves for omp to read.
const LEFT: &[&str] = &["env", "defs.new", "exported.new", "plain.new"];
/// Variables that belong to the shell process that has exited.
const OF_THE_OLD_SHELL: &[&str] = &["PWD", "SHLVL", "_", MARK_VARIABLE];

impl ShellSession {
    pub fn new(shell: Shell, env: &Env, cwd: PathBuf) -> Self {
        let folder = PrivateFolder::create(env).ok().filter(|folder| folder.path().to_str().is_some());
        let variables = ChildEnv::unattended(env);
        let state = ShellState { variables, plain: String::new(), cwd, defining: HashSet::new(), notices: Vec::new() };
        Self {
            shell,
            env: env.clone(),
            folder,
            started: OnceCell::new(),
            outcome: Arc::default(),
            start_limit: START_LIMIT,
            reading: OnceLock::new(),
            state: Mutex::new(state),
            busy: AtomicBool::new(false),
        }
    }

    /// The current working folder of the shell.
    pub fn cwd(&self) -> PathBuf {
        self.lock().cwd.clone()
    }

    /// Prepares `command` to be started in `cwd`, with `extra` variables for it alone. Without a turn its changes are not
    /// kept: because that was not requested, another command holds the session, or this kind of shell does not support it.
    pub async fn begin(
        self: &Arc<Self>,
        command: &str,
        cwd: &Path,
        extra: &BTreeMap<String, String>,
        keep: bool,
        containment: &Containment,
    ) -> (Spawn, Option<ShellTurn>) {
        self.begin_for(Audience::Nobody { keep }, command, cwd, extra, containment).await
    }

    /// Like [`Self::begin`], for a command that the user works with in a terminal: it may prompt, and start pagers and editors.
    pub async fn begin_in_terminal(
        self: &Arc<Self>,
        command: &str,
        cwd: &Path,
        extra: &BTreeMap<String, String>,
        containment: &Containment,
    ) -> (Spawn, Option<ShellTurn>) {
        self.begin_for(Audience::User, command, cwd, extra, containment).await
    }

    async fn begin_for(
        self: &Arc<Self>,
        audience: Audience,
        command: &str,
        cwd: &Path,
        extra: &BTreeMap<String, String>,
        containment: &Containment,
    ) -> (Spawn, Option<ShellTurn>) {
        let changes = |variables: &ChildEnv| {
            let mut changes = match audience {
                Audience::Nobody { .. } => BTreeMap::new(),
                Audience::User => variables.changes_for_terminal(&self.env),
            };
            changes.extend(extra.iter().map(|(name, value)| (name.clone(), Some(value.clone()))));
            changes
        };
        let Some(folder) = self.folder.as_ref().filter(|_| self.shell.is_posix()) else {
            let variables = self.lock().variables.clone();
            let changes = changes(&variables);
            return (self.shell.spawn(command, variables.changed(&changes), containment).cwd(cwd), None);
        };
        self.started.get_or_init(|| self.adopt_snapshot(folder.path())).await;
        let (variables, plain, definitions) = {
            let state = self.lock();
            (state.variables.clone(), state.plain.clone(), may_define(command) || calls_any(command, &state.defining))
        };
        let changes = changes(&variables);
        let borrowed = changes.keys().map(|name| (name.clone(), variables.get(name).map(str::to_owned))).collect();
        let turn = (audience.keeps_changes() && !self.busy.swap(true, Ordering::AcqRel)).then(|| ShellTurn {
            session: self.clone(),
            borrowed,
            started_in: cwd.to_owned(),
        });
        let (variables, large) = oversized::split(variables.changed(&changes));
        let dialect = self.shell.dialect();
        let mut setup = String::new();
        if turn.is_some() {
            for file in LEFT {
                remove(&folder.path().join(file));
            }
            setup = dialect.dump(&ShellDump { folder: folder.path(), definitions });
        }
        setup += &plain;
        setup.extend(large.iter().map(|(name, value)| dialect.export(name, value)));
        setup += &dialect.recall(folder.path());
        let spawn = Spawn::new(&self.shell.program, variables, containment).args(&self.shell.args);
        (self.shell.with_text(spawn, &setup, command).cwd(cwd).own_folder(folder.path()), turn)
    }

    /// Sets the time limit for the start files; the default is 10 seconds.
    #[must_use]
    pub fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }

    /// Starts to read the user's start files, so that the first command has to wait less. Does nothing without a running
    /// tokio runtime.
    pub fn read_start_files(&self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (shell, env, limit, outcome) =
            (self.shell.clone(), self.env.clone(), self.start_limit, self.outcome.clone());
        self.reading.get_or_init(|| {
            AbortOnDropHandle::new(runtime.spawn(async move {
                outcome.get_or_init(|| snapshot::of(&shell, &env, limit)).await;
            }))
        });
    }

    /// Shares the start files with another session, which has read them or will.
    #[must_use]
    pub fn started_like(mut self, other: &Self) -> Self {
        self.outcome = other.outcome.clone();
        self.start_limit = other.start_limit;
        self
    }

    async fn adopt_snapshot(&self, folder: &Path) {
        match self.outcome.get_or_init(|| snapshot::of(&self.shell, &self.env, self.start_limit)).await {
            Ok(None) => {}
            Ok(Some(snapshot)) => self.adopt(folder, snapshot),
            Err(problem) => self.lock().notices.push(problem.to_string()),
        }
    }

    fn adopt(&self, folder: &Path, snapshot: &ShellSnapshot) {
        let mut state = self.lock();
        let written = std::fs::write(folder.join("options"), &snapshot.options)
            .and_then(|()| std::fs::write(folder.join("defs"), &snapshot.definitions));
        if let Err(error) = written {
            state.notices.push(format!("Your shell's functions and aliases could not be saved: {error}"));
        }
        state.defining = defining(&snapshot.definitions);
        state.plain.clone_from(&snapshot.plain);
        state.variables = snapshot.added_to(std::mem::take(&mut state.variables));
    }

    fn take_over(&self, turn: &ShellTurn) {
        let Some(folder) = self.folder.as_ref().map(PrivateFolder::path) else { return };
        let definitions = adopt_if_whole(folder, "defs");
        if let Some(definitions) = &definitions {
            self.lock().defining = defining(definitions);
        }
        if self.shell.is_bash() {
            // Usually empty, and always written.
            let _ = std::fs::rename(folder.join("exported.new"), folder.join("exported"));
        }
        let dump = folder.join("env");
        let bytes = match left_in(&dump) {
            Ok(bytes) => bytes,
            Err(TooLarge) => return self.lock().notices.push(TOO_MUCH_STATE.to_owned()),
        };
        remove(&dump);
        let Some((mut variables, plain)) = self.read_dump(folder, &bytes) else { return };
        let cwd = variables.remove("PWD").map(PathBuf::from).filter(|cwd| cwd.is_absolute());
        variables.retain(|name, _| !OF_THE_OLD_SHELL.contains(&name.as_str()));
        if definitions.is_some() && self.shell.is_bash() {
            // Exported functions are dumped with the other functions from now on.
            variables.retain(|name, _| !name.starts_with("BASH_FUNC_"));
        }
        for (name, before) in &turn.borrowed {
            match before {
                Some(value) => variables.insert(name.clone(), value.clone()),
                None => variables.remove(name),
            };
        }
        let mut state = self.lock();
        state.variables = variables.into_iter().fold(ChildEnv::default(), |env, (name, value)| env.set(name, value));
        if let Some(plain) = plain {
            state.plain = plain;
        }
        if let Some(cwd) = cwd.filter(|cwd| *cwd != turn.started_in) {
            state.cwd = cwd;
        }
    }

    /// The exported variables, and shell code for the others if this shell lists them.
    fn read_dump(&self, folder: &Path, bytes: &[u8]) -> Option<(BTreeMap<String, String>, Option<String>)> {
        let before = self.lock().variables.clone();
        match self.shell.dialect() {
            ShellDialect::Bash => declared::read(bytes, &before).map(|found| (found.exported, Some(found.plain))),
            ShellDialect::Posix if !bytes.ends_with(&[0]) => declared::read_posix(bytes).map(|found| (found, None)),
            dialect => {
                let variables = bytes.ends_with(&[0]).then(|| variables_in(bytes))?;
                let plain = (dialect == ShellDialect::Zsh).then(|| left_in(&folder.join("plain.new")).ok()).flatten();
                let plain = plain.and_then(|plain| String::from_utf8(plain).ok());
                Some((variables, plain.and_then(|plain| plain.strip_suffix(declared::WHOLE).map(str::to_owned))))
            }
        }
    }

    /// Exported variables that are too large to start a program with, largest first.
    pub fn oversized(&self) -> Vec<(String, usize)> {
        oversized::split(self.lock().variables.clone()).1.into_iter().map(|(name, value)| (name, value.len())).collect()
    }

    /// The notices that were not delivered yet.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().notices)
    }

    /// Resets the working folder to `cwd`, for when the shell's current folder was deleted.
    pub fn return_to(&self, cwd: &Path) {
        self.lock().cwd = cwd.to_owned();
    }

    /// The folder for the state of the shell; no other program may write there.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(PrivateFolder::path)
    }

    /// The current variables.
    pub fn variables(&self) -> ChildEnv {
        self.lock().variables.clone()
    }

    /// Applies the changes to another session's variables since `before`, and its working folder.
    pub fn follow(&self, other: &Self, before: &ChildEnv) {
        let (after, cwd) = (other.variables(), other.cwd());
        let mut state = self.lock();
        let changed = after.iter().filter(|(name, value)| before.get(name) != Some(value));
        state.variables = changed.fold(std::mem::take(&mut state.variables), |env, (name, value)| env.set(name, value));
        state.cwd = cwd;
    }

    fn lock(&self) -> MutexGuard<'_, ShellState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShellTurn {
    /// The command has exited: loads the state that it left.
    pub fn end(self) {
        self.session.take_over(&self);
    }
}

impl Drop for ShellTurn {
    fn drop(&mut self) {
        self.session.busy.store(false, Ordering::Release);
    }
}

/// Whether the command may change functions or aliases. Only then are they dumped, since there can be thousands.
fn may_define(command: &str) -> bool {
    ["()", "function", "alias", "source", ". ", "eval", "unset"].iter().any(|hint| command.contains(hint))
}

struct TooLarge;

/// Reads a state file, which a command may have replaced by a link to a file that it cannot read itself, or by a pipe
/// without a writer. A missing file is empty.
fn left_in(path: &Path) -> Result<Vec<u8>, TooLarge> {
    if std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file() && data.len() > MAX_STATE) {
        return Err(TooLarge);
    }
    Ok(omp_stdx::plain_file::read_itself(path, MAX_STATE).unwrap_or_default())
}

/// Renames `NAME.new` to `NAME` if it is complete, and returns its content.
fn adopt_if_whole(folder: &Path, name: &str) -> Option<String> {
    let written = folder.join(format!("{name}.new"));
    let text = left_in(&written).ok().filter(|text| text.ends_with(declared::WHOLE.as_bytes()))?;
    // On failure the previous file stays in place.
    std::fs::rename(&written, folder.join(name)).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The names of functions, and of aliases that may define something, in the format that shells print.
fn defining(definitions: &str) -> HashSet<String> {
    const MOST: usize = 10_000;
    let name_in = |line: &str| {
        if let Some((name, value)) = line.strip_prefix("alias ").and_then(|alias| alias.split_once('=')) {
            return may_define(value).then(|| name.to_owned());
        }
        let name = line.trim_end().trim_end_matches('{').trim_end().strip_suffix("()")?.trim_end();
        (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| name.to_owned())
    };
    definitions.lines().filter_map(name_in).take(MOST).collect()
}

fn calls_any(command: &str, names: &HashSet<String>) -> bool {
    let mut words = command.split(|at: char| at.is_whitespace() || ";|&(){}`$".contains(at));
    !names.is_empty() && words.any(|word| names.contains(word))
}

fn remove(path: &Path) {
    // The file usually does not exist; a command may have replaced it by a folder.
    if std::fs::remove_file(path).is_err() {
        let _ = std::fs::remove_dir_all(path);
    }
}

/// Parses `NAME=value` entries, each terminated by NUL. Entries that are not UTF-8 are skipped.
pub(crate) fn variables_in(bytes: &[u8]) -> BTreeMap<String, String> {
    let pieces = bytes.split(|byte| *byte == 0).filter_map(|piece| std::str::from_utf8(piece).ok());
    let pairs = pieces.filter_map(|piece| piece.split_once('=')).filter(|(name, _)| !name.is_empty());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
