//! The slash commands that exist in every mode.

mod about;
mod asking;
mod compact;
mod context;
mod debug;
mod dump;
mod export;
mod jobs;
mod lists;
mod login;
mod model;
mod names;
mod permissions;
mod plan;
mod reachable;
mod relocate;
mod repeat;
mod session;
mod settings;
mod stripped;
mod talk;
mod todo;
mod tree;
mod trust;
mod undo;
mod usage;

use std::path::PathBuf;
use std::sync::Arc;

use omp_hooks::Hooks;
use omp_llm::Registry;
use omp_session::{SlashCommand, SlashCommands};
use omp_store::SessionsDir;
use omp_tools::{Jobs, TodoBoard};
use omp_undo::Undo;
use tokio::sync::Mutex;

use crate::first_run::FirstRun;
use crate::sessions_export::Exporter;
pub use debug::DebugCommand;
pub use jobs::{JobNews, watched};
pub use names::NAMES;
pub use session::WORKING;
pub use settings::SettingsCommand;
pub use todo::{Board, TodoReminder, edited_todos};
pub use trust::TrustCommand;
pub use undo::{reported, summed_up};
pub use usage::{parse_cost, parse_tokens};

/// What commands need besides the session.
pub struct Parts {
    pub cwd: PathBuf,
    pub home: PathBuf,
    /// The list that the todo tool shows, where it is on.
    pub todos: Option<TodoBoard>,
    pub jobs: Arc<Jobs>,
    pub hooks: Arc<Hooks>,
    pub sessions: SessionsDir,
    pub registry: Arc<Mutex<Registry>>,
    pub exporter: Exporter,
    pub debug: DebugCommand,
    pub settings: SettingsCommand,
    pub trust: TrustCommand,
    pub keys: Arc<FirstRun>,
    /// Those of the user's and the project's files. A name that is taken is told by `/help`.
    pub brought: Vec<Arc<dyn SlashCommand>>,
    /// Where files are kept as they were.
    pub files: Option<Arc<Undo>>,
}

pub fn all(parts: Parts) -> SlashCommands {
    let Parts { cwd, home, todos, jobs, hooks, sessions, registry, exporter, .. } = parts;
    let Parts { debug, settings, trust, keys, brought, files, .. } = parts;
    let mut commands: Vec<Arc<dyn SlashCommand>> = vec![
        Arc::new(session::SessionCommand { cwd: cwd.clone(), sessions: sessions.clone() }),
        Arc::new(session::RenameCommand),
        Arc::new(session::NewCommand { cwd: cwd.clone(), sessions: sessions.clone(), drop_old: false }),
        Arc::new(session::NewCommand { cwd: cwd.clone(), sessions: sessions.clone(), drop_old: true }),
        Arc::new(session::ResumeCommand { cwd: cwd.clone(), sessions }),
        Arc::new(session::ForkCommand { cwd: cwd.clone() }),
        Arc::new(model::ModelCommand { registry: registry.clone() }),
        Arc::new(relocate::MoveCommand { cwd: cwd.clone(), home }),
        Arc::new(tree::TreeCommand),
        Arc::new(tree::LabelCommand),
        Arc::new(tree::BranchCommand),
        Arc::new(login::LoginCommand { keys: keys.clone() }),
        Arc::new(login::LogoutCommand { keys, registry }),
        Arc::new(plan::PlanCommand),
        Arc::new(compact::CompactCommand),
        Arc::new(compact::HandoffCommand),
        Arc::new(talk::RetryCommand),
        Arc::new(talk::CopyCommand),
        Arc::new(talk::QueueCommand),
        Arc::new(dump::DumpCommand { secrets: exporter.secrets().clone() }),
        Arc::new(export::ExportCommand { exporter }),
        Arc::new(asking::BtwCommand),
        Arc::new(asking::ForceCommand),
        Arc::new(asking::FastCommand),
        Arc::new(repeat::LoopCommand),
        Arc::new(usage::UsageCommand),
        Arc::new(usage::BudgetCommand),
        Arc::new(context::ContextCommand),
        Arc::new(about::ChangelogCommand),
        Arc::new(debug),
        Arc::new(settings),
        Arc::new(trust),
        Arc::new(permissions::PermissionsCommand),
        Arc::new(lists::ToolsCommand),
        Arc::new(stripped::StrippedCommand),
        Arc::new(lists::JobsCommand { jobs }),
        Arc::new(lists::HooksCommand { hooks }),
    ];
    commands.push(Arc::new(undo::UndoCommand { files: files.clone() }));
    commands.push(Arc::new(undo::RedoCommand { files: files.clone() }));
    commands.push(Arc::new(undo::ChangesCommand { files }));
    if let Some(board) = todos {
        commands.push(Arc::new(todo::TodoCommand { board, cwd }));
    }
    let unreachable = reachable::join(&mut commands, brought);
    commands.push(Arc::new(lists::HelpCommand::of(&commands, &unreachable)));
    SlashCommands::new(commands)
}
