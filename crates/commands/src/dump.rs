//! `/dump`: returns the conversation as plain text, with everything that was sent to the model.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_export::{Dump, dump_text};
use omp_session::{Session, SlashCommand, SlashReply};
use omp_types::{Message, Secrets};

pub struct DumpCommand {
    pub secrets: Secrets,
}

/// Returns the conversation for the clipboard.
pub fn dumped(session: &Session, secrets: &Secrets) -> SlashReply {
    let snapshot = session.snapshot();
    let about = Dump {
        system_prompt: &session.system_prompt(),
        model: &snapshot.model.selector(),
        thinking: snapshot.thinking.as_str(),
        tools: &session.tools(),
    };
    let messages = session.messages();
    match dump_text(&about, messages.iter().map(|message| -> &Message { message })) {
        Some(text) => SlashReply::Copy(secrets.redact(&text).into_owned()),
        None => SlashReply::Text("No messages to dump yet.".to_owned()),
    }
}

impl SlashCommand for DumpCommand {
    fn name(&self) -> &str {
        "dump"
    }

    fn description(&self) -> &str {
        "Copy or print the conversation as plain text"
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move { Ok(dumped(session, &self.secrets)) }.boxed()
    }
}
