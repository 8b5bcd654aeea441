//! `omp doctor`: what this system can keep commands from, by which means, and what would be needed for more.

use std::path::PathBuf;

use clap::Args;
use omp_contain::{Containment, Rung, mode_name, standing};
use omp_headless::Exit;
use omp_types::{ContainMode, Env};

use crate::cli::RunArgs;
use crate::compose::{Problem, Setup};
use crate::run::print_quoted;

#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 the configured mode can be kept, 1 it cannot.")]
pub struct DoctorArgs {
    /// Look at this folder
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
}

pub fn run(args: &DoctorArgs, env: &Env) -> Result<Exit, Problem> {
    let setup = Setup::new(&RunArgs { cwd: args.cwd.clone(), ..RunArgs::default() }, env)?;
    let containment = setup.containment();
    let mode = setup.settings.user("containment.mode").unwrap_or_default();
    let (text, kept) = told(mode, containment);
    print_quoted(&text)?;
    Ok(if kept { Exit::Success } else { Exit::Failed })
}

/// What is told, and whether the mode can be kept.
fn told(mode: ContainMode, containment: &Containment) -> (String, bool) {
    let standing = standing();
    let mark = |there: bool| if there { "yes" } else { "no" };
    let landlock = match standing.landlock {
        0 => "no".to_owned(),
        version => format!("yes (version {version})"),
    };
    let mut text = format!(
        "Containment of commands\n  namespaces  {}\n  Landlock    {landlock}\n  seccomp     {}\n  rung        {}\n",
        mark(standing.namespaces),
        mark(standing.seccomp),
        standing.rung().name(),
    );
    for missing in &standing.missing {
        text.push_str(&format!(
            "\nWithout {}: {}\n  {}\n  hint: {}\n",
            missing.what, missing.why, missing.costs, missing.fix
        ));
    }
    let kept = mode == ContainMode::Off || (standing.rung() != Rung::None && containment.check().is_ok());
    let name = mode_name(mode);
    match containment.check() {
        Err(refused) => text.push_str(&format!("\n{refused}\n")),
        Ok(()) if mode == ContainMode::Off => text.push_str("\nThe mode is `off`: commands may do what you may.\n"),
        Ok(()) if !kept => {
            text.push_str(&format!("\nThe mode `{name}` cannot be kept: commands may do what you may.\n"))
        }
        Ok(()) => text.push_str(&format!("\nThe mode `{name}` is kept.\n")),
    }
    (text, kept)
}
