//! Makes sessions out of flags, settings and files: one for a print run, many for a protocol.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_llm::{Providers, Registry};
use omp_session::{
    OpenSession, Policy, Reminder, RetryPolicy, Session, SessionHost, SessionListing, SessionOptions, Wish,
    queues_from_settings,
};
use omp_tools::TodoBoard;
use omp_types::{CacheRetention, Env, Model, vars};

use crate::cli::RunArgs;
use crate::commands;
use crate::compose::{Problem, Setup};
use crate::run::warn;
use crate::sessions::{self, Opened};
use crate::user_shell::UserTerminal;

/// Answers one prompt may take. High enough for real work, low enough to end a loop.
pub const MAX_TURNS: u32 = 500;

pub struct Host {
    args: RunArgs,
    env: Env,
    /// Whether somebody is there to answer questions.
    attended: bool,
    registry: tokio::sync::Mutex<Registry>,
    available: Mutex<Vec<Arc<Model>>>,
}

impl Host {
    pub fn new(args: RunArgs, setup: &Setup, attended: bool) -> Self {
        let registry = setup.registry(&args.model);
        let available = Mutex::new(registry.available());
        Self { args, env: setup.env.clone(), attended, registry: tokio::sync::Mutex::new(registry), available }
    }

    /// What the flags ask for: the session that is named, the newest, or a new one.
    pub fn wish(&self, setup: &Setup) -> Result<Wish, Problem> {
        sessions::wish(setup, &self.args.session)
    }

    async fn start(&self, wish: Wish) -> Result<OpenSession, Problem> {
        let args = RunArgs { cwd: folder_of(&wish).or_else(|| self.args.cwd.clone()), ..self.args.clone() };
        let mut setup = Setup::new(&args, &self.env)?;
        let system = setup.system_prompt(&args)?;
        let mut opened = sessions::open(&mut setup, &args.session, wish)?;
        let recorded = std::mem::take(&mut opened.recorded);
        let mut registry = self.registry.lock().await;
        let chosen = setup.model(&mut registry, &args.model, recorded).await;
        *self.available.lock().unwrap_or_else(PoisonError::into_inner) = registry.available();
        let auth = registry.auth().clone();
        drop(registry);
        // Told even when there is no model: a broken models.yml may well be the reason.
        let (model, thinking) = chosen.inspect_err(|_| warn(&setup.warnings))?;
        let built =
            setup.tools(&args.tools, &model, self.attended, opened.artifacts.clone(), opened.resources.clone())?;

        let Opened { mut recorder, history, resumed, .. } = opened;
        let user_edit = commands::edited_todos(&history);
        if !resumed {
            recorder.model_changed(&model);
            recorder.thinking_changed(thinking);
        }
        let header = recorder.header().clone();
        let (session, actor) = Session::open(SessionOptions {
            llm: Arc::new(Providers::new(setup.client(), auth)),
            model,
            thinking,
            tools: built.tools,
            system,
            recorder,
            history,
            policy: Policy::from_settings(&setup.settings),
            retry: RetryPolicy::from_settings(&setup.settings),
            cache: cache_retention(&self.env),
            queues: queues_from_settings(&setup.settings),
            max_turns: MAX_TURNS,
            attended: self.attended,
            reminders: todo_reminder(&setup, built.todos.as_ref()),
        });
        let todos = built.todos;
        if let (Some(board), Some(phases)) = (&todos, user_edit) {
            board.resume(phases);
        }
        Ok(OpenSession {
            session,
            actor,
            header,
            commands: commands::all(commands::Parts { cwd: setup.cwd.clone(), todos: todos.clone() }),
            shell: Arc::new(UserTerminal(built.shell)),
            todos: todos.map(|todos| Arc::new(commands::Board(todos)) as Arc<dyn omp_session::TodoBoard>),
            warnings: setup.warnings,
        })
    }
}

impl SessionHost for Host {
    fn open(&self, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>> {
        self.start(wish).boxed()
    }

    fn models(&self) -> Vec<Arc<Model>> {
        self.available.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn sessions(&self, cwd: Option<PathBuf>) -> Result<Vec<SessionListing>, Problem> {
        let args = RunArgs { cwd, ..self.args.clone() };
        let everywhere = args.cwd.is_none();
        let setup = Setup::new(&args, &self.env)?;
        sessions::listings(&setup, &args.session, everywhere)
    }
}

fn folder_of(wish: &Wish) -> Option<PathBuf> {
    match wish {
        Wish::New { cwd, .. } | Wish::Resume { cwd, .. } => cwd.clone(),
    }
}

fn todo_reminder(setup: &Setup, todos: Option<&TodoBoard>) -> Vec<Arc<dyn Reminder>> {
    let Some(board) = todos.cloned() else { return Vec::new() };
    let on = setup.settings.get("todo.reminders").unwrap_or(true);
    let max = setup.settings.get("todo.remindersMax").or_else(|| setup.settings.get("todo.reminders.max"));
    let max = if on { max.unwrap_or(3) } else { 0 };
    vec![Arc::new(commands::TodoReminder { board, max, given: Default::default() })]
}

fn cache_retention(env: &Env) -> CacheRetention {
    match env.get(vars::PI_CACHE_RETENTION) {
        Some("long") => CacheRetention::Long,
        _ => CacheRetention::Short,
    }
}
