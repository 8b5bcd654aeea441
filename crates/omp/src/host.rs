//! Makes sessions out of flags, settings and files: one for a print run, many for a protocol.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::Tool;
use omp_hooks::Hooks;
use omp_llm::{Auth, Providers, Registry, ReplayTiming};
use omp_secrets::{Veil, Veiled};
use omp_session::{
    BudgetLimits, OpenSession, Places, Recorder, RetryPolicy, RunBudget, Session, SessionFeature, SessionHost,
    SessionListing, SessionOptions, StandardFeatures, Titling, Wish, queues_from_settings,
};
use omp_store::{BlobStore, LoadedSession};
use omp_tools::{Bash, Jobs, TextsResource, TodoBoard, UserPython};
use omp_types::{CacheRetention, Editor, Env, Llm, Message, Model, Prices, Secrets, ThinkingLevel, vars};

use crate::cli::{ModelArgs, RunArgs};
use crate::commands;
use crate::compacting;
use crate::compose::{Problem, Recorded, Setup, Tools};
use crate::containing;
use crate::file_commands;
use crate::first_run::{self, FirstRun};
use crate::hooking;
use crate::nested_context::NestedContext;
use crate::recordings::{self, Recordings};
use crate::rule_file::{self, RuleFile};
use crate::run::warn;
use crate::sessions::{self, Opened};
use crate::sessions_export::{self, Exporter};
use crate::set_aside_news::SetAsideNews;
use crate::undo;
use crate::user_shell::{UserInterpreter, UserTerminal};
use crate::{secrets, startup, titles};

pub struct Host {
    args: RunArgs,
    env: Env,
    /// Whether somebody is there to answer questions.
    attended: bool,
    /// Whether the terminal omp runs in goes on with the last of these sessions.
    in_terminal: bool,
    registry: Arc<tokio::sync::Mutex<Registry>>,
    available: Arc<Mutex<Vec<Arc<Model>>>>,
    recordings: Recordings,
    /// These do not get into pages, dumps and logs.
    secrets: Secrets,
    redactor: Arc<Veil>,
    /// Those of the sessions, which hide what is given meanwhile too.
    veils: Mutex<Vec<Weak<Veil>>>,
    /// Shares what is given meanwhile with every session.
    auth: Auth,
    warnings: Mutex<Warnings>,
    /// What all its sessions may take together.
    budget: Arc<RunBudget>,
    /// Whether a session was made before.
    has_begun: AtomicBool,
    /// For a session that starts at once.
    first: Mutex<Option<Setup>>,
}

/// Who answers in a session.
struct Chosen {
    model: Arc<Model>,
    thinking: ThinkingLevel,
    /// Secrets are hidden from it.
    llm: Arc<dyn Llm>,
    veil: Arc<Veil>,
    titling: Option<Titling>,
    retry: RetryPolicy,
}

/// What is wrong in files is told once, not with every session.
#[derive(Default)]
struct Warnings {
    /// Found before there was a session to tell them in.
    early: Vec<String>,
    told: BTreeSet<String>,
}

impl Host {
    pub fn new(mut args: RunArgs, setup: &Setup, attended: bool) -> Self {
        setup.pin_for_run(&mut args.tools);
        args.prompt.started_in = Some(setup.cwd.clone());
        let registry = setup.registry(&args.model);
        let available = Arc::new(Mutex::new(registry.available()));
        let redactor = secrets::redactor(setup, &registry);
        let secrets = sessions_export::secrets(&registry, redactor.clone());
        let auth = registry.auth().clone();
        let budget =
            RunBudget::new(BudgetLimits { max_tokens: args.budget.max_tokens, max_cost: args.budget.max_cost });
        Self {
            args,
            env: setup.env.clone(),
            attended,
            in_terminal: false,
            registry: Arc::new(tokio::sync::Mutex::new(registry)),
            available,
            recordings: Recordings::default(),
            secrets,
            redactor,
            veils: Mutex::default(),
            auth,
            warnings: Mutex::new(Warnings { early: setup.warnings.clone(), told: BTreeSet::new() }),
            budget: Arc::new(budget),
            has_begun: AtomicBool::new(false),
            first: Mutex::default(),
        }
    }

    /// The first session starts right now, with what was read of the folder a moment ago.
    pub fn at_once(self, setup: &Setup) -> Self {
        let first = Mutex::new(Some(setup.again(&self.args)));
        Self { first, ..self }
    }

    /// Read anew, unless this is the first session and in the folder that was just read.
    fn setup(&self, wish: &Wish) -> Result<(RunArgs, Setup), Problem> {
        let folder = folder_of(wish);
        let args = RunArgs { cwd: folder.clone().or_else(|| self.args.cwd.clone()), ..self.args.clone() };
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let setup = match first.filter(|first| first.is_fresh() && folder.is_none_or(|folder| folder == first.cwd)) {
            Some(first) => first,
            None => Setup::new(&args, &self.env)?,
        };
        Ok((args, setup))
    }

    fn tell_once(&self, warnings: &mut Vec<String>) {
        let mut known = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let found = std::mem::take(&mut known.early).into_iter().chain(std::mem::take(warnings));
        warnings.extend(found.filter(|warning| known.told.insert(warning.clone())));
    }

    /// For a front end that a person started in a terminal: `--continue` goes on there with the session it had last.
    pub fn in_terminal(self) -> Self {
        Self { in_terminal: true, ..self }
    }

    /// What a key can be given for.
    pub fn key_providers(&self) -> Vec<omp_interactive::Provider> {
        self.registry.try_lock().map(|registry| first_run::providers(&registry)).unwrap_or_default()
    }

    /// A key that the user gives now: every session has it from its next request on.
    pub fn give_key(&self, provider: &str, key: &str) {
        if let Some(found) = secrets::given(key) {
            self.living_veils().for_each(|veil| veil.add(found.clone()));
            self.redactor.add(found);
        }
        self.auth.give_key(provider, key);
        if let Ok(registry) = self.registry.try_lock() {
            *self.available.lock().unwrap_or_else(PoisonError::into_inner) = registry.available();
        }
    }

    /// A text that the user has typed, as it may be kept: what recalls it later means the same secrets.
    pub fn hide_typed(&self, text: &str) -> String {
        self.living_veils().fold(text.to_owned(), |text, veil| veil.hide(&text).into_owned())
    }

    /// What must not get into what others read.
    pub fn secrets(&self) -> Secrets {
        self.secrets.clone()
    }

    fn living_veils(&self) -> impl Iterator<Item = Arc<Veil>> {
        let veils = self.veils.lock().unwrap_or_else(PoisonError::into_inner);
        veils.iter().filter_map(Weak::upgrade).collect::<Vec<_>>().into_iter()
    }

    /// What the user should know at the end of a run.
    pub fn last_words(&self) -> Vec<String> {
        self.recordings.problem().into_iter().collect()
    }

    /// What the flags ask for: the session that is named, the newest, or a new one.
    pub fn wish(&self, setup: &Setup) -> Result<Wish, Problem> {
        sessions::wish(setup, &self.args.session)
    }

    /// Whether sessions get a title: only those with somebody behind them who may look for them later.
    pub fn titles(&self) -> bool {
        self.attended && !self.args.session.no_title && self.env.get(vars::PI_NO_TITLE).is_none()
    }

    /// Moves a session and goes on with it. When it cannot go on there, it is moved back.
    async fn start_elsewhere(&self, editor: Editor, file: PathBuf, cwd: PathBuf) -> Result<OpenSession, Problem> {
        let setup = Setup::new(&RunArgs { cwd: Some(cwd.clone()), ..self.args.clone() }, &self.env)?;
        let moved = sessions::relocate(&setup, &self.args.session, &file)?;
        let there = Wish::Resume { file: moved.now.clone(), cwd: Some(cwd) };
        match self.start(editor, there).await {
            Ok(opened) => Ok(opened),
            Err(problem) => Err(moved.back(problem)),
        }
    }

    /// How much the session may cost.
    fn limits(&self, setup: &mut Setup, model: &Model) -> BudgetLimits {
        let limits = BudgetLimits::from_settings(&setup.settings);
        let costs = limits.max_cost.is_some() || self.budget.limits().max_cost.is_some();
        if costs && model.cost == Prices::default() {
            setup.warnings.push(unpriced(model));
        }
        limits
    }

    /// Who answers in a session, and what must not be told to them.
    async fn choose(
        &self,
        setup: &mut Setup,
        args: &ModelArgs,
        recorded: Recorded,
        is_recorded: bool,
    ) -> Result<Chosen, Problem> {
        let mut registry = self.registry.lock().await;
        setup.listener = self.recordings.listener(setup, args, &registry, &self.redactor)?;
        let replay = self.recordings.replay(setup, args)?;
        let chosen = match &replay {
            Some(replay) => Ok((replay.model(), args.thinking.unwrap_or(replay.thinking()))),
            None => setup.model(&mut registry, args, recorded).await,
        };
        *self.available.lock().unwrap_or_else(PoisonError::into_inner) = registry.available();
        let veil = self.veil(setup, &registry, is_recorded);
        // Told even when there is no model: a broken models.yml may well be the reason.
        let (model, thinking) = chosen.inspect_err(|_| warn(&setup.warnings))?;
        let titling = self.titles().then(|| titles::titling(setup, &registry, &model));
        let retry = retries(setup, replay.is_some());
        let auth = registry.auth().clone();
        let llm = replay.map(|replay| replay as Arc<dyn Llm>).unwrap_or_else(|| provider(setup, auth));
        Ok(Chosen { model, thinking, llm: Arc::new(Veiled::new(llm, veil.clone())), veil, titling, retry })
    }

    async fn start(&self, editor: Editor, wish: Wish) -> Result<OpenSession, Problem> {
        let _part = startup::part("session");
        let (args, mut setup) = self.setup(&wish)?;
        setup.tell_of_trust();
        self.tell_once(&mut setup.warnings);
        let begun = hooking::source(&wish, !self.has_begun.load(Ordering::Relaxed));
        let mut opened = sessions::open(&mut setup, &args.session, wish)?;
        opened.resources.push(file_commands::skills_resource(&setup));
        let recorded = std::mem::take(&mut opened.recorded);
        offer_rules(&mut setup, &mut opened);
        let Chosen { model, thinking, llm, veil, titling, retry } =
            self.choose(&mut setup, &args.model, recorded, opened.recorder.path().is_some()).await?;
        opened.artifacts = secrets::veiled(opened.artifacts, veil.clone());
        let tier = setup.service_tier(&args.model)?;
        let built = setup.tools(&args.tools, &model, self.attended, editor, &opened)?;
        setup.warnings.extend(containing::warnings(&setup));
        if built.tools.iter().any(|tool| tool.name() == Bash::NAME) {
            built.shell.read_start_files();
        }
        let python = UserPython::new(setup.env.clone(), setup.cwd.clone(), opened.artifacts.clone());
        let Opened { mut recorder, resumed, is_resumed, .. } = opened;
        let user_edit = commands::edited_todos(&resumed.messages);
        note_model(&mut recorder, is_resumed, &model, thinking);
        let places = Places::new(&setup.workspace, Some(&setup.dirs.home)).started_in(&setup.cwd);
        let policy = rule_file::policy(&setup.settings, places, &mut setup.warnings)?;
        recorder.keep(setup.trust_entry());
        let header = recorder.header().clone();
        let system = setup.system_prompt(&args, &header, &built.tools)?;
        self.leave_breadcrumb(&setup, &recorder);
        let hooks = hooking::hooks(&mut setup);
        let undo = undo::open(&mut setup, &recorder);
        let features = StandardFeatures {
            rules: setup.stream_rules(),
            own: own_features(&setup, &built, &resumed.messages),
            hooks: hooking::sets(&hooks),
            files: undo.clone().map(|undo| undo::kept(&setup, undo, &built.jobs, veil.clone())),
            titling,
            jobs: Some(commands::watched(&built.jobs)),
            jobs_wake: setup.settings.get("async.wakeIdle").unwrap_or(false),
            run_budget: self.budget.clone(),
            budget: self.limits(&mut setup, &model),
        };
        let (session, actor) = Session::open(SessionOptions {
            thinking,
            tools: built.tools.clone(),
            system,
            veil,
            resumed,
            begun,
            policy,
            access: setup.access(),
            rule_keeper: Some(Arc::new(RuleFile(setup.dirs.settings_file()))),
            retry,
            cache: cache_retention(&self.env),
            queues: queues_from_settings(&setup.settings),
            attended: self.attended,
            tier,
            look_around: setup.look_around(),
            features: features.list(),
            compaction: compacting::options(&setup, self.available.clone()),
            ..SessionOptions::new(llm, model, recorder)
        });
        self.has_begun.store(true, Ordering::Relaxed);
        let todos = built.todos;
        let safeguards = containing::safeguards(&setup, undo.is_some());
        let parts = self.command_parts(&setup, &args, todos.clone(), built.jobs, hooks);
        let commands = commands::all(commands::Parts { files: undo, ..parts });
        if let (Some(board), Some(phases)) = (&todos, user_edit) {
            board.resume(phases);
        }
        containing::make_ahead(setup.containment());
        Ok(OpenSession {
            session,
            actor,
            header,
            commands,
            shell: Arc::new(UserTerminal(built.shell)),
            python: Some(Arc::new(UserInterpreter(python))),
            todos: todos.map(|todos| Arc::new(commands::Board(todos)) as Arc<dyn omp_session::TodoBoard>),
            safeguards,
            warnings: setup.warnings,
        })
    }

    fn leave_breadcrumb(&self, setup: &Setup, recorder: &Recorder) {
        if let Some(file) = recorder.path().filter(|_| self.in_terminal) {
            sessions::leave_breadcrumb(setup, &file);
        }
    }

    fn veil(&self, setup: &mut Setup, registry: &Registry, is_recorded: bool) -> Arc<Veil> {
        let veil = secrets::veil(setup, registry, is_recorded);
        // A provider of the user's own has its key in a variable that nobody else knows for one.
        setup.env = setup.env.clone().keeping_back(registry.secrets());
        let mut veils = self.veils.lock().unwrap_or_else(PoisonError::into_inner);
        veils.retain(|veil| veil.strong_count() > 0);
        veils.push(Arc::downgrade(&veil));
        veil
    }

    fn command_parts(
        &self,
        setup: &Setup,
        args: &RunArgs,
        todos: Option<TodoBoard>,
        jobs: Arc<Jobs>,
        hooks: Arc<Hooks>,
    ) -> commands::Parts {
        commands::Parts {
            cwd: setup.cwd.clone(),
            home: setup.dirs.home.clone(),
            todos,
            jobs,
            hooks,
            sessions: sessions::folder(setup, &args.session),
            registry: self.registry.clone(),
            exporter: Exporter::of(setup, self.secrets.clone()),
            keys: Arc::new(FirstRun::of(setup)),
            brought: file_commands::of(setup, self.registry.clone()),
            files: None,
            settings: commands::SettingsCommand {
                dirs: setup.dirs.clone(),
                cwd: setup.cwd.clone(),
                overlays: args.config.clone(),
            },
            trust: commands::TrustCommand {
                args: args.clone(),
                env: setup.env.clone(),
                cwd: setup.cwd.clone(),
                attended: self.attended,
            },
            debug: commands::DebugCommand {
                agent: setup.dirs.agent.clone(),
                home: setup.dirs.home.clone(),
                env: setup.env.clone(),
                settings: setup.settings.origins().into_iter().map(|(key, layer)| (key, layer.name())).collect(),
                secrets: self.secrets.clone(),
            },
        }
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
        self.available.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn export(&self, session: &Session, to: Option<PathBuf>) -> Result<PathBuf, String> {
        // A session of another folder has its page there; where that folder is gone, here.
        let cwd = Some(PathBuf::from(session.cwd())).filter(|cwd| cwd.is_dir()).or_else(|| self.args.cwd.clone());
        let setup = Setup::new(&RunArgs { cwd, ..self.args.clone() }, &self.env)?;
        Exporter::of(&setup, self.secrets.clone()).export(session, to.as_deref())
    }

    fn sessions(&self, cwd: Option<PathBuf>) -> Result<Vec<SessionListing>, String> {
        sessions::listed(&Setup::new(&self.args, &self.env)?, &self.args.session, cwd.as_deref())
    }

    fn delete(&self, file: &Path) -> Result<(), String> {
        let sessions = sessions::folder(&Setup::new(&self.args, &self.env)?, &self.args.session);
        sessions.trash(file).map(drop).map_err(|error| error.to_string())
    }

    fn rename(&self, file: &Path, title: &str) -> Result<(), String> {
        let blobs = BlobStore::new(&Setup::new(&self.args, &self.env)?.dirs.agent);
        sessions::rename(LoadedSession::open(file, blobs).map_err(|error| error.to_string())?, title).map(drop)
    }
}

/// A session that goes on has them already.
fn note_model(recorder: &mut Recorder, resumed: bool, model: &Model, thinking: ThinkingLevel) {
    if !resumed {
        recorder.model_changed(model);
        recorder.thinking_changed(thinking);
    }
}

fn folder_of(wish: &Wish) -> Option<PathBuf> {
    match wish {
        Wish::New { cwd, .. } | Wish::Resume { cwd, .. } | Wish::Fork { cwd, .. } => cwd.clone(),
        Wish::Branch { file, .. } => sessions::folder_in(file),
        Wish::Move { cwd, .. } => Some(cwd.clone()),
    }
}

/// What omp itself takes part with in a session.
fn own_features(setup: &Setup, tools: &Tools, history: &[Message]) -> Vec<Arc<dyn SessionFeature>> {
    let mut features: Vec<Arc<dyn SessionFeature>> = vec![
        Arc::new(commands::JobNews { jobs: tools.jobs.clone() }),
        Arc::new(NestedContext::new(setup.cwd.clone(), history)),
        Arc::new(SetAsideNews::of(setup.containment())),
    ];
    if let Some(board) = tools.todos.clone() {
        let on = setup.settings.get("todo.reminders").unwrap_or(true);
        let max = if on { setup.settings.get("todo.remindersMax").unwrap_or(1) } else { 0 };
        features.push(Arc::new(commands::TodoReminder { board, max, given: Default::default() }));
    }
    features
}

/// Where nobody answers there is nothing to wait for.
fn retries(setup: &Setup, is_replay: bool) -> RetryPolicy {
    let waits = !is_replay || recordings::timing(&setup.env) == ReplayTiming::Real;
    RetryPolicy { waits, ..RetryPolicy::from_settings(&setup.settings) }
}

/// The models of the registry, over the network.
fn provider(setup: &Setup, auth: Auth) -> Arc<dyn Llm> {
    Arc::new(Providers::new(setup.client(), auth).with_watchdogs(setup.watchdogs()))
}

/// Tells of rules that cannot be used, and lets those that can be read be read.
fn offer_rules(setup: &mut Setup, opened: &mut Opened) {
    let broken = setup.rules().warnings.clone();
    setup.warnings.extend(broken);
    let texts = setup.rules().readable();
    if !texts.is_empty() {
        opened.resources.push(Arc::new(TextsResource { scheme: "rule", texts }));
    }
}

fn unpriced(model: &Model) -> String {
    format!("there is a cost budget, but {} has no prices, so nothing counts towards it", model.selector())
}

fn cache_retention(env: &Env) -> CacheRetention {
    match env.get(vars::PI_CACHE_RETENTION) {
        Some("long") => CacheRetention::Long,
        _ => CacheRetention::Short,
    }
}
