//! `/model`: shows and sets the model, and lists the available ones.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Command, Session, SlashCommand, SlashReply};

use crate::ModelDirectory;

pub struct ModelCommand {
    pub models: Arc<dyn ModelDirectory>,
}

impl SlashCommand for ModelCommand {
    fn name(&self) -> &str {
        "model"
    }

    fn aliases(&self) -> &[&str] {
        &["models"]
    }

    fn description(&self) -> &str {
        "List the available models, or switch to one"
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
