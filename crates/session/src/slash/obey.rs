//! Handles typed text for every front end: which command it calls, what is attached, and what the front end has to do.

use std::ops::Deref;
use std::sync::Arc;

use omp_types::{Content, ImageContent, text_of};
use omp_view::View;

use super::{Called, CommandScreen, CommandSource, SlashCommand, SlashReply};
use crate::{Command, Prompt, Session, Wish};

/// What is left for a front end to do.
pub enum Obeyed {
    /// Send this to the session: [`Command::Prompt`] or [`Command::Retry`].
    Send(Command),
    /// Show the text to the user, or what a terminal has instead of it; no request is made.
    Show { text: String, instead: ShownInstead },
    /// Continue with the session that the host makes of this.
    Switch(Wish),
}

/// What a terminal shows or does instead of showing the text. Other front ends ignore it.
pub enum ShownInstead {
    Nothing,
    /// The text as Markdown.
    Page(String),
    Card(Box<View>),
    Dialog(CommandScreen),
    /// The text is copied to the clipboard.
    Copy,
}

impl Obeyed {
    /// Returns the text to show, where there are neither cards nor dialogs.
    pub fn into_text(self) -> Option<String> {
        match self {
            Obeyed::Show { text, .. } => Some(text),
            Obeyed::Send(_) | Obeyed::Switch(_) => None,
        }
    }
}

/// A prompt as received by a front end, which may call a command.
#[derive(Debug)]
pub struct TypedPrompt {
    content: Vec<Content>,
    takes: CommandText,
    refuses_attachments: bool,
}

/// Which part of a prompt may call a command.
#[derive(Clone, Copy, Debug)]
enum CommandText {
    Last,
    All,
}

/// A command that was called, with its arguments.
#[derive(Clone)]
pub struct CalledCommand {
    command: Arc<dyn SlashCommand>,
    arguments: String,
}

/// Content to be sent with the prompt that a command makes. Other commands ignore it.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    pub before: Vec<Content>,
    pub after: Vec<Content>,
}

impl Session {
    /// Runs the command that a prompt calls. A prompt that calls none is sent unchanged. An error is a sentence for the
    /// user.
    pub async fn obey(&self, typed: TypedPrompt) -> Result<Obeyed, String> {
        let Some(text) = typed.text() else { return Ok(typed.message()) };
        let called = match self.commands().read(&text, &[]) {
            Called::Command(called) => called,
            Called::Refused(why) => return Err(why),
            Called::Message => return Ok(typed.message()),
        };
        if typed.refuses_attachments && typed.content.len() > 1 && !called.takes_attachments() {
            return Err(format!(
                "/{} takes no attached files or piped text\nhint: leave them out, or send them with a message",
                called.name()
            ));
        }
        called.run(self, typed.attached()).await
    }
}

impl TypedPrompt {
    /// The last text block may call a command; attachments keep their position.
    pub fn last_text(content: Vec<Content>) -> Self {
        Self { content, takes: CommandText::Last, refuses_attachments: false }
    }

    /// All text blocks together may call a command. Images are placed after the resulting prompt.
    pub fn all_text(content: Vec<Content>) -> Self {
        Self { content, takes: CommandText::All, refuses_attachments: false }
    }

    /// Makes a command fail if it cannot use its attachments, instead of ignoring them.
    pub fn refusing_attachments(self) -> Self {
        Self { refuses_attachments: true, ..self }
    }

    fn text(&self) -> Option<String> {
        match self.takes {
            CommandText::Last => self.content.iter().rev().find_map(Content::as_text).map(str::to_owned),
            CommandText::All => Some(text_of(&self.content)),
        }
    }

    fn attached(self) -> Attached {
        let is_text = |block: &Content| matches!(block, Content::Text(_));
        let mut before = self.content;
        match self.takes {
            CommandText::Last => {
                let at = before.iter().rposition(is_text).unwrap_or_default();
                let after = before.split_off((at + 1).min(before.len()));
                before.truncate(at);
                Attached { before, after }
            }
            CommandText::All => {
                before.retain(|block| matches!(block, Content::Image(_)));
                Attached { before: Vec::new(), after: before }
            }
        }
    }

    /// A message for the model. Text attached before the typed text is joined with it.
    fn message(self) -> Obeyed {
        let mut content = self.content;
        if let (CommandText::Last, [Content::Text(attached), Content::Text(typed), ..]) = (self.takes, &content[..]) {
            let text = format!("{}{}", attached.text, typed.text);
            content.splice(..2, [Content::text(text)]);
        }
        Obeyed::Send(Command::Prompt(content.into()))
    }
}

impl CalledCommand {
    pub(super) fn new(command: Arc<dyn SlashCommand>, arguments: &str) -> Self {
        Self { command, arguments: arguments.to_owned() }
    }

    pub fn given(&self) -> &str {
        &self.arguments
    }

    /// An error is a sentence for the user. One about the arguments ends with the usage.
    pub async fn run(self, session: &Session, attached: Attached) -> Result<Obeyed, String> {
        let reply = self.command.run(&self.arguments, session).await;
        Ok(match reply.map_err(|problem| with_usage(problem, &*self.command, &self.arguments))? {
            SlashReply::Text(text) => Obeyed::Show { text, instead: ShownInstead::Nothing },
            SlashReply::Page(page) => Obeyed::Show { text: page.plain(), instead: ShownInstead::Page(page.markdown()) },
            SlashReply::Card { text, view } => Obeyed::Show { text, instead: ShownInstead::Card(view) },
            SlashReply::Screen { text, screen } => Obeyed::Show { text, instead: ShownInstead::Dialog(screen) },
            SlashReply::Copy(text) => Obeyed::Show { text, instead: ShownInstead::Copy },
            SlashReply::Prompt(prompt) => Obeyed::Send(Command::Prompt(attached.around(prompt))),
            SlashReply::Retry => Obeyed::Send(Command::Retry),
            SlashReply::Switch(wish) => Obeyed::Switch(wish),
        })
    }
}

/// Adds the usage of a built-in command to an error that quotes one of its arguments.
fn with_usage(problem: String, command: &dyn SlashCommand, arguments: &str) -> String {
    let is_quoted = |word: &str| problem.contains(&format!("`{word}`"));
    let is_about_them = is_quoted(arguments.trim()) || arguments.split_whitespace().any(is_quoted);
    match command.arguments() {
        Some(hint) if is_about_them && command.source() == CommandSource::Builtin && !problem.contains("usage: /") => {
            format!("{problem}\nhint: usage: /{} {hint}", command.name())
        }
        _ => problem,
    }
}

impl Deref for CalledCommand {
    type Target = dyn SlashCommand;

    fn deref(&self) -> &Self::Target {
        &*self.command
    }
}

impl Attached {
    fn around(self, prompt: Prompt) -> Prompt {
        let Self { before: mut content, after } = self;
        content.extend(prompt.content);
        content.extend(after);
        Prompt { content, prepared: prompt.prepared }
    }
}

impl From<Vec<ImageContent>> for Attached {
    fn from(pictures: Vec<ImageContent>) -> Self {
        Self { before: Vec::new(), after: pictures.into_iter().map(Content::Image).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(name: &str) -> Content {
        Content::Image(ImageContent { data: name.to_owned(), mime_type: "image/png".to_owned() })
    }

    fn shown(content: &[Content]) -> String {
        let blocks = content.iter().map(|block| match block {
            Content::Image(image) => format!("<{}>", image.data),
            other => other.as_text().unwrap_or("?").to_owned(),
        });
        blocks.collect::<Vec<_>>().join("|")
    }

    fn sent(typed: TypedPrompt) -> String {
        match typed.message() {
            Obeyed::Send(Command::Prompt(prompt)) => shown(&prompt.content),
            _ => panic!("a message is sent as a prompt"),
        }
    }

    #[test]
    fn what_is_attached_stays_around_what_a_command_makes() {
        let mixed = || vec![Content::text("file "), picture("a"), Content::text("/x"), picture("b")];
        let attach = |typed: TypedPrompt| shown(&typed.attached().around(Prompt::text("made")).content);
        assert_eq!(TypedPrompt::last_text(mixed()).text().as_deref(), Some("/x"));
        assert_eq!(attach(TypedPrompt::last_text(mixed())), "file |<a>|made|<b>");
        assert_eq!(TypedPrompt::all_text(mixed()).text().as_deref(), Some("file /x"));
        assert_eq!(attach(TypedPrompt::all_text(mixed())), "made|<a>|<b>");
        assert_eq!(TypedPrompt::last_text(vec![picture("a")]).text(), None);
    }

    #[test]
    fn a_message_joins_an_attached_text_with_what_was_typed() {
        let two = || vec![Content::text("file "), Content::text("look"), picture("b")];
        assert_eq!(sent(TypedPrompt::last_text(two())), "file look|<b>");
        assert_eq!(sent(TypedPrompt::all_text(two())), "file |look|<b>");
        assert_eq!(sent(TypedPrompt::last_text(vec![picture("a"), Content::text("look")])), "<a>|look");
        assert_eq!(sent(TypedPrompt::last_text(Vec::new())), "");
    }
}
