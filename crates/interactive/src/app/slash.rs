//! Runs slash commands: those of the session, and the few that exist only in the terminal.

use std::path::Path;

use omp_session::{CalledCommand, Command, CommandScreen, Obeyed, ShownInstead};
use omp_stdx::plain_file::read_text;

use super::screen::Dirty;
use super::{News, Running};
use crate::action::Action;
use crate::dialogs::{MenuDialog, PageDialog};
use crate::prompt::Submission;
use crate::transcript::Tone;

/// Caps the size of a file to edit.
const LARGEST_FILE: u64 = 1 << 20;

/// A command that only the terminal has.
pub struct OwnCommand {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub description: &'static str,
    /// What may follow the name.
    pub arguments: Option<&'static str>,
}

const fn own(name: &'static str, description: &'static str) -> OwnCommand {
    OwnCommand { name, aliases: &[], description, arguments: None }
}

/// The terminal's own commands.
pub const OWN: &[OwnCommand] = &[
    OwnCommand { aliases: &["quit"], ..own("exit", "Exit omp") },
    own("hotkeys", "List the key bindings"),
    OwnCommand { arguments: Some("[name]"), ..own("theme", "Choose a theme") },
    own("plan-review", "Show the plan again"),
    own("vim", "Turn vim mode on or off"),
];

/// Returns the names of the terminal's own commands, with their aliases.
pub fn own_names() -> impl Iterator<Item = &'static str> {
    OWN.iter().flat_map(|own| std::iter::once(own.name).chain(own.aliases.iter().copied()))
}

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
            ("thinking", level) if let Ok(level) = level.parse() => Action::SetThinking(level),
            ("switch", "") => Action::SelectModelTemporary,
            ("login", provider) => {
                Action::AskKey(Some(provider.to_owned()).filter(|name| !name.is_empty() && name != "providers"))
            }
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

    /// Opens the dialog of a command.
    async fn open_screen(&mut self, screen: CommandScreen) {
        match screen {
            CommandScreen::Menu { title, items } => self.show_dialog(Box::new(MenuDialog::new(title, items))),
            CommandScreen::Page { title, text } => self.show_dialog(Box::new(PageDialog::new(title, &text))),
            CommandScreen::Edit(file) => self.edit_file(&file).await,
            CommandScreen::EditText { text, line } => self.edit_text(&text, &line).await,
        }
    }

    /// Opens text in the user's own editor and runs the command with what was changed.
    async fn edit_text(&mut self, old: &str, line: &str) {
        match self.edit_outside(old).await.filter(|new| new.trim() != old.trim()) {
            Some(new) => {
                let line = format!("{line}\n{new}");
                self.prompt.remember(&line);
                self.say_line(line).await;
            }
            None => self.hint("nothing was changed"),
        }
    }

    /// Opens a file in the user's own editor and writes back what was changed.
    async fn edit_file(&mut self, file: &Path) {
        let shown = file.display();
        let old = match read_text(file, LARGEST_FILE) {
            Ok(text) => text,
            Err(error) => return self.note(Tone::Error, &format!("cannot read {shown}: {error}")),
        };
        // The editor for prompts drops the last line break.
        let end = if old.ends_with('\n') { "\n" } else { "" };
        let new = self.edit_outside(&old).await.map(|new| format!("{}{end}", new.trim_end_matches('\n')));
        let Some(new) = new.filter(|new| *new != old) else { return self.hint("the file is unchanged") };
        match std::fs::write(file, new) {
            Ok(()) => self.note(Tone::Told, &format!("{shown} is saved; takes effect in the next session")),
            Err(error) => self.note(Tone::Error, &format!("cannot write {shown}: {error}")),
        }
    }

    pub(super) async fn ran(&mut self, ran: Ran) {
        self.work.commands = self.work.commands.saturating_sub(1);
        self.screen.mark(Dirty::Now);
        let Ran { typed, obeyed } = ran;
        match obeyed {
            Ok(Obeyed::Show { text, instead }) => self.show_reply(typed.text.trim(), text, instead).await,
            // While the model works it waits in the queue, where it is shown and Esc takes it back.
            Ok(Obeyed::Send(Command::Prompt(prompt))) if self.is_running() => {
                self.command(Command::FollowUp(prompt)).await;
            }
            Ok(Obeyed::Send(command)) => self.command(command).await,
            Ok(Obeyed::Switch(wish)) => self.switch(wish).await,
            Err(problem) => {
                self.note(Tone::Error, &format!("{}: {problem}", first_line(typed.text.trim())));
                self.done_with(typed);
            }
        }
        if let Some(live) = &mut self.live {
            live.look_at_todos();
        }
    }

    /// Shows what a command returned.
    async fn show_reply(&mut self, typed: &str, text: String, instead: ShownInstead) {
        match (instead, &mut self.live) {
            (ShownInstead::Nothing, _) => {
                if !text.trim().is_empty() {
                    self.note(Tone::Reply, &format!("{}\n{text}", first_line(typed)));
                }
                if typed.split_whitespace().any(|word| word.starts_with("statusLine.")) {
                    self.read_status_look();
                }
            }
            (ShownInstead::Page(markdown), Some(live)) => live.scribe.page(&mut self.screen.log, typed, &markdown),
            (ShownInstead::Card(view), Some(live)) => live.scribe.card(&mut self.screen.log, *view),
            (ShownInstead::Page(_) | ShownInstead::Card(_), None) => {}
            (ShownInstead::Dialog(screen), _) => Box::pin(self.open_screen(screen)).await,
            (ShownInstead::Copy, _) => Box::pin(self.obey(Action::Copy(text))).await,
        }
    }
}

/// Longer text, such as an edited list, is not repeated.
fn first_line(typed: &str) -> &str {
    typed.lines().next().unwrap_or_default()
}
