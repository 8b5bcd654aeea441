//! `omp sessions export` and `--export`: a session as an HTML page.

use std::path::PathBuf;

use clap::Args;
use omp_headless::Exit;
use omp_types::Env;

use crate::cli::RunArgs;
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::print;
use crate::session::pages::{Exporter, secrets};
use crate::session::secrets::redactor;
use crate::session::sessions;

#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:\n  omp sessions export 01a1e0cb\n  omp sessions export 01a1e0cb talk.html")]
pub struct ExportArgs {
    /// The start of the session's id, or the path of its file
    #[arg(value_name = "ID|PATH")]
    pub session: String,

    /// The page to write (default: omp-session-….html in this folder)
    #[arg(value_name = "OUT")]
    pub out: Option<PathBuf>,
}

impl ExportArgs {
    /// Reads `--export FILE [OUT]`. OUT may also be the first message.
    pub fn of_flag(run: &RunArgs) -> Option<Self> {
        let (session, out) = run.export.split_first()?;
        let out = out.first().or(run.messages.first()).map(PathBuf::from);
        Some(Self { session: session.clone(), out })
    }
}

/// Writes the page of a session and prints its path. Needs no model and changes nothing else.
pub fn run(args: &ExportArgs, run: &RunArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let setup = FolderSetup::new(run, env)?;
    let named = setup.cwd.join(&args.session);
    let file = if named.is_file() {
        named
    } else {
        let found = sessions::folder(&setup, &run.session).resolve(&setup.cwd, &args.session);
        found.map_err(|error| error.to_string())?
    };
    let registry = setup.registry(&run.model);
    let exporter = Exporter::of(&setup, secrets(&registry, redactor(&setup, &registry)));
    let to = exporter.write(&file, args.out.as_deref(), None, None)?;
    print(&format!("Exported to: {}\n", to.display()))
}
