//! A shell whose folder, environment, functions and aliases go on from one command to the next.
//!
//! Every command gets a shell process of its own, so that no command can break the session: what it leaves is written
//! down by the shell as it ends and handed to the next. `exit 7`, a crash or a kill cost nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use omp_contain::Containment;
use omp_types::Env;
use tokio::sync::OnceCell;

use crate::exported;
use crate::private_folder::PrivateFolder;
use crate::snapshot::{self, Snapshot};
use crate::spawn::MARK_VARIABLE;
use crate::{ChildEnv, Shell, Spawn};

/// One agent's shell. Commands that overlap start from its state and leave none.
pub struct ShellSession {
    shell: Shell,
    env: Env,
    folder: Option<PrivateFolder>,
    /// For containment, made with the first command that is contained.
    spares: OnceLock<Option<PrivateFolder>>,
    /// What the user's own start files define; read once.
    snapshot: OnceCell<Option<Arc<Snapshot>>>,
    state: Mutex<State>,
    busy: AtomicBool,
}

struct State {
    variables: ChildEnv,
    cwd: PathBuf,
}

/// The right to change the session's state, held by the one command that runs in it.
pub struct Turn {
    session: Arc<ShellSession>,
    /// Variables of this command alone, with what they were before.
    borrowed: Vec<(String, Option<String>)>,
    started_in: PathBuf,
}

/// An environment larger than this could not be handed to a process any more.
const MAX_STATE: u64 = 1024 * 1024;
const END_OF_DEFINITIONS: &str = "# whole\n";
/// Belong to the process that has ended.
const OF_THE_OLD_SHELL: &[&str] = &["PWD", "SHLVL", "_", MARK_VARIABLE];

impl ShellSession {
    pub fn new(shell: Shell, env: &Env, cwd: PathBuf) -> Self {
        let folder = PrivateFolder::create(env).ok().filter(|folder| needs_no_quotes(folder.path()));
        let state = State { variables: ChildEnv::unattended(env), cwd };
        Self {
            shell,
            env: env.clone(),
            folder,
            spares: OnceLock::new(),
            snapshot: OnceCell::new(),
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
    ) -> (Spawn, Option<Turn>) {
        let Some(folder) = self.folder.as_ref().filter(|_| self.shell.is_posix()) else {
            let env = with_extra(self.lock().variables.clone(), extra);
            return (self.shell.spawn(command, env, containment).cwd(cwd), None);
        };
        self.snapshot.get_or_init(|| self.adopt_snapshot(folder.path())).await;
        if containment.is_on() {
            self.spares.get_or_init(|| PrivateFolder::for_spares(&self.env));
        }
        let variables = self.lock().variables.clone();
        let borrowed = extra.keys().map(|name| (name.clone(), variables.get(name).map(str::to_owned))).collect();
        let turn = (keep && !self.busy.swap(true, Ordering::AcqRel)).then(|| Turn {
            session: self.clone(),
            borrowed,
            started_in: cwd.to_owned(),
        });
        let script = self.script(folder.path(), turn.is_some(), may_define(command));
        if turn.is_some() {
            remove(&folder.path().join("env"));
            remove(&folder.path().join("defs.new"));
        }
        let spawn = Spawn::new(&self.shell.program, with_extra(variables, extra), containment)
            .args(&self.shell.args)
            .arg(script)
            .arg(&self.shell.program)
            .arg(self.shell.line(command))
            .cwd(cwd)
            .own_folder(folder.path());
        (spawn, turn)
    }

    async fn adopt_snapshot(&self, folder: &Path) -> Option<Arc<Snapshot>> {
        let snapshot = snapshot::of(&self.shell, &self.env).await?;
        std::fs::write(folder.join("options"), &snapshot.options).ok()?;
        std::fs::write(folder.join("defs"), &snapshot.definitions).ok()?;
        let mut state = self.lock();
        state.variables = snapshot.added_to(std::mem::take(&mut state.variables));
        Some(snapshot)
    }

    /// `$1` is the command: it is read after the aliases are known, and sees no arguments.
    fn script(&self, folder: &Path, keep: bool, definitions: bool) -> String {
        let folder = folder.display();
        let mut script = String::new();
        if keep {
            let dump = match self.shell.dump_definitions().filter(|_| definitions) {
                Some(dump) => format!(
                    "{{ {dump}; echo; echo \"{}\"; }} >|\"{folder}/defs.new\" 2>/dev/null; ",
                    END_OF_DEFINITIONS.trim_end()
                ),
                None => String::new(),
            };
            let variables = match self.shell.is_bash() {
                true => exported::dump(&format!("{folder}/env")),
                false => format!("/usr/bin/env -0 >|\"{folder}/env\" 2>/dev/null"),
            };
            script = format!("trap '{dump}{variables}' EXIT; ");
        }
        if self.shell.is_bash() {
            script.push_str("shopt -s expand_aliases; ");
        }
        for file in ["options", "defs"] {
            script.push_str(&format!("if [ -s \"{folder}/{file}\" ]; then . \"{folder}/{file}\" 2>/dev/null; fi; "));
        }
        script + "eval \"shift;$1\""
    }

    fn take_over(&self, turn: &Turn) {
        let Some(folder) = &self.folder else { return };
        let definitions = folder.path().join("defs.new");
        if small_file(&definitions).is_some_and(|text| text.ends_with(END_OF_DEFINITIONS.as_bytes())) {
            // A failure leaves the former definitions in place.
            let _ = std::fs::rename(&definitions, folder.path().join("defs"));
        }
        let dump = folder.path().join("env");
        let Some(bytes) = small_file(&dump) else { return };
        remove(&dump);
        let variables = match bytes.ends_with(&[0]) {
            true => Some(variables_in(&bytes)),
            false => exported::read(&bytes, &self.lock().variables),
        };
        let Some(mut variables) = variables else { return };
        let cwd = variables.remove("PWD").map(PathBuf::from).filter(|cwd| cwd.is_absolute());
        variables.retain(|name, _| !OF_THE_OLD_SHELL.contains(&name.as_str()));
        for (name, before) in &turn.borrowed {
            match before {
                Some(value) => variables.insert(name.clone(), value.clone()),
                None => variables.remove(name),
            };
        }
        let mut state = self.lock();
        state.variables = variables.into_iter().fold(ChildEnv::default(), |env, (name, value)| env.set(name, value));
        if let Some(cwd) = cwd.filter(|cwd| *cwd != turn.started_in) {
            state.cwd = cwd;
        }
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// The command has ended: the session goes on from where it left.
    pub fn end(self) {
        self.session.take_over(&self);
    }
}

impl Drop for Turn {
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

fn needs_no_quotes(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+ ".contains(&byte)))
}

/// A command may have put anything there: a link to what it cannot read itself, a pipe that nobody writes to.
fn small_file(path: &Path) -> Option<Vec<u8>> {
    omp_stdx::plain_file::read_itself(path, MAX_STATE).ok()
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
