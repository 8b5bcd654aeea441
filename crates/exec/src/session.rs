//! A shell whose folder, environment, functions and aliases go on from one command to the next.
//!
//! Every command gets a shell process of its own, so that no command can break the session: what it leaves is written
//! down by the shell as it ends and handed to the next. `exit 7`, a crash or a kill cost nothing.

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

/// One agent's shell. Commands that overlap start from its state and leave none.
pub struct ShellSession {
    shell: Shell,
    env: Env,
    folder: Option<PrivateFolder>,
    /// Set once what the user's own start files define is in the state.
    started: OnceCell<()>,
    /// What came of reading them, a failure included: they are run once.
    outcome: Arc<OnceCell<snapshot::SnapshotOutcome>>,
    /// How long the start files may take.
    start_limit: Duration,
    /// Reads them before the first command asks.
    reading: OnceLock<AbortOnDropHandle<()>>,
    state: Mutex<ShellState>,
    busy: AtomicBool,
}

struct ShellState {
    variables: ChildEnv,
    /// Shell code that sets the variables that are not exported.
    plain: String,
    cwd: PathBuf,
    /// Functions and aliases that may define others, or remove themselves.
    defining: HashSet<String>,
    /// What the user and the model are to be told with the next command.
    notices: Vec<String>,
}

/// The right to change the session's state, held by the one command that runs in it.
pub struct ShellTurn {
    session: Arc<ShellSession>,
    /// Variables of this command alone, with what they were before.
    borrowed: Vec<(String, Option<String>)>,
    started_in: PathBuf,
}

/// A command that leaves more than this leaves nothing.
const MAX_STATE: u64 = 16 * 1024 * 1024;
/// Start files that take longer are done without, unless a setting says otherwise.
const START_LIMIT: Duration = Duration::from_secs(10);
const TOO_MUCH_STATE: &str =
    "The shell's variables take more than 16 MiB: what this command changed in the shell is not kept.";
/// What a command leaves for us to read.
const LEFT: &[&str] = &["env", "defs.new", "exported.new", "plain.new"];
/// Belong to the process that has ended.
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

    /// Where the shell stands.
    pub fn cwd(&self) -> PathBuf {
        self.lock().cwd.clone()
    }

    /// Makes `command` a process to start in `cwd`, with `extra` variables for it alone. Without a turn, what it
    /// changes is not kept: that was not asked for, another command holds the session, or this shell cannot.
    pub async fn begin(
        self: &Arc<Self>,
        command: &str,
        cwd: &Path,
        extra: &BTreeMap<String, String>,
        keep: bool,
        containment: &Containment,
    ) -> (Spawn, Option<ShellTurn>) {
        let Some(folder) = self.folder.as_ref().filter(|_| self.shell.is_posix()) else {
            let env = with_extra(self.lock().variables.clone(), extra);
            return (self.shell.spawn(command, env, containment).cwd(cwd), None);
        };
        self.started.get_or_init(|| self.adopt_snapshot(folder.path())).await;
        let (variables, plain, definitions) = {
            let state = self.lock();
            (state.variables.clone(), state.plain.clone(), may_define(command) || calls_any(command, &state.defining))
        };
        let borrowed = extra.keys().map(|name| (name.clone(), variables.get(name).map(str::to_owned))).collect();
        let turn = (keep && !self.busy.swap(true, Ordering::AcqRel)).then(|| ShellTurn {
            session: self.clone(),
            borrowed,
            started_in: cwd.to_owned(),
        });
        let (variables, large) = oversized::split(with_extra(variables, extra));
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

    /// How long the start files may take, other than 10 seconds.
    #[must_use]
    pub fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }

    /// Begins to read the user's start files, so that the first command need not wait for all of them. Needs a running tokio
    /// runtime; does nothing without.
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

    /// With the start files as the other session has read them, or will.
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
            state.notices.push(format!("Your shell's functions and aliases could not be kept: {error}"));
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
            // Written down with the other functions from now on.
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

    /// The exported variables, and shell code for the others where this shell tells them.
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

    /// Exported variables with which no program can be started, the largest first.
    pub fn oversized(&self) -> Vec<(String, usize)> {
        oversized::split(self.lock().variables.clone()).1.into_iter().map(|(name, value)| (name, value.len())).collect()
    }

    /// What somebody is to be told that was not told yet.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().notices)
    }

    /// Goes back to `cwd`, for when the folder the shell stands in has gone.
    pub fn return_to(&self, cwd: &Path) {
        self.lock().cwd = cwd.to_owned();
    }

    /// Where commands leave what the next is to know; nobody else may write there.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(PrivateFolder::path)
    }

    /// The variables as they are.
    pub fn variables(&self) -> ChildEnv {
        self.lock().variables.clone()
    }

    /// Takes over what has changed in another session's variables since they were `before`, and where it stands.
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
    /// The command has ended: the session goes on from where it left.
    pub fn end(self) {
        self.session.take_over(&self);
    }
}

impl Drop for ShellTurn {
    fn drop(&mut self) {
        self.session.busy.store(false, Ordering::Release);
    }
}

fn with_extra(env: ChildEnv, extra: &BTreeMap<String, String>) -> ChildEnv {
    extra.iter().fold(env, |env, (name, value)| env.set(name, value))
}

/// Functions and aliases are written down only after commands that may have changed them: there can be thousands.
fn may_define(command: &str) -> bool {
    ["()", "function", "alias", "source", ". ", "eval", "unset"].iter().any(|hint| command.contains(hint))
}

struct TooLarge;

/// A command may have put anything there: a link to what it cannot read itself, a pipe that nobody writes to. Nothing at all is
/// empty.
fn left_in(path: &Path) -> Result<Vec<u8>, TooLarge> {
    if std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file() && data.len() > MAX_STATE) {
        return Err(TooLarge);
    }
    Ok(omp_stdx::plain_file::read_itself(path, MAX_STATE).unwrap_or_default())
}

/// What was written to `NAME.new`, if that is whole; it is `NAME` then.
fn adopt_if_whole(folder: &Path, name: &str) -> Option<String> {
    let written = folder.join(format!("{name}.new"));
    let text = left_in(&written).ok().filter(|text| text.ends_with(declared::WHOLE.as_bytes()))?;
    // A failure leaves the former ones in place.
    std::fs::rename(&written, folder.join(name)).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The names of functions, and of aliases that may define something, as shells print them.
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
    // Usually not there; a command may have made a folder of it.
    if std::fs::remove_file(path).is_err() {
        let _ = std::fs::remove_dir_all(path);
    }
}

/// `NAME=value` pieces, each ended by NUL. What is not UTF-8 is left out.
pub(crate) fn variables_in(bytes: &[u8]) -> BTreeMap<String, String> {
    let pieces = bytes.split(|byte| *byte == 0).filter_map(|piece| std::str::from_utf8(piece).ok());
    let pairs = pieces.filter_map(|piece| piece.split_once('=')).filter(|(name, _)| !name.is_empty());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
