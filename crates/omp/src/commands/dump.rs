//! `/dump`: the conversation as plain text, with everything that the model was told.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_export::{Dump, dump_text};
use omp_session::{Session, SlashCommand, SlashReply};
use omp_types::{Message, Secrets};

pub struct DumpCommand {
    pub secrets: Secrets,
}

impl SlashCommand for DumpCommand {
    fn name(&self) -> &str {
        "dump"
    }

    fn description(&self) -> &str {
        "Show the whole conversation as plain text"
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let snapshot = session.snapshot();
            let about = Dump {
                system_prompt: &session.system_prompt(),
                model: &snapshot.model.selector(),
                thinking: snapshot.thinking.as_str(),
                tools: &session.tools(),
            };
            let messages = session.messages();
            let text = dump_text(&about, messages.iter().map(|message| -> &Message { message }));
            let text = text.unwrap_or_else(|| "No messages to dump yet.".to_owned());
            Ok(SlashReply::Text(self.secrets.redact(&text).into_owned()))
        }
        .boxed()
    }
}
