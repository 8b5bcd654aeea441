//! `omp sessions import`: converts sessions of Claude Code, Codex and pi into sessions of omp.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use omp_headless::Exit;
use omp_store::BlobStore;
use omp_store::import::{self, ImportDestination, Importable, Program};
use omp_types::Env;

use crate::cli::RunArgs;
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::{print, warn};
use crate::session::sessions;

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  omp sessions import --list          what there is\n  omp sessions import claude          the sessions of this folder\n  omp sessions import codex --all     the sessions of all folders\n  omp sessions import pi old.jsonl    one file"
)]
pub struct ImportArgs {
    /// The program to import from
    #[arg(value_enum, value_name = "PROGRAM", required_unless_present = "list")]
    program: Option<ImportFrom>,

    /// Session files (default: the sessions of this folder)
    #[arg(value_name = "PATH", conflicts_with = "all")]
    paths: Vec<PathBuf>,

    /// Import the sessions of all folders
    #[arg(long, conflicts_with = "list")]
    all: bool,

    /// List what can be imported, without importing it
    #[arg(long, conflicts_with = "paths")]
    list: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImportFrom {
    /// Claude Code, ~/.claude/projects
    Claude,
    /// Codex, ~/.codex/sessions
    Codex,
    /// pi, ~/.pi/agent/sessions
    Pi,
}

impl ImportFrom {
    fn program(self) -> Program {
        match self {
            ImportFrom::Claude => Program::Claude,
            ImportFrom::Codex => Program::Codex,
            ImportFrom::Pi => Program::Pi,
        }
    }
}

pub fn import(args: &ImportArgs, run: &RunArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let setup = &FolderSetup::new(run, env)?;
    let sessions = sessions::folder(setup, &run.session);
    let Some(program) = args.program.map(ImportFrom::program).filter(|_| !args.list) else {
        return print(&list(args.program.map(ImportFrom::program), setup));
    };
    let paths = if args.paths.is_empty() { found(program, args.all, setup) } else { given(&args.paths, &setup.cwd) };
    if paths.is_empty() {
        let hint = "hint: --all imports those of all folders, --list lists them";
        return print(&format!("no sessions of {program} in this folder\n{hint}\n"));
    }
    let blobs = BlobStore::new(&setup.dirs.agent);
    let to = ImportDestination { sessions: &sessions, blobs: &blobs, cwd: &setup.cwd };
    let mut exit = Exit::Success;
    for path in paths {
        match import::import(program, &path, &to) {
            Ok(imported) => {
                let problems = imported.report.to_string();
                warn(&problems.lines().map(|problem| format!("{}: {problem}", path.display())).collect::<Vec<_>>());
                print(&told(&imported))?;
            }
            Err(error) => {
                warn(&[error.to_string()]);
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}

fn told(imported: &import::Imported) -> String {
    let id: String = imported.id.chars().take(13).collect();
    if imported.already {
        return format!("{id}  already imported: {}\n", imported.path.display());
    }
    let about = imported.title.as_deref().map_or_else(String::new, |title| format!("  {}", one_line(title)));
    format!("{id}  {} messages{about}\n", imported.messages)
}

fn given(paths: &[PathBuf], cwd: &Path) -> Vec<PathBuf> {
    paths.iter().map(|path| cwd.join(path)).collect()
}

fn found(program: Program, all: bool, setup: &FolderSetup) -> Vec<PathBuf> {
    let here = |session: &Importable| {
        let cwd = session.cwd.as_deref().map(Path::new);
        cwd.is_some_and(|cwd| cwd == setup.cwd || cwd.canonicalize().is_ok_and(|cwd| cwd == setup.cwd))
    };
    let sessions = import::importable(program, &setup.env);
    sessions.into_iter().filter(|session| all || here(session)).map(|session| session.path).collect()
}

fn list(program: Option<Program>, setup: &FolderSetup) -> String {
    let programs = program.map_or_else(|| Program::ALL.to_vec(), |program| vec![program]);
    let mut shown = String::new();
    for session in programs.into_iter().flat_map(|program| import::importable(program, &setup.env)) {
        let cwd = session.cwd.as_deref().map_or_else(|| "(unknown folder)".to_owned(), one_line);
        let _ = writeln!(shown, "{}  {cwd}  {}", session.program.name(), session.path.display());
    }
    if shown.is_empty() { "no sessions of Claude Code, Codex or pi on this machine\n".to_owned() } else { shown }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect()
}
