//! Creates sessions from flags, settings and files: one for a print run, many for a protocol.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_config::Dirs;
use omp_session::{OfferedModel, OpenSession, Session, SessionHost, SessionListing, Wish};
use omp_store::{BlobStore, LoadedSession, SessionsDir};
use omp_types::{Editor, Model, Secrets, vars};

use crate::cli::RunArgs;
use crate::folder::{AskedPrompt, FolderProblem, FolderSetup, working_folder};
use crate::modes::first_run;
use crate::output::warn;
use crate::session::blueprint::{AssemblyFailed, Blueprint, SessionPlan, SharedParts};
use crate::session::hooking;
use crate::session::pages::Exporter;
use crate::session::sessions;
use crate::startup;

/// Creates sessions. Each session reads its folder again to see changes since the last one; nothing else reads it again.
pub struct Host {
    args: RunArgs,
    /// Whether a user is present to answer questions.
    attended: bool,
    /// Whether `--continue` in this terminal resumes the last of these sessions.
    in_terminal: bool,
    /// Whether the end of a background job may start a run.
    wakes: bool,
    dirs: Dirs,
    sessions: SessionsDir,
    shared: Arc<SharedParts>,
    warnings: Mutex<Warnings>,
    /// Whether a session was created before.
    has_begun: AtomicBool,
    /// The setup that was read at startup, for the first session.
    first: Mutex<Option<FolderSetup>>,
}

/// Warnings about files, shown once and not with every session.
#[derive(Default)]
struct Warnings {
    /// Warnings found before there was a session to show them in.
    early: Vec<String>,
    told: BTreeSet<String>,
    /// Warnings of sessions that could not be opened.
    failed: Vec<String>,
}

impl Host {
    pub fn new(mut args: RunArgs, setup: &FolderSetup, attended: bool) -> Self {
        setup.pin_for_run(&mut args.tools);
        args.prompt.started_in = Some(setup.cwd.clone());
        Self {
            dirs: setup.dirs.clone(),
            sessions: sessions::folder(setup, &args.session),
            shared: Arc::new(SharedParts::new(&args, setup)),
            args,
            attended,
            in_terminal: false,
            wakes: false,
            warnings: Mutex::new(Warnings { early: setup.warnings.clone(), ..Warnings::default() }),
            has_begun: AtomicBool::new(false),
            first: Mutex::default(),
        }
    }

    /// Starts the first session at once, with the setup that was just read.
    pub fn at_once(self, setup: &FolderSetup) -> Self {
        let first = Mutex::new(Some(setup.again(&self.args)));
        Self { first, ..self }
    }

    /// For a front end that a person started in a terminal: `--continue` there resumes its last session.
    pub fn in_terminal(self) -> Self {
        Self { in_terminal: true, ..self }
    }

    /// For a front end that can show a run that the user did not start.
    pub fn waking(self) -> Self {
        Self { wakes: true, ..self }
    }

    /// Returns the blueprint of a folder. The folder is read again, unless this is the first session and its folder was just
    /// read.
    fn blueprint(&self, folder: Option<PathBuf>) -> Result<Arc<Blueprint>, FolderProblem> {
        let args = RunArgs { cwd: folder.clone().or_else(|| self.args.cwd.clone()), ..self.args.clone() };
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let setup = match first.filter(|first| first.is_fresh() && folder.is_none_or(|folder| folder == first.cwd)) {
            Some(first) => first,
            None => FolderSetup::new(&args, &self.shared.env)?,
        };
        Ok(Arc::new(Blueprint::new(Arc::new(setup), args, self.shared.clone())))
    }

    /// Opens the first session of a run. If that fails, warnings that may be the reason are printed.
    pub async fn open_first(&self, editor: Editor, wish: Wish) -> Result<OpenSession, FolderProblem> {
        self.open_in(editor, wish).await.inspect_err(|_| warn(&self.last_words()))
    }

    fn warnings(&self) -> MutexGuard<'_, Warnings> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_once(&self, warnings: Vec<String>) -> Vec<String> {
        let mut known = self.warnings();
        let found = std::mem::take(&mut known.early).into_iter().chain(warnings);
        found.filter(|warning| known.told.insert(warning.clone())).collect()
    }

    /// Returns the providers that the user can enter a key for.
    pub fn key_providers(&self) -> Vec<omp_interactive::Provider> {
        self.shared.registry.try_lock().map(|registry| first_run::providers(&registry)).unwrap_or_default()
    }

    /// Stores a key that the user enters. Every session uses it from its next request on.
    pub fn give_key(&self, provider: &str, key: &str) {
        self.shared.give_key(provider, key);
    }

    /// Replaces secrets in typed text by placeholders, so that it can be stored. Recalling it restores the same secrets.
    pub fn hide_typed(&self, text: &str) -> String {
        self.shared.living_veils().fold(text.to_owned(), |text, veil| veil.hide(&text).into_owned())
    }

    /// Returns the secrets to redact from text that others read.
    pub fn secrets(&self) -> Secrets {
        self.shared.secrets.clone()
    }

    /// Returns warnings to show at the end of a run.
    pub fn last_words(&self) -> Vec<String> {
        let failed = std::mem::take(&mut self.warnings().failed);
        failed.into_iter().chain(self.shared.recordings.take_warnings()).collect()
    }

    /// Returns the session that the flags ask for: a named one, the newest, or a new one.
    pub fn wish(&self, setup: &FolderSetup) -> Result<Wish, FolderProblem> {
        sessions::wish(setup, &self.args.session)
    }

    /// Whether sessions get a title. Only attended sessions do, because a user may look for them later.
    pub fn titles(&self) -> bool {
        self.attended && !self.args.session.no_title && self.shared.env.get(vars::PI_NO_TITLE).is_none()
    }

    async fn start(&self, editor: Editor, wish: Wish) -> Result<OpenSession, FolderProblem> {
        let _part = startup::part("session");
        let blueprint = self.blueprint(folder_of(&wish))?;
        self.start_with(&blueprint, editor, wish).await
    }

    /// Moves a session to another folder and resumes it there. If it cannot be resumed, it is moved back.
    async fn start_elsewhere(&self, editor: Editor, file: PathBuf, cwd: PathBuf) -> Result<OpenSession, FolderProblem> {
        let _part = startup::part("session");
        let blueprint = self.blueprint(Some(cwd.clone()))?;
        let moved = sessions::relocate(blueprint.setup(), &self.args.session, &file)?;
        let there = Wish::Resume { file: moved.now.clone(), cwd: Some(cwd) };
        match self.start_with(&blueprint, editor, there).await {
            Ok(opened) => Ok(opened),
            Err(problem) => Err(moved.back(problem)),
        }
    }

    async fn start_with(
        &self,
        blueprint: &Arc<Blueprint>,
        editor: Editor,
        wish: Wish,
    ) -> Result<OpenSession, FolderProblem> {
        let setup = blueprint.setup();
        let warnings = self.tell_once([setup.warnings.clone(), setup.trust_warnings()].concat());
        let begun = hooking::source(&wish, !self.has_begun.load(Ordering::Relaxed));
        let opened = sessions::open(setup, &self.args.session, wish)?;
        let file = opened.recorder.path();
        let plan = SessionPlan {
            editor,
            opened,
            begun,
            attended: self.attended,
            wakes: self.wakes,
            titled: self.titles(),
            prompt: AskedPrompt::default(),
            warnings,
        };
        let opened = blueprint.assemble(plan).await.map_err(|AssemblyFailed { problem, warnings }| {
            let mut known = self.warnings();
            let new: Vec<String> = warnings.into_iter().filter(|warning| !known.failed.contains(warning)).collect();
            known.failed.extend(new);
            problem
        })?;
        self.has_begun.store(true, Ordering::Relaxed);
        if let Some(file) = file.filter(|_| self.in_terminal) {
            sessions::leave_breadcrumb(setup, &file);
        }
        Ok(opened)
    }
}

impl SessionHost for Host {
    fn open_in(&self, editor: Editor, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>> {
        match wish {
            Wish::Move { file, cwd } => self.start_elsewhere(editor, file, cwd).boxed(),
            wish => self.start(editor, wish).boxed(),
        }
    }

    fn models(&self) -> Vec<Arc<Model>> {
        self.shared.models()
    }

    fn offered_models(&self) -> Vec<OfferedModel> {
        self.shared.offered_models()
    }

    fn export(&self, session: &Session, to: Option<PathBuf>) -> Result<PathBuf, String> {
        // The page of a session is written to the session's own folder, or here if that folder no longer exists.
        let cwd = Some(PathBuf::from(session.cwd())).filter(|cwd| cwd.is_dir()).or_else(|| self.args.cwd.clone());
        let cwd = working_folder(cwd.as_deref())?;
        let exporter = Exporter::in_folder(&self.dirs, cwd, self.shared.env.clone(), self.secrets());
        exporter.export(session, to.as_deref())
    }

    fn sessions(&self, cwd: Option<PathBuf>) -> Result<Vec<SessionListing>, String> {
        sessions::listed(&self.sessions, cwd.as_deref())
    }

    fn delete(&self, file: &Path) -> Result<(), String> {
        self.sessions.trash(file).map(drop).map_err(|error| error.to_string())
    }

    fn rename(&self, file: &Path, title: &str) -> Result<(), String> {
        let session = LoadedSession::open(file, BlobStore::new(&self.dirs.agent)).map_err(|error| error.to_string())?;
        sessions::rename(session, title).map(drop)
    }
}

fn folder_of(wish: &Wish) -> Option<PathBuf> {
    match wish {
        Wish::New { cwd, .. } | Wish::Resume { cwd, .. } | Wish::Fork { cwd, .. } => cwd.clone(),
        Wish::Branch { file, .. } => sessions::folder_in(file),
        Wish::Move { cwd, .. } => Some(cwd.clone()),
    }
}
