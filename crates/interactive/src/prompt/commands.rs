//! Completes `/`: commands by prefix, then by letters in their names. Nothing is ever run from here.

use omp_session::{CommandSource, MenuEntry, SlashCommands, menu_entry};
use omp_tui::Completion;

/// A command as shown in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// The name without the slash.
    pub name: String,
    pub aliases: Vec<String>,
    pub description: String,
    /// The arguments that may follow the name.
    pub arguments: Option<String>,
    pub source: CommandSource,
    /// How often it appears in the history.
    pub used: usize,
}

impl Default for CommandInfo {
    fn default() -> Self {
        Self {
            name: String::new(),
            aliases: Vec::new(),
            description: String::new(),
            arguments: None,
            source: CommandSource::Builtin,
            used: 0,
        }
    }
}

impl CommandInfo {
    pub fn all(commands: &SlashCommands) -> Vec<CommandInfo> {
        let info = |command: &std::sync::Arc<dyn omp_session::SlashCommand>| CommandInfo {
            name: command.name().to_owned(),
            aliases: command.aliases().iter().map(|alias| (*alias).to_owned()).collect(),
            description: command.description().to_owned(),
            arguments: command.arguments().map(str::to_owned),
            source: command.source(),
            used: 0,
        };
        commands.iter().map(info).collect()
    }

    /// Counts the lines that call each command.
    pub fn count(commands: &mut [CommandInfo], lines: &[String]) {
        for line in lines {
            let Some(name) = line.strip_prefix('/').and_then(|typed| typed.split_whitespace().next()) else { continue };
            if let Some(command) = commands.iter_mut().find(|command| command.answers_to(name)) {
                command.used += 1;
            }
        }
    }

    /// Returns the place of the command in the menu.
    pub fn menu(&self) -> (usize, MenuEntry) {
        menu_entry(&self.name, self.source)
    }

    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// Ranks how well a typed prefix matches: less is better.
    fn rank(&self, typed: &str) -> Option<usize> {
        let names = || std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(String::as_str));
        if names().any(|name| name == typed) {
            return Some(0);
        }
        if self.name.starts_with(typed) {
            return Some(1);
        }
        if names().any(|name| name.starts_with(typed)) {
            return Some(2);
        }
        names().any(|name| holds_in_order(name, typed)).then_some(3)
    }

    /// `typed` is the text after the slash. A command that is found by an alias is shown by it.
    fn completion(&self, typed: &str, replace: std::ops::Range<usize>) -> Completion {
        let alias = self.aliases.iter().find(|alias| alias.starts_with(typed) && !self.name.starts_with(typed));
        let called = alias.unwrap_or(&self.name);
        let label = match (&self.arguments, alias) {
            (_, Some(alias)) => format!("/{alias} → /{}", self.name),
            (Some(arguments), None) if self.name == typed => format!("/{} {arguments}", self.name),
            _ => format!("/{}", self.name),
        };
        let aliases = match self.aliases.as_slice() {
            aliases if aliases.is_empty() || alias.is_some() => String::new(),
            aliases => format!(" (also /{})", aliases.join(", /")),
        };
        let group = if typed.is_empty() { self.menu().1.group.title() } else { "" };
        let space = if self.arguments.is_some() { " " } else { "" };
        let insert = format!("/{called}{space}");
        Completion { label, detail: format!("{}{aliases}", self.description), replace, insert, group }
    }
}

/// Returns the commands that match the text before the cursor; none if no command is being typed. A slash alone lists all
/// of them by groups.
pub fn completions(text: &str, cursor: usize, commands: &[CommandInfo]) -> Vec<Completion> {
    let Some(typed) = text.get(..cursor).and_then(|before| before.strip_prefix('/')) else { return Vec::new() };
    if typed.contains(char::is_whitespace) {
        return Vec::new();
    }
    let end = text[cursor..].find(char::is_whitespace).map_or(text.len(), |at| cursor + at);
    let mut fitting: Vec<(usize, &CommandInfo)> =
        commands.iter().filter_map(|command| Some((command.rank(typed)?, command))).collect();
    match typed.is_empty() {
        true => fitting.sort_by_key(|(_, command)| command.menu().0),
        false => fitting.sort_by_key(|(rank, command)| (*rank, std::cmp::Reverse(command.used), command.menu().0)),
    }
    fitting.into_iter().map(|(_, command)| command.completion(typed, 0..end)).collect()
}

/// Whether the text is the full name of a command, so that Enter runs it.
pub fn is_name(text: &str, commands: &[CommandInfo]) -> bool {
    text.trim().strip_prefix('/').is_some_and(|name| commands.iter().any(|command| command.answers_to(name)))
}

fn holds_in_order(name: &str, letters: &str) -> bool {
    let mut rest = name.chars();
    letters.chars().all(|letter| rest.any(|char| char == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<CommandInfo> {
        let command = |name: &str, aliases: &[&str], arguments: Option<&str>| CommandInfo {
            name: name.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            description: format!("does {name}"),
            arguments: arguments.map(str::to_owned),
            ..CommandInfo::default()
        };
        vec![
            command("export", &[], Some("[path]")),
            command("exit", &["quit"], None),
            command("model", &["models"], Some("[name]")),
        ]
    }

    #[track_caller]
    fn check(text: &str, cursor: usize, expect: &[&str]) {
        let found = completions(text, cursor, &some());
        let labels: Vec<String> = found.iter().map(|one| one.label.clone()).collect();
        assert_eq!(labels, expect, "{text:?}");
    }

    #[test]
    fn names_before_aliases_before_letters() {
        check("/", 1, &["/model", "/export", "/exit"]);
        check("/ex", 3, &["/export", "/exit"]);
        check("/export", 7, &["/export [path]"]);
        check("/q", 2, &["/quit → /exit"]);
        check("/xt", 3, &["/export", "/exit"]);
        check("/exit", 5, &["/exit"]);
        check("/zzz", 4, &[]);
    }

    #[test]
    fn of_equal_beginnings_what_is_used_more_comes_first() {
        let mut commands = some();
        let lines = ["/exit", "/quit", "/model x", "/export a", "/exit", "exit", "/nothing"].map(str::to_owned);
        CommandInfo::count(&mut commands, &lines);
        assert_eq!(commands.iter().map(|command| command.used).collect::<Vec<_>>(), [1, 3, 1]);
        let labels: Vec<String> = completions("/ex", 3, &commands).into_iter().map(|one| one.label).collect();
        assert_eq!(labels, ["/exit", "/export"]);
    }

    #[test]
    fn only_at_the_start_of_the_text_and_in_the_first_word() {
        for (text, cursor) in [("", 0), ("x /ex", 5), ("/model g", 8), ("/ex", 0), ("/ä", 2)] {
            check(text, cursor, &[]);
        }
        let [first, ..] = &completions("/ex more", 3, &some())[..] else { panic!("nothing fits") };
        assert_eq!((first.replace.clone(), first.insert.as_str()), (0..3, "/export "));
        assert_eq!(completions("/e", 2, &some())[1].detail, "does exit (also /quit)");
        assert_eq!(completions("/q", 2, &some())[0].insert, "/quit");
        let groups: Vec<&str> = completions("/", 1, &some()).iter().map(|one| one.group).collect();
        assert_eq!(groups, ["Model and cost", "Session", "Help"]);
    }

    #[test]
    fn a_whole_name_needs_no_completion() {
        for (text, expect) in [("/model", true), ("/models ", true), ("/mod", false), ("model", false), ("/", false)] {
            assert_eq!(is_name(text, &some()), expect, "{text}");
        }
    }
}
