//! The menu of commands: the group of each, and what Tab offers after its name.

use super::CommandSource;

/// A group of the menu, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandGroup {
    Work,
    Model,
    Session,
    Setup,
    Help,
    /// Skills and command files.
    Own,
}

impl CommandGroup {
    pub fn title(self) -> &'static str {
        match self {
            CommandGroup::Work => "Work",
            CommandGroup::Session => "Session",
            CommandGroup::Model => "Model and cost",
            CommandGroup::Setup => "Setup",
            CommandGroup::Help => "Help",
            CommandGroup::Own => "Your commands and skills",
        }
    }
}

/// Values that only a running omp knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentValues {
    Nothing,
    Files,
    Folders,
    Models,
    Providers,
    Sessions,
    Settings,
    Themes,
    ThinkingLevels,
    Tools,
}

/// A command in the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MenuEntry {
    /// The name and the words that may follow it.
    line: &'static str,
    pub group: CommandGroup,
    /// More values that may follow the name.
    pub values: ArgumentValues,
}

impl MenuEntry {
    pub fn name(&self) -> &'static str {
        self.line.split(' ').next().unwrap_or_default()
    }

    /// Words that may follow the name.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.line.split(' ').skip(1)
    }
}

const fn entry(line: &'static str, group: CommandGroup, values: ArgumentValues) -> MenuEntry {
    MenuEntry { line, group, values }
}

use ArgumentValues::{Files, Folders, Models, Nothing, Providers, Sessions, Settings, Themes, ThinkingLevels, Tools};
use CommandGroup::{Help, Model, Session, Setup, Work};

/// omp's own commands, with those of the terminal, in the order of the menu.
pub const MENU: &[MenuEntry] = &[
    entry("plan go", Work, Nothing),
    entry("plan-review", Work, Nothing),
    entry("todo append copy done drop edit export import rm start", Work, Nothing),
    entry("undo force", Work, Files),
    entry("redo force", Work, Nothing),
    entry("changes diff", Work, Nothing),
    entry("btw", Work, Nothing),
    entry("retry", Work, Nothing),
    entry("loop", Work, Nothing),
    entry("force", Work, Tools),
    entry("queue", Work, Nothing),
    entry("jobs", Work, Nothing),
    entry("init", Work, Nothing),
    entry("model", Model, Models),
    entry("switch", Model, Models),
    entry("thinking", Model, ThinkingLevels),
    entry("fast off on status", Model, Nothing),
    entry("context json", Model, Nothing),
    entry("usage show", Model, Nothing),
    entry("budget cost off tokens", Model, Nothing),
    entry("new", Session, Nothing),
    entry("resume", Session, Sessions),
    entry("session delete info", Session, Nothing),
    entry("rename", Session, Nothing),
    entry("compact edit", Session, Nothing),
    entry("shake elide images", Session, Nothing),
    entry("handoff", Session, Nothing),
    entry("fork", Session, Nothing),
    entry("branch", Session, Nothing),
    entry("tree", Session, Nothing),
    entry("label", Session, Nothing),
    entry("move", Session, Folders),
    entry("copy all cmd code last", Session, Nothing),
    entry("export copy", Session, Files),
    entry("dump", Session, Nothing),
    entry("drop", Session, Nothing),
    entry("settings changed reset", Setup, Settings),
    entry("login", Setup, Providers),
    entry("logout", Setup, Providers),
    entry("permissions allow ask decisions deny remove", Setup, Nothing),
    entry("trust remove", Setup, Nothing),
    entry("memory open", Setup, Nothing),
    entry("hooks", Setup, Nothing),
    entry("tools", Setup, Nothing),
    entry("theme", Setup, Themes),
    entry("vim", Setup, Nothing),
    entry("terminal-setup apply", Setup, Nothing),
    entry("help", Help, Nothing),
    entry("hotkeys", Help, Nothing),
    entry("doctor local", Help, Nothing),
    entry("debug dump-next-request logs report stream system", Help, Nothing),
    entry("changelog full", Help, Nothing),
    entry("stripped", Help, Nothing),
    entry("exit", Help, Nothing),
];

/// Returns the position of a command in the menu, and its entry. A command that is not one of omp's own comes last.
pub fn menu_entry(name: &str, source: CommandSource) -> (usize, MenuEntry) {
    let own = MENU.iter().position(|entry| entry.name() == name).filter(|_| source == CommandSource::Builtin);
    match own {
        Some(at) => (at, MENU[at]),
        None => (MENU.len(), entry("", CommandGroup::Own, Files)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_words_are_sorted() {
        assert!(MENU.is_sorted_by_key(|entry| entry.group));
        assert!(MENU.iter().all(|entry| entry.words().is_sorted()));
        let (at, own) = menu_entry("model", CommandSource::File);
        assert_eq!((at, own.group), (MENU.len(), CommandGroup::Own));
    }
}
