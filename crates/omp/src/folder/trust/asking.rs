//! Asks at startup whether the hooks, servers and commands of a folder may run.

use std::io::{self, IsTerminal, Write};

use omp_config::{Trust, TrustDecision, TrustState};
use omp_headless::Exit;
use omp_interactive::{Leave, TrustAnswer, TrustQuestion, run_trust, run_trust_in_text};
use omp_tui::{Terminal, TerminalOptions, Themes};
use tokio::sync::mpsc;

use super::told;
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::warn;

/// Asks on the full screen. Returns an exit code if omp is to end.
pub async fn at_terminal(setup: &mut FolderSetup) -> Result<Option<Exit>, FolderProblem> {
    let Some(question) = question(&setup.trust()) else { return Ok(None) };
    let themes = Themes::load(&setup.dirs.agent.join("themes"));
    let named = |key: &str| setup.settings.get::<String>(key);
    let (theme, _) = themes.choose(None, named("theme.dark").as_deref(), named("theme.light").as_deref());
    let options = TerminalOptions { env: setup.env.iter().collect(), mouse: false };
    let mut terminal = Terminal::open(options).map_err(|error| format!("the terminal cannot be used: {error}"))?;
    let answer = run_trust(&mut terminal, &theme, &question).await;
    // Restores the terminal for the code that runs next.
    drop(terminal);
    Ok(answered(setup, answer))
}

/// Asks in plain lines, if a person types at the terminal.
pub async fn in_text(
    setup: &mut FolderSetup,
    lines: &mut mpsc::Receiver<String>,
) -> Result<Option<Exit>, FolderProblem> {
    let Some(question) = question(&setup.trust()).filter(|_| io::stdin().is_terminal()) else { return Ok(None) };
    let mut out = io::stdout();
    let asked = run_trust_in_text(lines, &mut out, &question).await.and_then(|answer| out.flush().map(|()| answer));
    let answer = asked.map_err(|error| format!("cannot write to standard output: {error}"))?;
    Ok(answered(setup, answer))
}

/// Returns `None` if no item needs an answer.
fn question(decision: &TrustDecision) -> Option<TrustQuestion> {
    // Items that are too large cannot be trusted, so the user is not asked about them.
    let asked = decision.left_out().into_iter().filter(|item| !item.is_too_large());
    let items: Vec<Vec<String>> = asked.map(|item| told::item_lines(&item, decision)).collect();
    (!items.is_empty()).then(|| TrustQuestion {
        folder: told::clean(&decision.root().display().to_string()),
        changed: matches!(decision.state(), TrustState::Changed(_)),
        items,
    })
}

fn answered(setup: &mut FolderSetup, answer: TrustAnswer) -> Option<Exit> {
    match answer {
        TrustAnswer::NotNow => None,
        TrustAnswer::Gone(Leave::HungUp) => Some(Exit::HungUp),
        TrustAnswer::Gone(Leave::Interrupted) => Some(Exit::Interrupted),
        TrustAnswer::Gone(_) => Some(Exit::Terminated),
        TrustAnswer::Trust => {
            // Trusts exactly the items that were shown, not those that have been added since.
            let decision = setup.trust();
            let added = Trust::load(&setup.dirs.agent).add(decision.root(), decision.items());
            warn(&added.err().map(|error| error.to_string()).into_iter().collect::<Vec<_>>());
            setup.folder_trust.forget();
            None
        }
    }
}
