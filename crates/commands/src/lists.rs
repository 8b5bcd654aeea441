//! `/help`, `/tools`, `/jobs` and `/hooks`: list what is available.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashCommands, SlashReply};

use crate::LazyText;

/// Caps the width of the usage column; descriptions after longer usages are not aligned.
const WIDEST_USAGE: usize = 36;

/// Lists the registered commands.
pub struct HelpCommand {
    /// Messages about files whose names cannot be called.
    pub unreachable: Vec<String>,
}

impl HelpCommand {
    /// Lists all commands that can be called now, from any source.
    fn text(&self, commands: &SlashCommands) -> String {
        let usage = |command: &dyn SlashCommand| match command.arguments() {
            Some(arguments) => format!("/{} {arguments}", command.name()),
            None => format!("/{}", command.name()),
        };
        let mut lines: Vec<(String, String)> =
            commands.iter().map(|command| (usage(&**command), command.description().to_owned())).collect();
        lines.sort();
        let widths = lines.iter().map(|(usage, _)| usage.chars().count());
        let width = widths.filter(|width| *width <= WIDEST_USAGE).max().unwrap_or_default();
        let listed = lines.iter().map(|(usage, about)| format!("{usage:width$}  {about}"));
        let told = self.unreachable.iter().map(|sentence| format!("\n{sentence}"));
        listed.chain(told).collect::<Vec<_>>().join("\n")
    }
}

impl SlashCommand for HelpCommand {
    fn name(&self) -> &str {
        "help"
    }

    fn description(&self) -> &str {
        "List the commands"
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move { Ok(SlashReply::Text(self.text(&session.commands()))) }.boxed()
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
            let lines = tools.specs().iter().map(|spec| {
                let about = spec.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                format!("{}: {}", spec.name, about.trim())
            });
            let lines: Vec<String> = lines.collect();
            Ok(SlashReply::Text(if lines.is_empty() { "the model has no tools".to_owned() } else { lines.join("\n") }))
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
