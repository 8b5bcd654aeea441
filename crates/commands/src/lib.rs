//! Slash commands: those of every mode, and those of the user's and the project's files.
//!
//! The traits of `surroundings` abstract the program around a session.

mod about;
mod asking;
mod compact;
mod context;
mod debug;
mod desk;
mod doctor;
mod dump;
mod export;
mod files;
mod init;
mod lists;
mod login;
mod memory;
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
mod surroundings;
mod talk;
mod terminal_setup;
mod todo;
mod tree;
mod trust;
mod undo;
mod usage;

use std::path::PathBuf;
use std::sync::Arc;

use omp_session::SlashCommand;
use omp_store::SessionsDir;
use omp_types::Secrets;
use omp_undo::Undo;

pub use debug::DebugCommand;
pub use desk::SettingsDesk;
pub use files::{CommandPlace, file_commands};
pub use names::NAMES;
pub use session::WORKING;
pub use settings::SettingsCommand;
pub use surroundings::{
    Diagnostics, DroppedKey, KeyFile, LazyText, ModelDirectory, PageWriter, ResolvedModel, SessionFolder, TaskList,
    TaskListNote, TrustReport,
};
pub use terminal_setup::TerminalSetupCommand;
pub use trust::TrustCommand;
pub use undo::{aside, reported, summed_up};
pub use usage::{parse_cost, parse_tokens};

/// The dependencies of commands besides the session.
pub struct CommandParts {
    pub cwd: PathBuf,
    pub home: PathBuf,
    /// The list of the todo tool, if it is enabled.
    pub tasks: Option<Arc<dyn TaskList>>,
    pub jobs: LazyText,
    pub hooks: LazyText,
    pub sessions: SessionsDir,
    pub models: Arc<dyn ModelDirectory>,
    pub pages: Arc<dyn PageWriter>,
    /// Redacted from pages and dumps.
    pub secrets: Secrets,
    pub debug: DebugCommand,
    pub settings: SettingsCommand,
    pub trust: TrustCommand,
    pub terminal_setup: TerminalSetupCommand,
    pub folder: Arc<dyn SessionFolder>,
    pub keys: Arc<dyn KeyFile>,
    /// Commands of the user's and the project's files. `/help` reports names that are already taken.
    pub brought: Vec<Arc<dyn SlashCommand>>,
    /// Names that a front end reserves.
    pub reserved: Vec<&'static str>,
    /// The undo store.
    pub files: Option<Arc<Undo>>,
}

pub fn all(parts: CommandParts) -> Vec<Arc<dyn SlashCommand>> {
    let CommandParts { cwd, home, tasks, jobs, hooks, sessions, models, pages, secrets, .. } = parts;
    let CommandParts { terminal_setup, debug, settings, trust, folder, keys, brought, reserved, files, .. } = parts;
    let mut commands: Vec<Arc<dyn SlashCommand>> = vec![
        Arc::new(session::SessionCommand { cwd: cwd.clone(), sessions: sessions.clone() }),
        Arc::new(session::RenameCommand),
        Arc::new(session::NewCommand { cwd: cwd.clone(), sessions: sessions.clone(), drop_old: false }),
        Arc::new(session::NewCommand { cwd: cwd.clone(), sessions: sessions.clone(), drop_old: true }),
        Arc::new(session::ResumeCommand { cwd: cwd.clone(), sessions }),
        Arc::new(session::ForkCommand { cwd: cwd.clone() }),
        Arc::new(model::ModelCommand { models: models.clone(), temporary: false }),
        Arc::new(model::ModelCommand { models: models.clone(), temporary: true }),
        Arc::new(model::ThinkingCommand),
        Arc::new(doctor::DoctorCommand { folder: folder.clone() }),
        Arc::new(memory::MemoryCommand { folder, cwd: cwd.clone(), home: home.clone() }),
        Arc::new(init::InitCommand { cwd: cwd.clone() }),
        Arc::new(relocate::MoveCommand { cwd: cwd.clone(), home }),
        Arc::new(tree::TreeCommand),
        Arc::new(tree::LabelCommand),
        Arc::new(tree::BranchCommand),
        Arc::new(login::LoginCommand { keys: keys.clone() }),
        Arc::new(login::LogoutCommand { keys, models: models.clone() }),
        Arc::new(plan::PlanCommand),
        Arc::new(compact::CompactCommand),
        Arc::new(compact::ShakeCommand),
        Arc::new(compact::HandoffCommand),
        Arc::new(talk::RetryCommand),
        Arc::new(talk::CopyCommand),
        Arc::new(talk::QueueCommand),
        Arc::new(dump::DumpCommand { secrets: secrets.clone() }),
        Arc::new(export::ExportCommand { pages, secrets }),
        Arc::new(asking::BtwCommand),
        Arc::new(asking::ForceCommand),
        Arc::new(asking::FastCommand { models }),
        Arc::new(repeat::LoopCommand),
        Arc::new(usage::UsageCommand),
        Arc::new(usage::BudgetCommand),
        Arc::new(context::ContextCommand),
        Arc::new(about::ChangelogCommand),
        Arc::new(debug),
        Arc::new(settings),
        Arc::new(trust),
        Arc::new(terminal_setup),
        Arc::new(permissions::PermissionsCommand),
        Arc::new(lists::ToolsCommand),
        Arc::new(stripped::StrippedCommand),
        Arc::new(lists::JobsCommand { jobs }),
        Arc::new(lists::HooksCommand { hooks }),
    ];
    commands.push(Arc::new(undo::UndoCommand { files: files.clone() }));
    commands.push(Arc::new(undo::RedoCommand { files: files.clone() }));
    commands.push(Arc::new(undo::ChangesCommand { files }));
    if let Some(tasks) = tasks {
        commands.push(Arc::new(todo::TodoCommand { tasks, cwd }));
    }
    let unreachable = reachable::join(&mut commands, brought, &reserved);
    commands.push(Arc::new(lists::HelpCommand { unreachable }));
    commands
}
