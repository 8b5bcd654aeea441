//! The question at the start: whether what a folder brings along may run.

use std::io::{self, IsTerminal, Write};

use omp_config::{Trust, TrustDecision, TrustState};
use omp_headless::Exit;
use omp_interactive::{Leave, TrustAnswer, TrustQuestion, run_trust, run_trust_in_text};
use omp_tui::{Terminal, TerminalOptions, Themes};
use tokio::sync::mpsc;

use super::told;
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::warn;

/// Asks on the whole terminal. Something is returned when omp is to end.
pub async fn at_terminal(setup: &mut FolderSetup) -> Result<Option<Exit>, FolderProblem> {
    let Some(question) = question(&setup.trust()) else { return Ok(None) };
    let themes = Themes::load(&setup.dirs.agent.join("themes"));
    let named = |key: &str| setup.settings.get::<String>(key);
    let (theme, _) = themes.choose(None, named("theme.dark").as_deref(), named("theme.light").as_deref());
    let options = TerminalOptions { env: setup.env.iter().collect(), mouse: false };
    let mut terminal = Terminal::open(options).map_err(|error| format!("the terminal cannot be used: {error}"))?;
    let answer = run_trust(&mut terminal, &theme, &question).await;
    // What comes next finds the terminal as it was.
    drop(terminal);
    Ok(answered(setup, answer))
}

/// Asks in plain lines, where a person types them.
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

/// `None` where nothing waits for an answer.
fn question(decision: &TrustDecision) -> Option<TrustQuestion> {
    // What is too large cannot be trusted, so there is no use in asking.
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
            // Exactly what was shown, not what has come meanwhile.
            let decision = setup.trust();
            let added = Trust::load(&setup.dirs.agent).add(decision.root(), decision.items());
            warn(&added.err().map(|error| error.to_string()).into_iter().collect::<Vec<_>>());
            setup.folder_trust.forget();
            None
        }
    }
}
