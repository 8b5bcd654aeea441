//! `/help`, `/tools`, `/jobs` and `/hooks`: what there is.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};

use crate::Listing;

/// Descriptions stand in one column as long as what is before them is not longer than this.
const WIDEST_USAGE: usize = 36;

/// Lists the commands it was made of.
pub struct HelpCommand {
    text: String,
}

impl HelpCommand {
    /// `unreachable` are sentences about files whose names cannot be called.
    pub fn of(commands: &[Arc<dyn SlashCommand>], unreachable: &[String]) -> Self {
        let usage = |command: &dyn SlashCommand| match command.arguments() {
            Some(arguments) => format!("/{} {arguments}", command.name()),
            None => format!("/{}", command.name()),
        };
        let mut lines: Vec<(String, String)> =
            commands.iter().map(|command| (usage(&**command), command.description().to_owned())).collect();
        lines.push(("/help".to_owned(), DESCRIPTION.to_owned()));
        lines.sort();
        let widths = lines.iter().map(|(usage, _)| usage.chars().count());
        let width = widths.filter(|width| *width <= WIDEST_USAGE).max().unwrap_or_default();
        let listed = lines.iter().map(|(usage, about)| format!("{usage:width$}  {about}"));
        let told = unreachable.iter().map(|sentence| format!("\n{sentence}"));
        Self { text: listed.chain(told).collect::<Vec<_>>().join("\n") }
    }
}

const DESCRIPTION: &str = "List the commands";

impl SlashCommand for HelpCommand {
    fn name(&self) -> &str {
        "help"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn run<'a>(&'a self, _: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move { Ok(SlashReply::Text(self.text.clone())) }.boxed()
    }
}

pub struct ToolsCommand;

impl SlashCommand for ToolsCommand {
    fn name(&self) -> &str {
        "tools"
    }

    fn description(&self) -> &str {
        "List the tools the model is offered"
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let tools = session.tools();
            let lines = tools.specs().iter().map(|spec| {
                let about = spec.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                format!("{}: {}", spec.name, about.trim())
            });
            let lines: Vec<String> = lines.collect();
            Ok(SlashReply::Text(if lines.is_empty() { "no tools are offered".to_owned() } else { lines.join("\n") }))
        }
        .boxed()
    }
}

pub struct HooksCommand {
    pub hooks: Listing,
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
    pub jobs: Listing,
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
