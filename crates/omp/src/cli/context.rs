//! `omp context`: shows the size of the prompt that a new session would send from here, or of an existing session.

use std::path::PathBuf;

use clap::Args;
use omp_headless::Exit;
use omp_session::TypedPrompt;
use omp_types::{Content, Editor, Env};

use crate::cli::{ModelArgs, PromptArgs, RunArgs, SessionArgs, ToolArgs};
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::{print_quoted, warn};
use crate::session::host::Host;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  omp context\n  omp context --model gpt-5 --json\n  omp context -c")]
pub struct ContextArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Measure the last session of this folder instead of a new one
    #[arg(short, long, conflicts_with = "resume")]
    r#continue: bool,

    /// Measure a session instead of a new one: the start of its id, or the path of its file
    #[arg(short, long, value_name = "ID|PATH")]
    resume: Option<String>,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    tools: ToolArgs,

    #[command(flatten)]
    prompt: PromptArgs,

    /// Use this folder instead of the current one
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,

    /// Read more settings from this file, which win over config.yml (repeatable)
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
}

pub async fn run(args: ContextArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let ContextArgs { json, r#continue, resume, model, tools, prompt, cwd, config } = args;
    let no_session = !r#continue && resume.is_none();
    let session = SessionArgs { r#continue, resume, no_session, ..SessionArgs::default() };
    let args = RunArgs { model, tools, prompt, cwd, config, session, ..RunArgs::default() };
    let setup = FolderSetup::new(&args, env)?;
    let host = Host::new(args, &setup, false);
    let opened = host.open_first(Editor::default(), host.wish(&setup)?).await?;
    warn(&opened.warnings);
    let typed = if json { "/context json" } else { "/context" };
    let obeyed = opened.session.obey(TypedPrompt::last_text(vec![Content::text(typed)])).await?;
    let text = obeyed.into_text().ok_or("/context has no text")?;
    print_quoted(&format!("{text}\n"))
}
