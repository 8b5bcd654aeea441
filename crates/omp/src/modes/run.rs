//! Runs without a terminal application: one or more prompts, the list of models, the demo.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use omp_agent::ToolSet;
use omp_headless::{
    Client, Driven, Exit, HostUris, JsonPresenter, Limits, Presenter, TextPresenter, TextStyle, drive, read_piped,
    read_piped_within, serve,
};
use omp_session::{Session, SessionHost, SessionOptions, queues_from_settings};
use omp_stdx::sanitize::strip_control;
use omp_types::{Content, Editor, Env, Model, ThinkingLevel, vars};

use crate::cli::demo;
use crate::cli::sessions::export;
use crate::cli::sessions::export::ExportArgs;
use crate::cli::{OutputMode, RunArgs};
use crate::folder::containing;
use crate::folder::trust;
use crate::folder::{AskedPrompt, FolderProblem, FolderSetup};
use crate::modes::attached;
use crate::modes::first_run::{self, FirstRun};
use crate::modes::interactive;
use crate::modes::plain;
use crate::output::{complain, print, warn};
use crate::session::host::Host;
use crate::session::sessions;
use crate::signals;
use crate::startup;

/// How long to wait for piped input if there is already a message.
const STDIN_PATIENCE: Duration = Duration::from_secs(3);

pub async fn run(args: RunArgs, env: &Env) -> Result<Exit, FolderProblem> {
    if let Some(export) = ExportArgs::of_flag(&args) {
        return export::run(&export, &args, env);
    }
    let mut setup = FolderSetup::new(&args, env)?;
    if let Some(filter) = &args.model.list_models {
        return list_models(&setup, &args, filter).await;
    }
    let lists = args.session.resume.as_deref() == Some("");
    if lists && (args.plain || !interactive::wanted(&args)) {
        return print(&sessions::list(&setup, &args.session)?);
    }
    containing::look_ahead(&setup);
    setup.discover_ahead();
    if args.mode == OutputMode::Rpc {
        return rpc(args, &setup).await;
    }
    if plain::wanted(&args, env) {
        return plain::run(args, setup).await;
    }
    if interactive::wanted(&args) {
        if FirstRun::of(&setup).is_due(&setup, &args.model).await {
            if let Some(seen) = first_run::at_terminal(&setup).await? {
                return Ok(seen);
            }
            setup = FolderSetup::new(&args, &first_run::environment_again(&setup))?;
        }
        if let Some(gone) = trust::at_terminal(&mut setup).await? {
            return Ok(gone);
        }
        return interactive::run(args, setup).await;
    }
    setup.look_around_ahead();
    let prompts = prompts(&args, &setup)?;
    let limits = Limits { max_time: args.max_time, signals: signals::listen() };
    let (mode, asked_for) = (args.mode, args.model.model.clone());
    let host = Host::new(args, &setup, false).in_terminal().at_once(&setup);
    let opened = host.open_first(Editor::default(), host.wish(&setup)?).await?;
    warn(&opened.warnings);
    tell_choice(asked_for.as_deref(), &opened.session.snapshot().model);
    let prompting = startup::part("print:prompts");
    let mut presenter: Box<dyn Presenter> = match mode {
        OutputMode::Json => Box::new(JsonPresenter::new(std::io::stdout(), opened.header.clone())),
        OutputMode::Text | OutputMode::Rpc => Box::new(text_presenter(opened.session.tools(), env)),
    };
    let exit = drive_to_end(opened.into(), Some(&host), prompts, &mut *presenter, limits).await;
    drop(prompting);
    startup::told();
    warn(&host.last_words());
    exit
}

/// Serves a program that sends commands, so messages on the command line are not allowed.
async fn rpc(args: RunArgs, setup: &FolderSetup) -> Result<Exit, FolderProblem> {
    if args.messages.iter().any(|word| word.starts_with('@')) {
        return Err("@file arguments are not supported in RPC mode\nhint: name the file in a `prompt` command".into());
    }
    if !args.messages.is_empty() {
        return Err("RPC mode takes no messages\nhint: send them as `prompt` commands on standard input".into());
    }
    let host = Arc::new(Host::new(args, setup, true).waking().at_once(setup));
    let uris = Arc::new(HostUris::default());
    let opened = host.open_first(uris.editor(), host.wish(setup)?).await?;
    startup::told();
    let client = Client {
        input: Box::new(std::io::stdin()),
        output: Box::new(std::io::stdout()),
        signals: signals::listen(),
        uris,
    };
    let served = serve(host.clone(), opened, client).await.map_err(|error| format!("cannot start: {error}"));
    warn(&host.last_words());
    served
}

/// Serves an editor until it closes standard input.
pub async fn acp(args: RunArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let setup = FolderSetup::new(&args, env)?;
    warn(&setup.warnings);
    let host = Arc::new(Host::new(args, &setup, true));
    let mut signals = signals::listen();
    let mut asked_to = Exit::Success;
    let stop = async {
        if let Some(exit) = signals.recv().await {
            asked_to = exit;
        }
    };
    omp_acp::serve(host.clone(), tokio::io::stdin(), tokio::io::stdout(), stop).await;
    warn(&host.last_words());
    Ok(asked_to)
}

/// Runs the real agent loop and the real tools with a scripted model in a temporary folder.
pub async fn demo(env: &Env) -> Result<Exit, FolderProblem> {
    let failed =
        |error: std::io::Error| format!("cannot set up the demo: {error}\nhint: check that TMPDIR is writable");
    let folder = tempfile::Builder::new().prefix("omp-demo-").tempdir().map_err(failed)?;
    demo::write_project(folder.path()).map_err(failed)?;
    let args = RunArgs { cwd: Some(folder.path().to_owned()), ..RunArgs::default() };
    let setup = FolderSetup::isolated(&args, env, folder.path())?;
    let opened = sessions::unrecorded(&setup.cwd);
    let typing = if std::io::stdout().is_terminal() { Duration::from_millis(25) } else { Duration::ZERO };
    let (model, llm, outcome) = demo::model(typing);
    let built = setup.tools(&args.tools, &model, false, Editor::default(), &opened)?;
    let tools = ToolSet::new(built.tools.clone());
    let system = setup.system_prompt(AskedPrompt::default(), opened.recorder.header(), &built.tools)?;
    let (session, actor) = Session::open(SessionOptions {
        thinking: Default::default(),
        tools: built.tools,
        system,
        access: setup.access(),
        queues: queues_from_settings(&setup.settings),
        ..SessionOptions::new(llm, model, opened.recorder)
    });
    print(&format!("A small project with a failing test, in {}\n\n> {}\n\n", setup.cwd.display(), demo::TASK))?;
    let style = TextStyle { live: true, color: colors(env), columns: columns() };
    let mut presenter = TextPresenter::new(std::io::stdout(), std::io::stderr(), tools, style);
    let limits = Limits { max_time: None, signals: signals::listen() };
    let prompts = vec![vec![Content::text(demo::TASK)]];
    let driven = Driven { session, actor };
    let exit = drive_to_end(driven, None, prompts, &mut presenter, limits).await?;
    if exit != Exit::Success {
        return Ok(exit);
    }
    match outcome.result() {
        Ok(()) => print(&format!("\n{}", demo::CLOSING)),
        Err(reason) => Ok(complain(&demo::failure(&reason), Exit::Failed)),
    }
}

async fn drive_to_end(
    driven: Driven,
    host: Option<&dyn SessionHost>,
    prompts: Vec<Vec<Content>>,
    presenter: &mut dyn Presenter,
    limits: Limits,
) -> Result<Exit, FolderProblem> {
    let driven = drive(driven, host, prompts, presenter, limits).await;
    Ok(driven.unwrap_or_else(|error| complain(&format!("cannot write to standard output: {error}"), Exit::Failed)))
}

fn prompts(args: &RunArgs, setup: &FolderSetup) -> Result<Vec<Vec<Content>>, FolderProblem> {
    let piped = match std::io::stdin() {
        stdin if stdin.is_terminal() => None,
        // Without a message, the piped text is the message, so this waits for it. With a message, piped text is optional.
        stdin if args.messages.is_empty() => Some(read_piped(stdin.lock()).map_err(|error| error.to_string())?),
        stdin => {
            let text = read_piped_within(stdin, STDIN_PATIENCE).map_err(|error| error.to_string())?;
            if text.is_none() {
                warn(&["no input on standard input, so it is ignored; add `</dev/null` to skip the wait".to_owned()]);
            }
            text
        }
    };
    attached::prompts(&args.messages, piped, setup)
}

async fn list_models(setup: &FolderSetup, args: &RunArgs, filter: &str) -> Result<Exit, FolderProblem> {
    let mut registry = setup.registry(&args.model);
    let found = omp_llm::discover(&setup.client(None), &registry).await;
    registry.add_discovered(found.models);
    warn(&registry.problems().iter().map(ToString::to_string).chain(found.problems).collect::<Vec<_>>());
    print(&registry.list_text(Some(filter).filter(|filter| !filter.is_empty())))
}

fn text_presenter(tools: ToolSet, env: &Env) -> TextPresenter<std::io::Stdout, std::io::Stderr> {
    let live = std::io::stdout().is_terminal();
    let style = TextStyle { live, color: colors(env), columns: columns() };
    TextPresenter::new(std::io::stdout(), std::io::stderr(), tools, style)
}

/// Returns the width of the terminal on standard error.
fn columns() -> Option<usize> {
    const USUAL: usize = 80;
    std::io::stderr().is_terminal().then(|| omp_tui::window_size().map_or(USUAL, |size| size.width))
}

fn colors(env: &Env) -> bool {
    std::io::stdout().is_terminal() && env.get(vars::NO_COLOR).is_none()
}

/// Prints which model a partial name or a role resolves to, so that the user does not first see it on a bill.
fn tell_choice(asked_for: Option<&str>, model: &Model) {
    let Some(pattern) = asked_for.map(str::trim).filter(|pattern| !pattern.starts_with("replay")) else { return };
    let name = pattern.rsplit_once(':').filter(|(_, level)| level.parse::<ThinkingLevel>().is_ok());
    let said = [pattern, name.map_or(pattern, |(name, _)| name)];
    let exact = [model.selector(), model.id.clone()];
    if !said.iter().any(|said| exact.iter().any(|exact| exact == said)) {
        // If standard error is closed, nobody can be notified.
        let _ = writeln!(std::io::stderr(), "omp: `{}` is {}", strip_control(pattern), model.selector());
    }
}
