//! `/retry`, `/copy` and `/queue`: repeat or copy messages, and show the queued ones.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply, conversation};
use omp_types::{AssistantMessage, Message, text_of};

pub struct RetryCommand;

impl SlashCommand for RetryCommand {
    fn name(&self) -> &str {
        "retry"
    }

    fn description(&self) -> &str {
        "Retry after a failure or an abort"
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            match session.can_retry() {
                true => Ok(SlashReply::Retry),
                false => Err("nothing to retry: the last message was answered".to_owned()),
            }
        }
        .boxed()
    }
}

pub struct CopyCommand;

impl SlashCommand for CopyCommand {
    fn name(&self) -> &str {
        "copy"
    }

    fn description(&self) -> &str {
        "Copy the last answer, its code or command, or all"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[last|code|cmd|all]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let messages = session.messages();
            let answers = messages.iter().rev().filter_map(|message| message.as_assistant());
            let last = answers.map(AssistantMessage::text).find(|text| !text.trim().is_empty());
            let found = match arguments {
                "" | "last" => last,
                "code" => last.as_deref().and_then(last_code_block),
                "cmd" => session.last_command(),
                "all" => conversation(messages.iter().map(|message| &**message)),
                other => return Err(format!("unknown argument `{other}`\nhint: usage: /copy [last|code|cmd|all]")),
            };
            found.map(SlashReply::Text).ok_or_else(|| "nothing to copy yet".to_owned())
        }
        .boxed()
    }
}

/// Returns the text between the last two fences.
fn last_code_block(text: &str) -> Option<String> {
    let mut last = None;
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let ticks = &trimmed[..trimmed.len() - trimmed.trim_start_matches('`').len()];
        open = match open {
            Some((fence, lines)) if ticks.len() >= fence.len() && trimmed.trim_end() == ticks => {
                last = Some(lines.join("\n"));
                None
            }
            Some((fence, mut lines)) => {
                lines.push(line);
                Some((fence, lines))
            }
            None => (ticks.len() >= 3).then(|| (ticks, Vec::new())),
        };
    }
    last
}

pub struct QueueCommand;

impl SlashCommand for QueueCommand {
    fn name(&self) -> &str {
        "queue"
    }

    fn description(&self) -> &str {
        "List the queued messages"
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (steering, follow_ups) = session.queued();
            let lines = |kind: &str, messages: &[std::sync::Arc<Message>]| {
                let texts = messages.iter().filter_map(|message| match &**message {
                    Message::User(user) => Some(text_of(&user.content)),
                    _ => None,
                });
                texts.map(|text| format!("{kind}: {}", text.lines().next().unwrap_or_default())).collect::<Vec<_>>()
            };
            let all = [lines("steering", &steering), lines("follow-up", &follow_ups)].concat();
            Ok(SlashReply::Text(if all.is_empty() { "no queued messages".to_owned() } else { all.join("\n") }))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_code_block_is_found() {
        for (text, expect) in [
            ("no code", None),
            ("```rust\nfn a() {}\n```\nand\n```\nb\n\nc\n```\n", Some("b\n\nc")),
            ("````md\n```\ninner\n```\n````", Some("```\ninner\n```")),
            ("```\nnever closed", None),
        ] {
            assert_eq!(last_code_block(text).as_deref(), expect, "{text:?}");
        }
    }
}
