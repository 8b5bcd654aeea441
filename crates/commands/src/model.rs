//! `/model`, `/switch` and `/thinking`: show and set the model and its thinking level.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Command, Session, SlashCommand, SlashReply};
use omp_types::ThinkingLevel;

use crate::ModelDirectory;

pub struct ModelCommand {
    pub models: Arc<dyn ModelDirectory>,
    /// `/switch`: chooses a model for this session only.
    pub temporary: bool,
}

impl SlashCommand for ModelCommand {
    fn name(&self) -> &str {
        if self.temporary { "switch" } else { "model" }
    }

    fn aliases(&self) -> &[&str] {
        if self.temporary { &[] } else { &["models"] }
    }

    fn description(&self) -> &str {
        match self.temporary {
            true => "Switch the model for this session only",
            false => "List the available models, or switch to one",
        }
    }

    fn arguments(&self) -> Option<&str> {
        Some("[pattern]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if arguments.is_empty() {
                let now = session.snapshot();
                let current = format!("{} (thinking {})", now.model.selector(), now.thinking.as_str());
                let listed = self.models.list_text().await;
                return Ok(SlashReply::Text(format!("now: {current}\n\n{}", listed.trim_end())));
            }
            let resolved = self.models.resolve(arguments).await?;
            let closed = |closed: omp_session::Closed| closed.to_string();
            let name = resolved.model.selector();
            session.send(Command::SetModel(resolved.model)).await.map_err(closed)?;
            let mut told = format!("the model is now {name}");
            if let Some(level) = resolved.thinking {
                session.send(Command::SetThinking(level)).await.map_err(closed)?;
                told.push_str(&format!(", thinking {}", level.as_str()));
            }
            Ok(SlashReply::Text(told))
        }
        .boxed()
    }
}

pub struct ThinkingCommand;

impl SlashCommand for ThinkingCommand {
    fn name(&self) -> &str {
        "thinking"
    }

    fn description(&self) -> &str {
        "Show or set the thinking level"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[level]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let levels: Vec<&str> = ThinkingLevel::ALL.iter().map(|level| level.as_str()).collect();
            let levels = levels.join(", ");
            if arguments.is_empty() {
                return Ok(SlashReply::Text(format!("thinking: {}\nlevels: {levels}", session.snapshot().thinking)));
            }
            let unknown =
                |_| format!("unknown level `{arguments}`\nhint: usage: /thinking [level]; the levels are {levels}");
            let level: ThinkingLevel = arguments.parse().map_err(unknown)?;
            session.send(Command::SetThinking(level)).await.map_err(|closed| closed.to_string())?;
            Ok(SlashReply::Text(format!("thinking: {level}")))
        }
        .boxed()
    }
}
