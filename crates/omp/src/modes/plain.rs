//! `--plain`: reads lines from standard input and writes lines to standard output.

use std::io::{BufRead, IsTerminal, Read};
use std::sync::Arc;

use omp_headless::Exit;
use omp_interactive::{PlainEnd, PlainIo, PlainSignal, PromptParts, run_plain};
use omp_session::TimeLimit;
use omp_types::{Editor, Env, vars};
use tokio::sync::mpsc;

use crate::cli::{OutputMode, RunArgs};
use crate::folder::trust;
use crate::folder::unused::Unused;
use crate::folder::{FolderProblem, FolderSetup};
use crate::modes::attached;
use crate::modes::file_index::ProjectFiles;
use crate::modes::first_run::{self, FirstRun};
use crate::modes::outside::Machine;
use crate::modes::prompt_history::HistoryFile;
use crate::output::{complain, print, warn};
use crate::session::host::Host;
use crate::signals;

/// Caps the number of typed lines in the queue.
const MOST_LINES: usize = 64;
/// Longer lines are split.
const LONGEST_LINE: u64 = 8 << 20;

/// Whether plain mode was asked for, or the terminal supports nothing else.
pub fn wanted(args: &RunArgs, env: &Env) -> bool {
    let is_talk = !args.print && args.mode == OutputMode::Text;
    let dumb =
        || env.get(vars::TERM) == Some("dumb") && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    args.plain || (is_talk && dumb())
}

pub async fn run(args: RunArgs, mut setup: FolderSetup) -> Result<Exit, FolderProblem> {
    let limit = TimeLimit::begin(args.max_time);
    let mut lines = lines();
    if FirstRun::of(&setup).is_due(&setup, &args.model).await {
        if let Some(seen) = first_run::in_text(&setup, &mut lines).await? {
            return Ok(seen);
        }
        setup = FolderSetup::new(&args, &first_run::environment_again(&setup))?;
    }
    if let Some(gone) = trust::in_text(&mut setup, &mut lines).await? {
        return Ok(gone);
    }
    let host = Arc::new(Host::new(args.clone(), &setup, true).in_terminal().at_once(&setup));
    let first = if args.messages.is_empty() { Vec::new() } else { attached::talk_prompts(&args.messages, &setup)? };
    let opened = host.open_first(Editor::default(), host.wish(&setup)?).await?;
    let attended = std::io::stdin().is_terminal();
    if let Some(line) = Unused::here(&setup).line().filter(|_| attended) {
        print(&format!("{line}\n"))?;
    }
    let io = PlainIo {
        lines,
        out: Box::new(std::io::stdout()),
        signals: plain_signals(),
        attended,
        prompt: prompt_parts(&setup, host.clone()),
        limit,
    };
    let ended = run_plain(host.clone(), opened, first, io).await;
    warn(&host.last_words());
    match ended {
        Ok(PlainEnd::Left) => Ok(Exit::Success),
        Ok(PlainEnd::Terminated) => Ok(Exit::Terminated),
        Ok(PlainEnd::HungUp) => Ok(Exit::HungUp),
        Ok(PlainEnd::TimeUp) => Ok(complain(TimeLimit::REACHED, Exit::Limit)),
        Ok(PlainEnd::Failed) => Ok(Exit::Failed),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(format!("cannot write to standard output: {error}")),
    }
}

/// The parts of this machine that a prompt needs.
pub fn prompt_parts(setup: &FolderSetup, host: Arc<Host>) -> PromptParts {
    let (cwd, home) = (setup.cwd.clone(), setup.dirs.home.clone());
    PromptParts {
        outside: Arc::new(Machine::new(setup.env.clone(), cwd.clone(), home.clone())),
        files: Arc::new(ProjectFiles::new(cwd.clone(), home)),
        history: Arc::new(HistoryFile::open(&setup.dirs.agent, &cwd, Box::new(move |typed| host.hide_typed(typed)))),
    }
}

/// Reads lines of standard input in a thread that ends with the process.
pub fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(MOST_LINES);
    let read = move || {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        while matches!(input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            line.clear();
            if sender.blocking_send(text).is_err() {
                break;
            }
        }
    };
    // If no thread can be started there are no lines, which ends the conversation.
    drop(std::thread::Builder::new().spawn(read));
    receiver
}

fn plain_signals() -> mpsc::Receiver<PlainSignal> {
    let (sender, receiver) = mpsc::channel(4);
    let mut signals = signals::listen();
    tokio::spawn(async move {
        while let Some(exit) = signals.recv().await {
            let signal = match exit {
                Exit::Interrupted => PlainSignal::Interrupt,
                Exit::HungUp => PlainSignal::HangUp,
                _ => PlainSignal::Terminate,
            };
            if sender.send(signal).await.is_err() {
                break;
            }
        }
    });
    receiver
}
