//! Slash commands: one registry for every mode.

mod menu;
mod missing;
mod obey;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_stdx::nearest::likely;
use omp_stdx::page::Page;
use omp_view::View;

use crate::{Prompt, Session, Wish};
pub use menu::{ArgumentValues, CommandGroup, MENU, MenuEntry, menu_entry};
pub use missing::{MISSING as MISSING_COMMANDS, TERMINAL_ONLY};
pub use obey::{Attached, CalledCommand, Obeyed, ShownInstead, TypedPrompt};

/// Longer text was pasted, so a skill mentioned in it is not called.
const LONGEST_WITH_MENTION: usize = 16 << 10;

const AS_MESSAGE: &str = "hint: to send it to the model, put a word before it";

/// One command. Its fields hold what it needs besides the session.
pub trait SlashCommand: Send + Sync {
    /// The name without the slash.
    fn name(&self) -> &str;

    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// One line for the list of commands.
    fn description(&self) -> &str;

    /// What may follow the name, such as `[path]`.
    fn arguments(&self) -> Option<&str> {
        None
    }

    fn source(&self) -> CommandSource {
        CommandSource::Builtin
    }

    /// Whether the command produces a prompt, to which files and piped text can be attached. Few builtins do.
    fn takes_attachments(&self) -> bool {
        self.source() != CommandSource::Builtin
    }

    /// Whether the command replaces the session by another one, which not every front end supports.
    fn switches_session(&self) -> bool {
        false
    }

    /// Whether the command takes as long as an answer of a model. A front end does other work meanwhile.
    fn takes_long(&self) -> bool {
        false
    }

    /// Whether the command may ask a question. A front end that waits for commands before it reads answers runs it
    /// concurrently.
    fn asks(&self) -> bool {
        false
    }

    /// An error is a sentence for the user.
    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>>;
}

/// Where a command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSource {
    Builtin,
    /// `/skill:name`
    Skill,
    /// A file of the user or of the project.
    File,
}

impl CommandSource {
    pub fn as_str(self) -> &'static str {
        match self {
            CommandSource::Builtin => "builtin",
            CommandSource::Skill => "skill",
            CommandSource::File => "file",
        }
    }
}

/// The result of a command. Front ends get it as [`Obeyed`].
#[derive(Clone, Debug)]
pub enum SlashReply {
    /// Shown to the user; no request is made.
    Text(String),
    /// Shown like [`SlashReply::Text`]: drawn at a terminal, as plain text elsewhere.
    Page(Page),
    /// Shown as a card where there are cards, as text elsewhere.
    Card { text: String, view: Box<View> },
    /// Opened as a dialog in the terminal application, shown as text elsewhere.
    Screen { text: String, screen: CommandScreen },
    /// Copied to the clipboard at a terminal, shown like [`SlashReply::Text`] elsewhere.
    Copy(String),
    /// Sent to the model instead of the typed text.
    Prompt(Prompt),
    /// Requests an answer again: [`crate::Command::Retry`].
    Retry,
    /// The front end continues with the session that its host makes of this, and closes the old one; for [`Wish::Move`] the
    /// old one is closed first.
    Switch(Wish),
}

/// A dialog that a command opens.
#[derive(Clone, Debug)]
pub enum CommandScreen {
    /// A list to choose from.
    Menu { title: String, items: Vec<CommandChoice> },
    /// Lines to scroll through.
    Page { title: String, text: String },
    /// A file to open in the user's own editor.
    Edit(PathBuf),
    /// A text to edit in the user's own editor. The edited text is submitted after `line`.
    EditText { text: String, line: String },
}

/// An item of a [`CommandScreen::Menu`].
#[derive(Clone, Debug)]
pub struct CommandChoice {
    pub label: String,
    pub facts: String,
    /// The line that is submitted when it is chosen.
    pub line: String,
    /// Whether the line needs more words, so that it is only put into the editor.
    pub is_begun: bool,
}

/// What a typed text means.
#[derive(Clone)]
pub enum Called {
    Command(CalledCommand),
    /// Looks like a command but cannot be run; a sentence for the user. No request is made.
    Refused(String),
    /// A message for the model.
    Message,
}

/// The commands of a session.
#[derive(Clone, Default)]
pub struct SlashCommands {
    commands: Vec<Arc<dyn SlashCommand>>,
}

impl SlashCommands {
    pub fn new(commands: Vec<Arc<dyn SlashCommand>>) -> Self {
        Self { commands }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn SlashCommand>> {
        self.commands.iter()
    }

    /// Interprets a typed text. `own` are names of commands that the front end handles itself: they get here only if their
    /// arguments were wrong.
    ///
    /// A text is a command if its first word is a slash and a name: letters, digits, `-`, `_` and `:`, with a letter first.
    /// A word with another slash or a dot, or that exists as a file, is a path: `/usr/bin/env`, `/tmp`.
    pub fn read(&self, text: &str, own: &[&str]) -> Called {
        match self.find(text) {
            Some((command, arguments)) if !arguments.is_empty() && takes_nothing(&**command) => {
                Called::Refused(takes_no_arguments(command.name()))
            }
            Some((command, arguments)) => Called::Command(CalledCommand::new(command.clone(), arguments)),
            None => self.refuse(text, own).map_or(Called::Message, Called::Refused),
        }
    }

    /// Why a text that is not a command is not sent to the model either.
    fn refuse(&self, text: &str, own: &[&str]) -> Option<String> {
        let word = text.split_whitespace().next()?;
        if let Some(refused) = self.refuse_glued(word, own) {
            return Some(refused);
        }
        let name = word.strip_prefix('/').filter(|name| looks_like_a_name(name))?;
        let stem = name.split(':').next().unwrap_or(name);
        if own.contains(&stem) {
            return Some(takes_no_arguments(stem));
        }
        if let Some((_, instead)) = missing::MISSING.iter().find(|(missing, _)| *missing == stem) {
            return Some(format!("omp has no command /{stem}\nhint: {instead}"));
        }
        if missing::TERMINAL_ONLY.contains(&stem) {
            return Some(format!("/{stem} works only in the terminal app\nhint: /help lists the commands"));
        }
        if Path::new(word).exists() {
            return None;
        }
        let registered = self
            .commands
            .iter()
            .flat_map(|command| std::iter::once(command.name()).chain(command.aliases().iter().copied()));
        let near = likely(name, registered.chain(own.iter().copied()), 3);
        let near: Vec<String> = near.iter().map(|near| format!("/{near}")).collect();
        let hint = match near.is_empty() {
            false => format!("did you mean {}?", near.join(", ")),
            true => "/help lists the commands".to_owned(),
        };
        Some(format!("unknown command /{name}\nhint: {hint}\n{AS_MESSAGE}"))
    }

    /// Refuses text such as `/undo/redo`: a command followed by something that is not a path. An existing file is not
    /// refused.
    fn refuse_glued(&self, word: &str, own: &[&str]) -> Option<String> {
        let (first, rest) = word.strip_prefix('/')?.split_once('/')?;
        let is_known = |name: &str| own.contains(&name) || self.commands.iter().any(|it| answers_to(&**it, name));
        if !is_known(first) || Path::new(word).exists() {
            return None;
        }
        let second = rest.split('/').next().filter(|name| is_known(name)).map(|name| format!(", /{name}"));
        let meant = format!("/{first}{}", second.unwrap_or_default());
        Some(format!("unknown command {word}\nhint: did you mean {meant}?\n{AS_MESSAGE}"))
    }

    /// The command that a typed text calls, with its arguments. A skill can be named anywhere; its argument is then the
    /// whole text.
    pub fn find<'a>(&self, text: &'a str) -> Option<(&Arc<dyn SlashCommand>, &'a str)> {
        self.called(text).or_else(|| self.mentioned(text))
    }

    /// Returns the name of the command that a line calls, also if it calls it by another name.
    pub fn name_of(&self, text: &str) -> Option<String> {
        self.called(text).map(|(command, _)| command.name().to_owned())
    }

    /// Treats `/name:rest` as `/name rest` if no command has the whole word as its name.
    fn called<'a>(&self, text: &'a str) -> Option<(&Arc<dyn SlashCommand>, &'a str)> {
        let typed = text.trim_start().strip_prefix('/')?;
        // A command of a file may have a name that is only another name of one of omp's own.
        let named = |name: &str| {
            let own = self.commands.iter().find(|command| command.name() == name);
            own.or_else(|| self.commands.iter().find(|command| answers_to(&***command, name)))
        };
        let (name, arguments) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        if let Some(command) = named(name) {
            return Some((command, arguments.trim()));
        }
        let (stem, arguments) = typed.split_once(':').filter(|(stem, _)| !stem.contains(char::is_whitespace))?;
        let command = named(stem).filter(|command| command.source() == CommandSource::Builtin)?;
        Some((command, arguments.trim()))
    }

    /// The first skill named as a word in the text. Lines for the shell or for Python are skipped.
    fn mentioned<'a>(&self, text: &'a str) -> Option<(&Arc<dyn SlashCommand>, &'a str)> {
        let text = text.trim();
        if text.starts_with(['!', '$']) || text.len() > LONGEST_WITH_MENTION {
            return None;
        }
        let mut words = text.split_whitespace().filter_map(|word| word.strip_prefix('/'));
        let command = words.find_map(|word| self.commands.iter().find(|command| is_skill(&***command, word)))?;
        Some((command, text))
    }
}

fn takes_nothing(command: &dyn SlashCommand) -> bool {
    command.source() == CommandSource::Builtin && command.arguments().is_none()
}

fn takes_no_arguments(name: &str) -> String {
    format!("/{name} takes no arguments\nhint: usage: /{name}\n{AS_MESSAGE}")
}

fn looks_like_a_name(name: &str) -> bool {
    name.starts_with(char::is_alphabetic)
        && name.chars().all(|char| char.is_alphanumeric() || matches!(char, '-' | '_' | ':'))
}

fn is_skill(command: &dyn SlashCommand, name: &str) -> bool {
    command.source() == CommandSource::Skill && command.name() == name
}

fn answers_to(command: &dyn SlashCommand, name: &str) -> bool {
    command.name() == name || command.aliases().contains(&name)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    struct Named(&'static str, &'static [&'static str]);

    fn some() -> SlashCommands {
        SlashCommands::new(vec![
            Arc::new(Named("todo", &[])),
            Arc::new(Named("exit", &["quit"])),
            Arc::new(Named("skill:pdf", &[])),
        ])
    }

    impl SlashCommand for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn aliases(&self) -> &[&str] {
            self.1
        }

        fn description(&self) -> &str {
            ""
        }

        fn arguments(&self) -> Option<&str> {
            (self.0 == "todo").then_some("[verb]")
        }

        fn source(&self) -> CommandSource {
            if self.0.starts_with("skill:") { CommandSource::Skill } else { CommandSource::Builtin }
        }

        fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
            async move { Ok(SlashReply::Text(arguments.to_owned())) }.boxed()
        }
    }

    #[track_caller]
    fn check(typed: &str, expect: Option<(&str, &str)>) {
        let commands = some();
        let found = commands.find(typed).map(|(command, arguments)| (command.name().to_owned(), arguments));
        let found = found.as_ref().map(|(name, arguments)| (name.as_str(), *arguments));
        assert_eq!(found, expect, "{typed:?}");
    }

    #[test]
    fn a_typed_text_calls_a_command_by_its_first_word() {
        check("/todo", Some(("todo", "")));
        check("/todo  start  it ", Some(("todo", "start  it")));
        check(" /todo\nx", Some(("todo", "x")));
        check("/quit", Some(("exit", "")));
        check("/todo:start it", Some(("todo", "start it")));
    }

    #[test]
    fn what_looks_like_a_command_is_never_a_message() {
        for (text, expect) in [
            ("/todos", "unknown command /todos\nhint: did you mean /todo?"),
            ("/todos and more", "did you mean /todo?"),
            ("/frobnicate", "/help lists the commands"),
            ("/api returns 500", "unknown command /api"),
            ("/skill:pfd x", "did you mean /skill:pdf?"),
            ("/exit now", "/exit takes no arguments"),
            ("/theme", "/theme works only in the terminal app"),
            ("/hotkeys now", "/hotkeys takes no arguments"),
            ("/mcp list", "omp has no command /mcp\nhint: MCP servers are not started yet"),
            ("/mcp:list", "omp has no command /mcp"),
            ("/todo/exit", "unknown command /todo/exit\nhint: did you mean /todo, /exit?"),
            ("/quit/now and more", "unknown command /quit/now\nhint: did you mean /quit?"),
            ("/hotkeys/", "did you mean /hotkeys?"),
        ] {
            match some().read(text, &["hotkeys"]) {
                Called::Refused(why) => assert!(why.contains(expect), "{text:?}: {why}"),
                _ => panic!("{text:?} is not refused"),
            }
        }
        for text in
            ["", "/", "//", "// a comment", "/* x */", "/usr/bin/x is broken", "/.env", "/1", "x /todos", "/a.b c"]
        {
            assert!(matches!(some().read(text, &[]), Called::Message), "{text:?}");
        }
        #[cfg(unix)]
        assert!(matches!(some().read("/tmp is full", &[]), Called::Message));
        assert!(matches!(some().read("/todo x", &[]), Called::Command(called) if called.given() == "x"));
    }

    #[test]
    fn missing_commands_are_in_order_and_say_what_to_do() {
        assert!(missing::MISSING.is_sorted() && missing::TERMINAL_ONLY.is_sorted());
        assert!(missing::MISSING.iter().all(|(_, instead)| !instead.is_empty()));
    }

    #[test]
    fn a_skill_can_be_named_anywhere() {
        check("/skill:pdf fill it in", Some(("skill:pdf", "fill it in")));
        check("fill in\n/skill:pdf the form", Some(("skill:pdf", "fill in\n/skill:pdf the form")));
        check(" it is for /skill:pdf ", Some(("skill:pdf", "it is for /skill:pdf")));
        check("/tmp/x needs /skill:pdf", Some(("skill:pdf", "/tmp/x needs /skill:pdf")));
        check("/todo /skill:pdf", Some(("todo", "/skill:pdf")));
        let paste = format!("{} /skill:pdf", "x".repeat(LONGEST_WITH_MENTION));
        for none in
            ["see `/skill:pdf`", "a/skill:pdf", "x /skill:other", "x /todo", "!ls /skill:pdf", "$ x /skill:pdf", &paste]
        {
            check(none, None);
        }
    }

    #[test]
    fn what_calls_no_command_is_not_found() {
        check("todo", None);
        check("/todos", None);
        check("/usr/bin/env is missing", None);
        check("/", None);
        check("", None);
    }
}
