//! The configuration that the sessions of one folder are created from. One blueprint creates any number of sessions, also
//! while others run.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::ToolRole;
use omp_commands::{
    CommandParts, DebugCommand, ModelDirectory, SettingsCommand, TaskList, TerminalSetupCommand, TrustCommand,
};
use omp_config::ProjectRules;
use omp_hooks::Hooks;
use omp_http::Client;
use omp_llm::{Auth, Providers, Registry, Replay, ReplayTiming};
use omp_policy::{Policy, RulePlaces};
use omp_secrets::{Veil, Veiled};
use omp_session::{
    BudgetLimits, OfferedModel, OpenSession, Recorder, RetryPolicy, RunBudget, Session, SessionBudget, SessionFactory,
    SessionFeature, SessionOptions, StandardFeatures, StartSource, SubSession, SystemPrompt, Titling, Wish,
    queues_from_settings,
};
use omp_tools::{Jobs, Resource, TextsResource, TodoList};
use omp_types::{CacheRetention, Editor, Env, Llm, Message, Model, Prices, Secrets, ThinkingLevel, vars};
use omp_undo::Undo;

use crate::cli::{RunArgs, SessionArgs};
use crate::folder::containing;
use crate::folder::{AskedPrompt, FolderProblem, FolderSetup};
use crate::modes::first_run::FirstRun;
use crate::session::commands::{FolderOnDisk, SharedModels, of_files, skills_resource};
use crate::session::compacting;
use crate::session::day_log::{DayLog, LoggedSession};
use crate::session::diagnostics::SessionDiagnostics;
use crate::session::hooking;
use crate::session::jobs::{JobNews, watched};
use crate::session::models::{ChosenModel, RecordedChoice};
use crate::session::nested_context::NestedContext;
use crate::session::pages::{self, Exporter};
use crate::session::recordings::{self, Recordings};
use crate::session::rule_file::{self, RuleFile};
use crate::session::secrets;
use crate::session::sessions::{self, ReadySession};
use crate::session::set_aside_news::SetAsideNews;
use crate::session::stream_tap::StreamTap;
use crate::session::titles;
use crate::session::todos::{EditedTodos, SharedTodos, TodoReminder};
use crate::session::tools::SessionTools;
use crate::session::undo;
use crate::session::user_shell::{UserInterpreter, UserTerminal};

/// Characters of a session's id in the log.
const ID_SHOWN: usize = 13;

/// The state that all sessions of a process share.
pub struct SharedParts {
    pub env: Env,
    pub registry: Arc<tokio::sync::Mutex<Registry>>,
    available: Arc<Mutex<Vec<OfferedModel>>>,
    /// The patterns of `--models` or `enabledModels`.
    scope: Vec<String>,
    pub recordings: Recordings,
    /// These are redacted from pages, dumps and logs.
    pub secrets: Secrets,
    redactor: Arc<Veil>,
    /// The veils of the open sessions; keys given while they run are added to each.
    veils: Mutex<Vec<Weak<Veil>>>,
    /// Passes keys given at runtime to every session.
    auth: Auth,
    /// The budget of all sessions together.
    budget: Arc<RunBudget>,
    log: Arc<DayLog>,
    tap: Arc<StreamTap>,
}

impl SharedParts {
    pub fn new(args: &RunArgs, setup: &FolderSetup) -> Self {
        let registry = setup.registry(&args.model);
        let scope = setup.model_scope(&args.model);
        let available = Arc::new(Mutex::new(offered(&registry, &scope)));
        let redactor = secrets::redactor(setup, &registry);
        let limits = BudgetLimits { max_tokens: args.budget.max_tokens, max_cost: args.budget.max_cost };
        let secrets = pages::secrets(&registry, redactor.clone());
        Self {
            env: setup.env.clone(),
            log: Arc::new(DayLog::new(setup.dirs.config_root.join("logs"), secrets.clone())),
            tap: Arc::default(),
            secrets,
            auth: registry.auth().clone(),
            registry: Arc::new(tokio::sync::Mutex::new(registry)),
            available,
            scope,
            recordings: Recordings::default(),
            redactor,
            veils: Mutex::default(),
            budget: Arc::new(RunBudget::new(limits)),
        }
    }

    /// Returns the models that can be used.
    pub fn models(&self) -> Vec<Arc<Model>> {
        self.offered_models().into_iter().map(|offered| offered.model).collect()
    }

    pub fn offered_models(&self) -> Vec<OfferedModel> {
        self.available.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn renew_models(&self, registry: &Registry) {
        *self.available.lock().unwrap_or_else(PoisonError::into_inner) = offered(registry, &self.scope);
    }

    /// Stores a key that the user enters. Every session uses it from its next request on.
    pub fn give_key(&self, provider: &str, key: &str) {
        if let Some(found) = secrets::given(key) {
            self.living_veils().for_each(|veil| veil.add(found.clone()));
            self.redactor.add(found);
        }
        self.auth.give_key(provider, key);
        if let Ok(registry) = self.registry.try_lock() {
            self.renew_models(&registry);
        }
    }

    pub fn living_veils(&self) -> impl Iterator<Item = Arc<Veil>> {
        let veils = self.veils.lock().unwrap_or_else(PoisonError::into_inner);
        veils.iter().filter_map(Weak::upgrade).collect::<Vec<_>>().into_iter()
    }

    fn remember_veil(&self, veil: &Arc<Veil>) {
        let mut veils = self.veils.lock().unwrap_or_else(PoisonError::into_inner);
        veils.retain(|veil| veil.strong_count() > 0);
        veils.push(Arc::downgrade(veil));
    }
}

/// The parameters of one session.
pub struct SessionPlan {
    pub editor: Editor,
    pub opened: ReadySession,
    pub begun: StartSource,
    /// Whether a user is present to answer questions.
    pub attended: bool,
    /// Whether the front end can show a run that the user did not start.
    pub wakes: bool,
    /// Whether the session gets a title.
    pub titled: bool,
    /// Overrides the flags.
    pub prompt: AskedPrompt,
    /// Warnings that are shown first.
    pub warnings: Vec<String>,
}

fn offered(registry: &Registry, scope: &[String]) -> Vec<OfferedModel> {
    let scope: HashSet<String> = registry.scope(scope).models.iter().map(|found| found.model.selector()).collect();
    let offer = |model: Arc<Model>| OfferedModel {
        canonical: registry
            .canonical_id(&model.provider, &model.id)
            .map_or_else(|| model.selector(), |canonical| canonical.into_owned()),
        in_scope: scope.is_empty() || scope.contains(&model.selector()),
        model,
    };
    registry.available().into_iter().map(offer).collect()
}

/// The connection to the models: over the network, or from a recording.
struct ModelLine {
    client: Client,
    replay: Option<Arc<Replay>>,
}

/// The model of a session and its client.
struct ChosenLlm {
    model: Arc<Model>,
    thinking: ThinkingLevel,
    /// Hides secrets from the model.
    llm: Arc<dyn Llm>,
    titling: Option<Titling>,
    retry: RetryPolicy,
}

/// The parts of a session besides the model.
struct Equipment {
    policy: Policy,
    system: SystemPrompt,
    hooks: Arc<Hooks>,
    undo: Option<Arc<Undo>>,
    budget: BudgetLimits,
    warnings: Vec<String>,
}

/// Why a session could not be made.
pub struct AssemblyFailed {
    pub problem: FolderProblem,
    /// The warnings until then: a broken models.yml may be the reason why there is no model.
    pub warnings: Vec<String>,
}

impl From<FolderProblem> for AssemblyFailed {
    fn from(problem: FolderProblem) -> Self {
        Self { problem, warnings: Vec::new() }
    }
}

/// The configuration of the folder, the flags of the run and the state that all sessions share.
pub struct Blueprint {
    setup: Arc<FolderSetup>,
    args: RunArgs,
    shared: Arc<SharedParts>,
}

impl Blueprint {
    pub fn new(setup: Arc<FolderSetup>, args: RunArgs, shared: Arc<SharedParts>) -> Self {
        Self { setup, args, shared }
    }

    pub fn setup(&self) -> &FolderSetup {
        &self.setup
    }

    /// Assembles a session and starts it.
    pub async fn assemble(self: &Arc<Self>, plan: SessionPlan) -> Result<OpenSession, AssemblyFailed> {
        let SessionPlan { editor, mut opened, begun, attended, wakes, titled, prompt, mut warnings } = plan;
        let shared = &self.shared;
        warnings.append(&mut opened.warnings);
        warnings.extend(self.setup.rules().warnings.clone());
        opened.resources.push(skills_resource(&self.setup));
        opened.resources.extend(rules_resource(&self.setup));
        let mut registry = shared.registry.lock().await;
        let (line, told) = self.model_line(&registry)?;
        warnings.extend(told);
        let recorded = std::mem::take(&mut opened.recorded);
        let (veil, chosen, told) =
            self.choose(&mut registry, &line, recorded, titled, opened.recorder.path().is_some()).await;
        // The key of a user-defined provider may be in a variable that is not otherwise known to hold a secret.
        let setup = &self.setup.keeping_back(registry.secrets());
        drop(registry);
        warnings.extend(told);
        let ChosenLlm { model, thinking, llm, titling, retry } = match chosen {
            Ok(chosen) => chosen,
            Err(problem) => return Err(AssemblyFailed { problem, warnings }),
        };
        opened.artifacts = secrets::veiled(opened.artifacts, veil.clone());
        let tier = setup.service_tier(&self.args.model)?;
        let tools = setup.tools(&self.args.tools, &model, attended, editor, &opened)?;
        if tools.tools.iter().any(|tool| tool.role() == Some(ToolRole::Shell)) {
            tools.shell.read_start_files();
        }
        note_model(&mut opened.recorder, opened.is_resumed, &model, thinking);
        let Equipment { policy, system, hooks, undo, budget, warnings: told } =
            self.equip(setup, &mut opened.recorder, &tools, &model, prompt)?;
        warnings.extend(told);
        let python = UserInterpreter::new(setup.env.clone(), setup.cwd.clone(), opened.artifacts);
        let (recorder, resumed) = (opened.recorder, opened.resumed);
        let header = recorder.header().clone();
        let features = StandardFeatures {
            rules: setup.stream_rules(),
            own: self.own_features(setup, &tools, &resumed.messages, &recorder),
            hooks: hooking::sets(&hooks),
            files: undo.clone().map(|undo| undo::kept(setup, undo, &tools.jobs, veil.clone())),
            titling,
            jobs: Some(watched(&tools.jobs)),
            jobs_wake: wakes && setup.settings.of(omp_tools::SETTINGS).get("async.wakeIdle"),
        };
        let rule_keeper = Arc::new(RuleFile {
            settings: setup.dirs.settings_file(),
            projects: ProjectRules::new(&setup.dirs.agent),
            workspace: policy.rules.places().workspace.clone(),
        });
        let safeguards = containing::safeguards(setup, undo.is_some());
        let todos = tools.todos;
        let parts = self.command_parts(setup, attended, todos.clone(), tools.jobs, hooks);
        let (session, actor) = Session::open(SessionOptions {
            thinking,
            tools: tools.tools,
            commands: omp_commands::all(CommandParts { files: undo, ..parts }),
            system,
            veil,
            resumed,
            begun,
            policy,
            access: setup.access(),
            rule_keeper: Some(rule_keeper),
            retry,
            cache: cache_retention(&shared.env),
            queues: queues_from_settings(&setup.settings),
            attended,
            tier,
            look_around: setup.look_around(),
            features: features.list(),
            compaction: compacting::options(setup, line.client, shared.available.clone(), tools.known),
            budget: SessionBudget { run: shared.budget.clone(), session: budget },
            ..SessionOptions::new(llm, model, recorder)
        });
        containing::make_ahead(setup.containment());
        Ok(OpenSession {
            session,
            actor,
            header,
            shell: Arc::new(UserTerminal(tools.shell)),
            python: Some(Arc::new(python)),
            todos: todos.map(|todos| Arc::new(SharedTodos(todos)) as Arc<dyn omp_session::TodoBoard>),
            safeguards,
            factory: Some(self.clone()),
            warnings,
        })
    }

    /// Returns warnings too.
    fn model_line(&self, registry: &Registry) -> Result<(ModelLine, Option<String>), FolderProblem> {
        let (setup, recordings) = (&self.setup, &self.shared.recordings);
        let listener = recordings.listener(setup, &self.args.model, registry, &self.shared.redactor)?;
        let client = setup.client(Some(self.shared.tap.listener(listener)));
        let (replay, told) = recordings.replay(setup, &self.args.model, &client)?;
        Ok((ModelLine { client, replay }, told))
    }

    /// Chooses the model and the secrets to hide from it. Returns warnings even if no model is found.
    async fn choose(
        &self,
        registry: &mut Registry,
        line: &ModelLine,
        recorded: RecordedChoice,
        titled: bool,
        is_recorded: bool,
    ) -> (Arc<Veil>, Result<ChosenLlm, FolderProblem>, Vec<String>) {
        let (setup, args) = (&*self.setup, &self.args.model);
        let mut warnings = Vec::new();
        let chosen = match &line.replay {
            Some(replay) => {
                let thinking = args.thinking.unwrap_or(replay.thinking());
                Ok(ChosenModel { model: replay.model(), thinking, note: None })
            }
            None => {
                let chosen = setup.model(registry, args, recorded, &line.client).await;
                warnings.extend(registry.problems().iter().map(ToString::to_string));
                chosen
            }
        };
        self.shared.renew_models(registry);
        warnings.extend(chosen.as_ref().ok().and_then(|chosen| chosen.note.clone()));
        let (veil, told) = secrets::veil(setup, registry, is_recorded);
        self.shared.remember_veil(&veil);
        warnings.extend(told);
        let chosen = chosen.map(|ChosenModel { model, thinking, .. }| ChosenLlm {
            titling: titled.then(|| titles::titling(setup, registry, &model)),
            retry: retries(setup, line.replay.is_some()),
            llm: Arc::new(Veiled::new(self.llm(line, registry), veil.clone())),
            model,
            thinking,
        });
        (veil, chosen, warnings)
    }

    fn llm(&self, line: &ModelLine, registry: &Registry) -> Arc<dyn Llm> {
        match &line.replay {
            Some(replay) => replay.clone(),
            None => {
                let providers = Providers::new(line.client.clone(), registry.auth().clone());
                Arc::new(providers.with_watchdogs(self.setup.watchdogs()))
            }
        }
    }

    fn equip(
        &self,
        setup: &FolderSetup,
        recorder: &mut Recorder,
        tools: &SessionTools,
        model: &Model,
        prompt: AskedPrompt,
    ) -> Result<Equipment, FolderProblem> {
        let mut warnings = containing::warnings(setup);
        let places = RulePlaces::new(&setup.workspace, Some(&setup.dirs.home)).started_in(&setup.cwd);
        let (policy, told) = rule_file::policy(&setup.settings, places, &ProjectRules::new(&setup.dirs.agent))?;
        warnings.extend(told);
        recorder.keep(setup.trust_entry());
        let asked = setup.asked_prompt(&self.args.prompt)?;
        let prompt = AskedPrompt { replace: prompt.replace.or(asked.replace), append: prompt.append.or(asked.append) };
        let system = setup.system_prompt(prompt, recorder.header(), &tools.tools)?;
        warnings.extend(setup.prompt_warnings());
        let (hooks, told) = hooking::hooks(setup);
        warnings.extend(told);
        let (undo, told) = undo::open(setup, recorder);
        warnings.extend(told);
        let (budget, told) = self.limits(model);
        warnings.extend(told);
        Ok(Equipment { policy, system, hooks, undo, budget, warnings })
    }

    /// Returns the cost limits of a session.
    fn limits(&self, model: &Model) -> (BudgetLimits, Option<String>) {
        let limits = BudgetLimits::from_settings(&self.setup.settings);
        let costs = limits.max_cost.is_some() || self.shared.budget.limits().max_cost.is_some();
        (limits, (costs && model.cost == Prices::default()).then(|| unpriced(model)))
    }

    fn command_parts(
        &self,
        setup: &FolderSetup,
        attended: bool,
        todos: Option<TodoList>,
        jobs: Arc<Jobs>,
        hooks: Arc<Hooks>,
    ) -> CommandParts {
        let models: Arc<dyn ModelDirectory> = Arc::new(SharedModels(self.shared.registry.clone()));
        let folder = Arc::new(FolderOnDisk {
            args: self.args.clone(),
            env: setup.env.clone(),
            dirs: setup.dirs.clone(),
            cwd: setup.cwd.clone(),
        });
        CommandParts {
            cwd: setup.cwd.clone(),
            home: setup.dirs.home.clone(),
            tasks: todos.map(|todos| Arc::new(SharedTodos(todos)) as Arc<dyn TaskList>),
            jobs: Arc::new(move || jobs.listed()),
            hooks: Arc::new(move || hooks.listing()),
            sessions: sessions::folder(setup, &self.args.session),
            brought: of_files(setup, models.clone()),
            reserved: omp_interactive::own_command_names().collect(),
            models,
            pages: Arc::new(Exporter::of(setup, self.shared.secrets.clone())),
            secrets: self.shared.secrets.clone(),
            keys: Arc::new(FirstRun::of(setup)),
            files: None,
            settings: SettingsCommand {
                folder: folder.clone(),
                file: setup.dirs.settings_file(),
                cwd: setup.cwd.clone(),
                home: setup.dirs.home.clone(),
            },
            folder: folder.clone(),
            terminal_setup: TerminalSetupCommand { env: setup.env.clone(), home: setup.dirs.home.clone(), attended },
            trust: TrustCommand { folder, agent: setup.dirs.agent.clone(), attended },
            debug: DebugCommand {
                cwd: setup.cwd.clone(),
                diagnostics: Arc::new(SessionDiagnostics {
                    log: self.shared.log.clone(),
                    tap: self.shared.tap.clone(),
                    secrets: self.shared.secrets.clone(),
                    agent: setup.dirs.agent.clone(),
                }),
                home: setup.dirs.home.clone(),
                env: setup.env.clone(),
                settings: setup.settings.origins().into_iter().map(|(key, layer)| (key, layer.name())).collect(),
                secrets: self.shared.secrets.clone(),
            },
        }
    }

    /// Returns the flags of a sub-session. It gets no tool that the flags exclude from this run.
    fn args_for(&self, wanted: &SubSession) -> Result<RunArgs, FolderProblem> {
        let mut args = self.args.clone();
        args.model.model = wanted.model.clone().or(args.model.model);
        args.model.thinking = wanted.thinking.or(args.model.thinking);
        if let Some(names) = &wanted.tools {
            let offered = &self.args.tools.tools;
            if let Some(other) = names.iter().find(|name| !offered.is_empty() && !offered.contains(name)) {
                return Err(format!("the tool `{other}` is not offered in this run\nhint: add it with `--tools`"));
            }
            args.tools.no_tools |= names.is_empty();
            args.tools.tools = if args.tools.no_tools { Vec::new() } else { names.clone() };
        }
        args.session = SessionArgs {
            no_session: wanted.kept_in.is_none(),
            session_dir: wanted.kept_in.clone(),
            ..SessionArgs::default()
        };
        Ok(args)
    }

    /// Returns the session features that omp itself provides.
    fn own_features(
        &self,
        setup: &FolderSetup,
        tools: &SessionTools,
        history: &[Message],
        recorder: &Recorder,
    ) -> Vec<Arc<dyn SessionFeature>> {
        let mut features: Vec<Arc<dyn SessionFeature>> = vec![
            Arc::new(JobNews { jobs: tools.jobs.clone() }),
            Arc::new(NestedContext::new(setup.cwd.clone(), history)),
            Arc::new(SetAsideNews::of(setup.containment())),
        ];
        if let Some(board) = tools.todos.clone() {
            let settings = setup.settings.of(omp_tools::SETTINGS);
            let max = if settings.get("todo.reminders") { settings.get("todo.remindersMax") } else { 0 };
            features.push(Arc::new(EditedTodos(board.clone())));
            features.push(Arc::new(TodoReminder { board, max, given: Default::default() }));
        }
        if recorder.path().is_some() {
            let id = recorder.header().id.chars().take(ID_SHOWN).collect();
            features.push(Arc::new(LoggedSession { log: self.shared.log.clone(), id }));
        }
        features
    }

    async fn make_further(&self, wanted: SubSession) -> Result<OpenSession, FolderProblem> {
        let args = self.args_for(&wanted)?;
        let prompt = AskedPrompt { replace: wanted.system_prompt, append: wanted.append_system_prompt };
        let begin = Wish::New { cwd: None, parent: wanted.parent };
        let opened = sessions::open(&self.setup, &args.session, begin)?;
        let further = Arc::new(Self::new(self.setup.clone(), args, self.shared.clone()));
        let plan = SessionPlan {
            editor: Editor::default(),
            opened,
            begun: StartSource::Startup,
            attended: false,
            wakes: false,
            titled: false,
            prompt,
            warnings: Vec::new(),
        };
        further.assemble(plan).await.map_err(|AssemblyFailed { problem, warnings }| {
            let warnings: String = warnings.iter().map(|warning| format!("\nwarning: {warning}")).collect();
            problem + &warnings
        })
    }
}

impl SessionFactory for Blueprint {
    fn make(&self, wanted: SubSession) -> BoxFuture<'_, Result<OpenSession, String>> {
        self.make_further(wanted).boxed()
    }
}

/// Records model and thinking level. A resumed session has them already.
fn note_model(recorder: &mut Recorder, resumed: bool, model: &Model, thinking: ThinkingLevel) {
    if !resumed {
        recorder.model_changed(model);
        recorder.thinking_changed(thinking);
    }
}

/// A replay does not wait between retries, unless it replays in real time.
fn retries(setup: &FolderSetup, is_replay: bool) -> RetryPolicy {
    let waits = !is_replay || recordings::timing(&setup.env) == ReplayTiming::Real;
    RetryPolicy { waits, ..RetryPolicy::from_settings(&setup.settings) }
}

/// Makes the rules that can be read on demand available as a resource.
fn rules_resource(setup: &FolderSetup) -> Option<Arc<dyn Resource>> {
    let texts = setup.rules().readable();
    (!texts.is_empty()).then(|| Arc::new(TextsResource { scheme: "rule", texts }) as Arc<dyn Resource>)
}

fn unpriced(model: &Model) -> String {
    format!("a cost budget is set, but {} has no prices, so it has no effect", model.selector())
}

fn cache_retention(env: &Env) -> CacheRetention {
    match env.get(vars::PI_CACHE_RETENTION) {
        Some("long") => CacheRetention::Long,
        _ => CacheRetention::Short,
    }
}
