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
    pub name: &'static str,
    pub group: CommandGroup,
    /// Words that may follow the name.
    pub words: &'static [&'static str],
    /// Values that may follow it besides.
    pub values: ArgumentValues,
}

const fn entry(
    name: &'static str,
    group: CommandGroup,
    words: &'static [&'static str],
    values: ArgumentValues,
) -> MenuEntry {
    MenuEntry { name, group, words, values }
}

use ArgumentValues::{Files, Folders, Models, Nothing, Providers, Sessions, Settings, Themes, ThinkingLevels, Tools};
use CommandGroup::{Help, Model, Session, Setup, Work};

/// omp's own commands, with those of the terminal, in the order of the menu.
pub const MENU: &[MenuEntry] = &[
    entry("plan", Work, &["go"], Nothing),
    entry("plan-review", Work, &[], Nothing),
    entry("todo", Work, &["append", "copy", "done", "drop", "edit", "export", "import", "rm", "start"], Nothing),
    entry("undo", Work, &["force"], Files),
    entry("redo", Work, &["force"], Nothing),
    entry("changes", Work, &["diff"], Nothing),
    entry("btw", Work, &[], Nothing),
    entry("retry", Work, &[], Nothing),
    entry("loop", Work, &[], Nothing),
    entry("force", Work, &[], Tools),
    entry("queue", Work, &[], Nothing),
    entry("jobs", Work, &[], Nothing),
    entry("init", Work, &[], Nothing),
    entry("model", Model, &[], Models),
    entry("switch", Model, &[], Models),
    entry("thinking", Model, &[], ThinkingLevels),
    entry("fast", Model, &["off", "on", "status"], Nothing),
    entry("context", Model, &["json"], Nothing),
    entry("usage", Model, &["show"], Nothing),
    entry("budget", Model, &["cost", "off", "tokens"], Nothing),
    entry("new", Session, &[], Nothing),
    entry("resume", Session, &[], Sessions),
    entry("session", Session, &["delete", "info"], Nothing),
    entry("rename", Session, &[], Nothing),
    entry("compact", Session, &["edit"], Nothing),
    entry("handoff", Session, &[], Nothing),
    entry("fork", Session, &[], Nothing),
    entry("branch", Session, &[], Nothing),
    entry("tree", Session, &[], Nothing),
    entry("label", Session, &[], Nothing),
    entry("move", Session, &[], Folders),
    entry("copy", Session, &["all", "cmd", "code", "last"], Nothing),
    entry("export", Session, &["copy"], Files),
    entry("dump", Session, &[], Nothing),
    entry("drop", Session, &[], Nothing),
    entry("settings", Setup, &["changed", "reset"], Settings),
    entry("login", Setup, &[], Providers),
    entry("logout", Setup, &[], Providers),
    entry("permissions", Setup, &["allow", "ask", "decisions", "deny", "remove"], Nothing),
    entry("trust", Setup, &["remove"], Nothing),
    entry("memory", Setup, &["edit"], Nothing),
    entry("hooks", Setup, &[], Nothing),
    entry("tools", Setup, &[], Nothing),
    entry("theme", Setup, &[], Themes),
    entry("vim", Setup, &[], Nothing),
    entry("terminal-setup", Setup, &["apply"], Nothing),
    entry("help", Help, &[], Nothing),
    entry("hotkeys", Help, &[], Nothing),
    entry("doctor", Help, &["local"], Nothing),
    entry("debug", Help, &["dump-next-request", "logs", "report", "stream", "system"], Nothing),
    entry("changelog", Help, &["full"], Nothing),
    entry("stripped", Help, &[], Nothing),
    entry("exit", Help, &[], Nothing),
];

/// Returns the position of a command in the menu, and its entry. A command that is not one of omp's own comes last.
pub fn menu_entry(name: &str, source: CommandSource) -> (usize, MenuEntry) {
    let own = MENU.iter().position(|entry| entry.name == name).filter(|_| source == CommandSource::Builtin);
    match own {
        Some(at) => (at, MENU[at]),
        None => (MENU.len(), entry("", CommandGroup::Own, &[], Files)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_words_are_sorted() {
        assert!(MENU.is_sorted_by_key(|entry| entry.group));
        assert!(MENU.iter().all(|entry| entry.words.is_sorted()));
        let (at, own) = menu_entry("model", CommandSource::File);
        assert_eq!((at, own.group), (MENU.len(), CommandGroup::Own));
    }
}
