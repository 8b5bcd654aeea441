//! `omp trust`: manages which folders may run their own hooks, servers and commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use omp_config::{Dirs, Trust, repository_root};
use omp_headless::Exit;
use omp_types::Env;

use crate::cli::RunArgs;
use crate::folder::trust;
use crate::folder::{FolderProblem, FolderSetup, existing_folder};
use crate::output::{complain, print_quoted, warn};

const EXAMPLES: &str = "\
Examples:
  omp trust explain         show what this folder would run, and what is allowed
  omp trust add             trust this folder to run what it contains now
  omp trust remove ../old   stop trusting a folder
  omp trust list            list all trusted folders

Exit codes: 0 done, 1 not trusted, or trust.json could not be written, 2 no such folder.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct TrustArgs {
    #[command(subcommand)]
    command: Option<TrustSubcommand>,
}

#[derive(Subcommand, Debug)]
enum TrustSubcommand {
    /// List all trusted folders
    List,
    /// Trust a folder to run what it contains now; omp asks again when that changes
    Add { folder: Option<PathBuf> },
    /// Stop trusting a folder
    Remove { folder: Option<PathBuf> },
    /// Show what a folder would run (file and command), and what is allowed
    Explain { folder: Option<PathBuf> },
}

pub fn run(args: TrustArgs, env: &Env) -> Result<Exit, FolderProblem> {
    match args.command.unwrap_or(TrustSubcommand::Explain { folder: None }) {
        TrustSubcommand::List => list(&Dirs::from_env(env)?),
        TrustSubcommand::Add { folder } => {
            trust::refuse_children(env)?;
            add(&setup(folder, env)?)
        }
        TrustSubcommand::Remove { folder } => remove(folder, env),
        TrustSubcommand::Explain { folder } => {
            let setup = setup(folder, env)?;
            warn(&setup.trust_file_warning());
            print_quoted(&trust::explained(&setup))
        }
    }
}

fn setup(folder: Option<PathBuf>, env: &Env) -> Result<FolderSetup, FolderProblem> {
    let folder = existing_folder(folder.as_deref(), "give a folder that exists")?;
    FolderSetup::new(&RunArgs { cwd: Some(folder), ..RunArgs::default() }, env)
}

fn list(dirs: &Dirs) -> Result<Exit, FolderProblem> {
    let trust = Trust::load(&dirs.agent);
    warn(&trust.warning().map(str::to_owned).into_iter().collect::<Vec<_>>());
    let told = trust.folders().into_iter().map(|folder| {
        let gone = if folder.is_there { "" } else { "  [replaced by another folder: not trusted]" };
        let things = if folder.items == 1 { "thing" } else { "things" };
        format!("{}  ({} {things}){gone}\n", trust::clean(&folder.path.display().to_string()), folder.items)
    });
    let told: String = told.collect();
    print_quoted(if told.is_empty() { "no folder is trusted\n" } else { &told })
}

fn add(setup: &FolderSetup) -> Result<Exit, FolderProblem> {
    let decision = setup.trust();
    let mut stored = Trust::load(&setup.dirs.agent);
    let unusable = stored.warning().map(str::to_owned);
    if let Err(error) = stored.add(decision.root(), decision.items()) {
        warn(&unusable.into_iter().collect::<Vec<_>>());
        return Ok(complain(&error.to_string(), Exit::Failed));
    }
    warn(&unusable.map(|why| set_aside(&why, &stored)).into_iter().collect::<Vec<_>>());
    let again = self::setup(Some(setup.cwd.clone()), &setup.env)?;
    print_quoted(&trust::explained(&again))
}

/// Reports what was wrong with the trust file. Its own hint is left out, because the user has just followed it.
fn set_aside(why: &str, stored: &Trust) -> String {
    let why = why.lines().next().unwrap_or_default();
    format!("{why}\nhint: the old file is {}; trust your other folders again", stored.set_aside().display())
}

/// A folder that no longer exists can be removed by its absolute path.
fn remove(folder: Option<PathBuf>, env: &Env) -> Result<Exit, FolderProblem> {
    let dirs = Dirs::from_env(env)?;
    let mut trust = Trust::load(&dirs.agent);
    warn(&trust.warning().map(str::to_owned).into_iter().collect::<Vec<_>>());
    let named =
        match existing_folder(folder.as_deref(), "give an existing folder, or the absolute path of a deleted one") {
            Ok(found) => repository_root(&found),
            Err(problem) => match folder.filter(|folder| folder.is_absolute()) {
                Some(gone) => gone,
                None => return Err(problem),
            },
        };
    match trust.remove(&named) {
        Ok(true) => print_quoted(&format!("{} is no longer trusted\n", named.display())),
        Ok(false) => {
            let hint = "hint: `omp trust list` lists the trusted folders";
            Ok(complain(&format!("{} is not trusted\n{hint}", named.display()), Exit::Failed))
        }
        Err(error) => Ok(complain(&error.to_string(), Exit::Failed)),
    }
}
