//! Runs slash commands: those of the session, and the few that exist only in the terminal.

use omp_session::{CalledCommand, Command, Obeyed};
use omp_types::ThinkingLevel;

use super::screen::Dirty;
use super::{News, Running};
use crate::action::Action;
use crate::prompt::Submission;
use crate::transcript::Tone;

/// The terminal's own commands, with their descriptions.
pub const OWN: [(&str, &str); 7] = [
    ("exit", "Exit omp"),
    ("quit", "Exit omp"),
    ("hotkeys", "List the key bindings"),
    ("theme", "Choose a theme"),
    ("thinking", "Set the thinking level"),
    ("plan-review", "Show the plan again"),
    ("vim", "Turn vim mode on or off"),
];

/// The result of a session command.
pub struct Ran {
    typed: Submission,
    obeyed: Result<Obeyed, String>,
}

impl Running {
    /// Runs a command that exists only in the terminal, or for which a dialog is better than text.
    pub(super) async fn own_command(&mut self, name: &str, arguments: &str) -> bool {
        let action = match (name, arguments) {
            ("hotkeys", "") => Action::ShowHotkeys,
            ("settings", "") => Action::ShowSettings,
            ("theme", "") => Action::ShowThemes,
            ("theme", name) => Action::SetTheme { name: name.to_owned(), keep: true },
            ("thinking", "") => Action::ShowThinking,
            ("thinking", level) => match level.parse() {
                Ok(level) => Action::SetThinking(level),
                Err(_) => return self.no_level(level),
            },
            ("login", provider) => Action::AskKey(Some(provider.to_owned()).filter(|name| !name.is_empty())),
            ("model", "") => Action::SelectModel,
            ("resume", "") => Action::ShowSessions,
            ("tree", "") => Action::ShowTree,
            ("branch", "") => Action::ShowBranchPoints,
            ("plan-review", "") => Action::ReviewPlan,
            ("vim", "") => Action::ToggleVim,
            ("compact", "edit") => return self.offer_summary(),
            ("copy", which) => return self.offer_copies(which).await,
            _ => return false,
        };
        self.obey(action).await;
        true
    }

    fn no_level(&mut self, typed: &str) -> bool {
        let levels: Vec<&str> = ThinkingLevel::ALL.iter().map(|level| level.as_str()).collect();
        let text = format!("/thinking: unknown level `{typed}`\nhint: use {}", levels.join(", "));
        self.note(Tone::Error, &text);
        true
    }

    /// Runs in a task, because some commands send requests or write files.
    pub(super) fn run_command(&mut self, called: CalledCommand, typed: Submission) {
        let Some(live) = &self.live else { return };
        self.work.commands += 1;
        let session = live.session.clone();
        self.beside(async move {
            let obeyed = called.run(&session, typed.images.clone().into()).await;
            News::Ran(Ran { typed, obeyed })
        });
    }

    pub(super) async fn ran(&mut self, ran: Ran) {
        self.work.commands = self.work.commands.saturating_sub(1);
        self.screen.mark(Dirty::Now);
        let Ran { typed, obeyed } = ran;
        match obeyed {
            Ok(Obeyed::Show(text)) => {
                if !text.trim().is_empty() {
                    self.note(Tone::Told, &format!("{}\n{text}", typed.text.trim()));
                }
                if typed.text.split_whitespace().any(|word| word.starts_with("statusLine.")) {
                    self.read_status_look();
                }
            }
            Ok(Obeyed::Page { markdown, .. }) => {
                if let Some(live) = &mut self.live {
                    live.scribe.page(&mut self.screen.log, typed.text.trim(), &markdown);
                }
            }
            Ok(Obeyed::Card { view, .. }) => {
                if let Some(live) = &mut self.live {
                    live.scribe.card(&mut self.screen.log, *view);
                }
            }
            Ok(Obeyed::Copy(text)) => Box::pin(self.obey(Action::Copy(text))).await,
            // While the model works it waits in the queue, where it is shown and Esc takes it back.
            Ok(Obeyed::Send(Command::Prompt(prompt))) if self.is_running() => {
                self.command(Command::FollowUp(prompt)).await;
            }
            Ok(Obeyed::Send(command)) => self.command(command).await,
            Ok(Obeyed::Switch(wish)) => self.switch(wish).await,
            Err(problem) => {
                self.note(Tone::Error, &format!("{}: {problem}", typed.text.trim()));
                self.done_with(typed);
            }
        }
        if let Some(live) = &mut self.live {
            live.look_at_todos();
        }
    }
}
