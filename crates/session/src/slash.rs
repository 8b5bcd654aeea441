//! Commands that a person types with a slash: one registry for every mode.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_types::Content;

use crate::{Session, Wish};

/// What is longer was pasted: a skill that is named in it is none that the user calls.
const LONGEST_WITH_MENTION: usize = 16 << 10;

/// One command. What it needs besides the session are its fields.
pub trait SlashCommand: Send + Sync {
    /// Without the slash.
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

    /// Whether a prompt comes of it, which files and piped text can go with: a builtin says so by what may follow its name.
    fn takes_attachments(&self) -> bool {
        self.source() != CommandSource::Builtin || self.arguments().is_some_and(|hint| hint.contains("prompt"))
    }

    /// Whether another session takes the place of this one, which not every front end can do.
    fn switches_session(&self) -> bool {
        false
    }

    /// Whether it takes as long as an answer of a model. A front end goes on with other things meanwhile.
    fn takes_long(&self) -> bool {
        false
    }

    /// Whether it may put a question. A front end that waits for a command before it reads an answer lets it run beside.
    fn asks(&self) -> bool {
        false
    }

    /// A problem is a sentence for the user.
    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>>;
}

/// Where a command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSource {
    Builtin,
    /// `/skill:name`
    Skill,
    /// A file of the user's or of the project's.
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

/// What comes of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum SlashReply {
    /// Shown to the user; the model is not asked.
    Text(String),
    /// Sent to the model in place of what was typed.
    Prompt(Vec<Content>),
    /// What was said last is asked again: [`crate::Command::Retry`].
    Retry,
    /// The front end goes on with the session that its host makes of this, and lets go of the old one: before, where
    /// that is [`Wish::Move`].
    Switch(Wish),
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

    /// The command that a typed text calls, with its arguments. A skill can be named anywhere; then all of the text is its
    /// argument. Text that calls none is for the model.
    pub fn find<'a>(&self, text: &'a str) -> Option<(&Arc<dyn SlashCommand>, &'a str)> {
        self.called(text).or_else(|| self.mentioned(text))
    }

    fn called<'a>(&self, text: &'a str) -> Option<(&Arc<dyn SlashCommand>, &'a str)> {
        let typed = text.trim_start().strip_prefix('/')?;
        let (name, arguments) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let command = self.commands.iter().find(|command| answers_to(&***command, name))?;
        Some((command, arguments.trim()))
    }

    /// The first skill that stands in the text as a word. Lines for the shell or for Python are none of ours.
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

        fn source(&self) -> CommandSource {
            if self.0.starts_with("skill:") { CommandSource::Skill } else { CommandSource::Builtin }
        }

        fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
            async move { Ok(SlashReply::Text(arguments.to_owned())) }.boxed()
        }
    }

    #[track_caller]
    fn check(typed: &str, expect: Option<(&str, &str)>) {
        let commands = SlashCommands::new(vec![
            Arc::new(Named("todo", &[])),
            Arc::new(Named("exit", &["quit"])),
            Arc::new(Named("skill:pdf", &[])),
        ]);
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
    fn what_calls_no_command_is_for_the_model() {
        check("todo", None);
        check("/todos", None);
        check("/usr/bin/env is missing", None);
        check("/", None);
        check("", None);
    }
}
