//! `omp sessions`: commands on stored sessions that need no model. The work is done in `omp-store`.

mod change;
mod clean;
pub mod export;
mod import;
mod listing;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use omp_headless::Exit;
use omp_store::{BlobStore, FindError, LoadedSession, SessionInfo, SessionsDir};
use omp_types::Env;
use serde_json::{Value, json};

use crate::cli::{RunArgs, SessionArgs};
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::{print, warn};
use crate::session::pages;
use crate::session::secrets::redactor;
use export::ExportArgs;
use import::ImportArgs;

const EXAMPLES: &str = "\
A session is named by the start of its id or by the path of its file.

Examples:
  omp sessions list --all                    list the sessions of all folders, newest first
  omp sessions search parser bug             find sessions that contain both words
  omp sessions show 01a1e0cb                 show its details, damage and last messages
  omp sessions gc --max-age 90d --dry-run    show what would be moved to the trash";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SessionsArgs {
    #[command(subcommand)]
    command: SessionsCommand,

    /// Print one JSON value
    #[arg(long, global = true)]
    json: bool,

    /// Look for sessions in this folder
    #[arg(long, global = true, value_name = "FOLDER")]
    session_dir: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum SessionsCommand {
    #[command(flatten)]
    AtRest(AtRest),
    /// Export a session as one HTML page that works offline
    Export(ExportArgs),
    /// Import sessions from Claude Code, Codex or pi
    Import(ImportArgs),
}

/// What is done with sessions where they lie.
#[derive(Subcommand, Debug)]
enum AtRest {
    /// List the sessions of this folder, newest first
    List(listing::ListArgs),
    /// Find sessions whose title or text contains every word
    Search(listing::SearchArgs),
    /// Show a session: its details, damage to its file, its last messages
    Show(show::ShowArgs),
    /// Show messages, calls, tokens and cost of a session, per model
    Stats(One),
    /// Change the title of a session
    Rename(change::RenameArgs),
    /// Move a session to another working folder
    Move(change::MoveArgs),
    /// Archive a session: it is kept, but no longer listed
    Archive(One),
    /// Restore a session from the archive or the trash
    Unarchive(One),
    /// Move a session and its artifacts to the trash
    Delete(change::DeleteArgs),
    /// Write a clean copy of a damaged session next to it
    Repair(One),
    /// Clean up: old sessions, unused images, old trash
    Gc(clean::GcArgs),
}

#[derive(Args, Debug)]
struct One {
    /// The start of its id, or the path of its file
    #[arg(value_name = "ID|PATH")]
    session: String,
}

pub fn run(args: SessionsArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let session = SessionArgs { session_dir: args.session_dir.clone(), ..SessionArgs::default() };
    let run = RunArgs { session, ..RunArgs::default() };
    let command = match args.command {
        SessionsCommand::AtRest(command) => command,
        _ if args.json => return Err("`--json` does not work with export and import\nhint: leave it out".to_owned()),
        SessionsCommand::Export(export) => return export::run(&export, &run, env),
        SessionsCommand::Import(import) => return import::import(&import, &run, env),
    };
    let setup = FolderSetup::new(&run, env)?;
    warn(&setup.warnings);
    let sessions = match &args.session_dir {
        Some(dir) => SessionsDir::flat(setup.cwd.join(dir)),
        None => SessionsDir::new(&setup.dirs.agent, env),
    };
    let registry = setup.registry(&run.model);
    let secrets = pages::secrets(&registry, redactor(&setup, &registry));
    let desk = SessionsContext { sessions, blobs: BlobStore::new(&setup.dirs.agent), cwd: setup.cwd };
    let mut told = match command {
        AtRest::List(args) => desk.list(&args),
        AtRest::Search(args) => desk.search(&args),
        AtRest::Show(args) => desk.show(&args),
        AtRest::Stats(one) => desk.stats(&one.session),
        AtRest::Rename(args) => desk.rename(&args),
        AtRest::Move(args) => desk.move_to(&args),
        AtRest::Archive(one) => desk.archive(&one.session),
        AtRest::Unarchive(one) => desk.unarchive(&one.session),
        AtRest::Delete(args) => desk.delete(&args),
        AtRest::Repair(one) => desk.repair(&one.session),
        AtRest::Gc(args) => desk.gc(&args),
    }?;
    // A session that was recorded before a secret was known may contain it.
    secrets.redact_value(&mut told.json);
    print(&if args.json { format!("{}\n", told.json) } else { secrets.redact(&told.text).into_owned() })
}

/// Where the sessions are stored, and the current folder.
struct SessionsContext {
    sessions: SessionsDir,
    blobs: BlobStore,
    cwd: PathBuf,
}

/// The output of a command, as text and as JSON.
struct SessionsOutput {
    text: String,
    json: Value,
}

impl SessionsContext {
    /// Finds a session by id or path, also in the archive and the trash.
    fn find(&self, session: &str) -> Result<PathBuf, FolderProblem> {
        for place in [&self.sessions, &self.sessions.archived(), &self.sessions.trashed()] {
            match place.resolve(&self.cwd, session) {
                Err(FindError::NoMatch(_)) => {}
                found => return found.map_err(|error| error.to_string()),
            }
        }
        Err(format!("no session id starts with `{session}`\nhint: `omp sessions list --all` lists the sessions"))
    }

    fn open(&self, session: &str) -> Result<LoadedSession, FolderProblem> {
        LoadedSession::open(&self.find(session)?, self.blobs.clone()).map_err(|error| error.to_string())
    }
}

fn about(info: &SessionInfo) -> Value {
    json!({
        "id": info.id,
        "path": info.path,
        "title": info.title,
        "cwd": info.cwd,
        "modified": info.modified_at(),
        "bytes": info.bytes,
        "firstMessage": info.first_message,
    })
}

/// Reports the new path of a file.
fn placed(what: &str, path: &Path) -> SessionsOutput {
    SessionsOutput { text: format!("{what} {}\n", path.display()), json: json!({ "path": path }) }
}
