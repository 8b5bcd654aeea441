//! The binary: reads the arguments and the environment, connects the parts, returns the exit code.

mod cli;
mod folder;
mod modes;
mod output;
mod private_file;
mod session;
mod signals;
mod startup;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::CommandFactory;
use cli::{Cli, Subcommands, config, context, doctor, faces, first_word, sessions, trust, ttsr, usage_error};
use modes::{first_run, run};
use omp_headless::Exit;
use omp_types::Env;
use output::complain;

fn main() -> ExitCode {
    let began = Instant::now();
    #[cfg(unix)]
    if let Some(code) = omp_exec::stand_in(std::env::args_os(), || variables().collect()) {
        return code.into();
    }
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let [word] = words.as_slice()
        && (word == "--version" || word == "-V")
    {
        return version().into();
    }
    let parsed = usage_error::parse(&words).and_then(|cli| first_word::check(cli, &words));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(problem) => return complain(&problem, Exit::Usage).into(),
    };
    omp_exec::hide_arguments();
    omp_exec::prepare();
    if let Some(Subcommands::Completions { shell }) = cli.command {
        return completions(shell).into();
    }
    if let Err(problem) = omp_exec::check_threads() {
        return complain(&problem, Exit::Failed).into();
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&format!("cannot start: {error}"), Exit::Failed).into(),
    };
    let env = environment(cli.run.cwd.as_deref());
    startup::begin(&env, began);
    let exit = match cli.command {
        Some(Subcommands::Demo) => runtime.block_on(run::demo(&env)),
        Some(Subcommands::Read(args)) => runtime.block_on(faces::read(args, &env)),
        Some(Subcommands::Grep(args)) => runtime.block_on(faces::grep(args, &env)),
        Some(Subcommands::Find(args)) => runtime.block_on(faces::find(args, &env)),
        Some(Subcommands::Acp(args)) => runtime.block_on(run::acp(args.into(), &env)),
        Some(Subcommands::Context(args)) => runtime.block_on(context::run(args, &env)),
        Some(Subcommands::Doctor(args)) => runtime.block_on(doctor::run(&args, &env)),
        Some(Subcommands::Ttsr(args)) => ttsr::run(args, &env),
        Some(Subcommands::Setup) => runtime.block_on(first_run::run(&env)),
        Some(Subcommands::Config(args)) => config::run(args, &env),
        Some(Subcommands::Sessions(args)) => sessions::run(args, &env),
        Some(Subcommands::Trust(args)) => trust::run(args, &env),
        _ => runtime.block_on(run::run(cli.run, &env)),
    };
    // A cancelled search may still be shutting down; do not wait for it.
    runtime.shutdown_background();
    match exit {
        Ok(exit) => exit.into(),
        Err(problem) => complain(&problem, Exit::Usage).into(),
    }
}

/// Creates a runtime with one thread for all I/O; computations run in the blocking pool. This avoids waking threads for
/// every token of an answer. The first thread of the pool stays alive: if the system refuses more threads, work waits for it
/// instead of failing.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().thread_keep_alive(FOR_EVER).build()?;
    runtime.spawn_blocking(|| ());
    Ok(runtime)
}

/// The only function that reads the process environment. Names and values that are not UTF-8 are skipped.
#[expect(clippy::disallowed_methods, reason = "this is the top at which the environment is read once")]
fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn environment(folder: Option<&Path>) -> Env {
    // An unusable folder is reported later.
    let project = folder::working_folder(folder).ok();
    omp_config::load_environment(variables(), project.as_deref())
}

/// Prints the version before clap builds the command line, because scripts and editors ask for it often.
fn version() -> Exit {
    written(concat!("omp ", env!("CARGO_PKG_VERSION"), "\n").as_bytes())
}

fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "omp", &mut script);
    written(&script)
}

fn written(text: &[u8]) -> Exit {
    match std::io::stdout().write_all(text) {
        Ok(()) => Exit::Success,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Success,
        Err(_) => Exit::Failed,
    }
}
