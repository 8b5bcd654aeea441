//! `/compact`, `/shake` and `/handoff`: shorten the conversation, show what was kept, and correct the summary.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_compaction::ShakeMode;
use omp_session::{Session, SlashCommand, SlashReply};

pub struct CompactCommand;

impl SlashCommand for CompactCommand {
    fn name(&self) -> &str {
        "compact"
    }

    fn description(&self) -> &str {
        "Replace the conversation with a summary, or edit it"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[what matters | edit [new summary]]")
    }

    fn takes_long(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            match (word, rest.trim()) {
                ("edit", "") => session.summary().map(shown).ok_or_else(|| NOT_COMPACTED.to_owned()),
                ("edit", text) => {
                    let corrected = session.edit_summary(text.to_owned()).await?;
                    Ok(SlashReply::Text(corrected.told_corrected()))
                }
                _ => {
                    let instructions = Some(arguments.to_owned()).filter(|text| !text.is_empty());
                    session.compact(instructions).await.map(|compacted| SlashReply::Text(compacted.told()))
                }
            }
        }
        .boxed()
    }
}

const NOT_COMPACTED: &str = "this conversation has not been compacted, so it has no summary\nhint: /compact writes one";

fn shown(summary: String) -> SlashReply {
    SlashReply::Text(format!("{summary}\n\n`/compact edit <text>` replaces it."))
}

pub struct ShakeCommand;

impl SlashCommand for ShakeCommand {
    fn name(&self) -> &str {
        "shake"
    }

    fn description(&self) -> &str {
        "Shorten old tool results, or drop images, without a model"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[elide|images]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (mode, what) = match arguments {
                "" | "elide" => (ShakeMode::Elide, "Old tool results and thinking"),
                "images" => (ShakeMode::Images, "Images"),
                other => return Err(format!("unknown argument `{other}`\nhint: usage: /shake [elide|images]")),
            };
            let saved = session.shake(mode).await?;
            Ok(SlashReply::Text(format!("{what} left out: about {saved} tokens fewer.")))
        }
        .boxed()
    }
}

pub struct HandoffCommand;

impl SlashCommand for HandoffCommand {
    fn name(&self) -> &str {
        "handoff"
    }

    fn description(&self) -> &str {
        "Start over with a document that describes the work so far"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[what matters]")
    }

    fn takes_long(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let focus = Some(arguments.to_owned()).filter(|text| !text.is_empty());
            session.handoff(focus).await?;
            Ok(SlashReply::Text("Handed off: the conversation starts over with the document above.".to_owned()))
        }
        .boxed()
    }
}
