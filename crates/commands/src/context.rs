//! `/context`: shows the tokens of each part of the next request.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};

pub struct ContextCommand;

impl SlashCommand for ContextCommand {
    fn name(&self) -> &str {
        "context"
    }

    fn description(&self) -> &str {
        "Show how many tokens each part of the context uses"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[json]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let report = session.context().await;
            let text = match arguments {
                "" => report.table(),
                "json" => serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?,
                other => return Err(format!("unknown argument `{other}`\nhint: usage: /context [json]")),
            };
            Ok(SlashReply::Text(text))
        }
        .boxed()
    }
}
