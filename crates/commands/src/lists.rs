//! `/help`, `/tools`, `/jobs` and `/hooks`: list what is available.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{CommandSource, Session, SlashCommand, SlashCommands, SlashReply};
use omp_stdx::md_table::{Align, MdTable};
use omp_stdx::page::Page;

use crate::LazyText;

/// Longer usages are shown after the description.
const WIDEST_USAGE: usize = 24;

/// The sources of commands, in the order of `/help`.
const SECTIONS: [(&str, CommandSource); 3] =
    [("Commands", CommandSource::Builtin), ("Your commands", CommandSource::File), ("Skills", CommandSource::Skill)];

/// Lists the registered commands.
pub struct HelpCommand {
    /// Messages about files whose names cannot be called.
    pub unreachable: Vec<String>,
}

impl HelpCommand {
    /// Lists all commands that can be called now, by source.
    fn page(&self, commands: &SlashCommands) -> Page {
        let mut page = Page::default();
        for (title, source) in SECTIONS {
            let of_source = commands.iter().filter(|command| command.source() == source);
            let mut rows: Vec<[String; 2]> = of_source.map(|command| row(&**command)).collect();
            rows.sort();
            let mut table = MdTable::new([("Command", Align::Left), ("Description", Align::Left)]);
            rows.into_iter().for_each(|row| table.row(row));
            if !table.is_empty() {
                page = page.heading(2, title).table(table);
            }
        }
        self.unreachable.iter().fold(page, |page, sentence| page.text(sentence.as_str()))
    }
}

/// Returns the usage of a command, and its description with its other names.
fn row(command: &dyn SlashCommand) -> [String; 2] {
    let (name, mut about) = (command.name(), command.description().to_owned());
    let others: Vec<String> = command.aliases().iter().map(|name| format!("`/{name}`")).collect();
    if !others.is_empty() {
        about.push_str(&format!(" (also {})", others.join(", ")));
    }
    let usage = match command.arguments() {
        Some(arguments) if name.len() + arguments.len() <= WIDEST_USAGE => format!("`/{name} {arguments}`"),
        // Beside long arguments there would be no room for the descriptions.
        Some(arguments) => {
            about.push_str(&format!("; arguments: `{arguments}`"));
            format!("`/{name}` …")
        }
        None => format!("`/{name}`"),
    };
    [usage, about]
}

impl SlashCommand for HelpCommand {
    fn name(&self) -> &str {
        "help"
    }

    fn description(&self) -> &str {
        "List the commands"
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move { Ok(SlashReply::Page(self.page(&session.commands()))) }.boxed()
    }
}

pub struct ToolsCommand;

impl SlashCommand for ToolsCommand {
    fn name(&self) -> &str {
        "tools"
    }

    fn description(&self) -> &str {
        "List the model's tools"
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let tools = session.tools();
            let mut table = MdTable::new([("Tool", Align::Left), ("Description", Align::Left)]);
            for spec in tools.specs().iter() {
                let about = spec.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                table.row([format!("`{}`", spec.name), about.trim().to_owned()]);
            }
            Ok(match table.is_empty() {
                true => SlashReply::Text("the model has no tools".to_owned()),
                false => SlashReply::Page(Page::default().heading(2, "Tools").table(table)),
            })
        }
        .boxed()
    }
}

pub struct HooksCommand {
    pub hooks: LazyText,
}

impl SlashCommand for HooksCommand {
    fn name(&self) -> &str {
        "hooks"
    }

    fn description(&self) -> &str {
        "List the hooks, where they come from and whether they run"
    }

    fn run<'a>(&'a self, _: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move { Ok(SlashReply::Text((self.hooks)())) }.boxed()
    }
}

pub struct JobsCommand {
    pub jobs: LazyText,
}

impl SlashCommand for JobsCommand {
    fn name(&self) -> &str {
        "jobs"
    }

    fn description(&self) -> &str {
        "List the background commands of this session"
    }

    fn run<'a>(&'a self, _: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move { Ok(SlashReply::Text((self.jobs)())) }.boxed()
    }
}
