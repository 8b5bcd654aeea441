//! `omp doctor`: tries what a session would do on this machine and reports what works, what does not, and how to fix it. No
//! request leaves the machine.

mod commands;
mod folders;
mod model;
mod report;
mod shell;
mod terminal;

use std::path::PathBuf;

use clap::Args;
use omp_headless::Exit;
use omp_types::Env;

use crate::cli::RunArgs;
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::{print, print_quoted};
pub use report::DoctorReport;
use report::Finding;

const SETTINGS: &str = "settings";

#[derive(Args, Debug)]
#[command(
    after_help = "Nothing is sent to a provider.\n\nExit codes: 0 no problem found (warnings do not count), 1 a problem found."
)]
pub struct DoctorArgs {
    /// Check this folder instead of the current one
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,

    /// Also ask local model servers (Ollama, llama.cpp, LM Studio) for their models
    #[arg(long)]
    local: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub async fn run(args: &DoctorArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let setup = FolderSetup::new(&RunArgs { cwd: args.cwd.clone(), ..RunArgs::default() }, env)?;
    let report = report(&setup, args.local).await;
    if args.json { print(&report.json()) } else { print_quoted(&report.text()) }?;
    Ok(if report.has_failures() { Exit::Failed } else { Exit::Success })
}

/// Checks everything; `local` also asks local model servers.
pub async fn report(setup: &FolderSetup, local: bool) -> DoctorReport {
    let mut report = DoctorReport::default();
    report.extend(settings(setup));
    report.extend(commands::check(setup).await);
    report.extend(model::check(setup, local).await);
    report.add(commands::tools(setup));
    report.extend(shell::check(setup).await);
    report.add(shell::git(setup).await);
    report.add(terminal::check(&setup.env));
    report.extend(folders::check(setup));
    report
}

/// Reports problems in the settings files, or that there are none.
fn settings(setup: &FolderSetup) -> Vec<Finding> {
    if !setup.warnings.is_empty() {
        return setup.warnings.iter().map(|warning| Finding::warning(SETTINGS, warning)).collect();
    }
    let (file, count) = (setup.dirs.settings_file(), setup.settings.origins().len());
    let text = match count {
        0 => format!("none set; yours go in {}", file.display()),
        1 => format!("1 set; yours are in {}", file.display()),
        many => format!("{many} set; yours are in {}", file.display()),
    };
    vec![Finding::fine(SETTINGS, text)]
}
