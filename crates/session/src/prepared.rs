//! Prompts that a command has made of what was typed: what the user wrote, and what holds while they are worked on.
//!
//! A front end is given the text of a prompt and sends it like any other, now or later. What belongs to it waits here and
//! is found again by that text.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use omp_store::Custom;
use omp_types::{Content, Message, Model, ThinkingLevel, ToolCall};
use serde_json::{Value, json};

/// The entry before a message that tells what was typed; the message is what became of it.
pub(crate) const TYPED_ENTRY: &str = "slash_command";
/// Prompts that may wait to be said; the oldest gives way.
const MAX_WAITING: usize = 64;

/// Why a call must not run, in words for the model.
pub type CallLimit = Arc<dyn Fn(&ToolCall) -> Option<String> + Send + Sync>;

/// A prompt that stands for what was typed.
#[derive(Clone)]
pub struct Prepared {
    /// As it is sent: one block of the message.
    pub text: String,
    /// As the user wrote it.
    pub typed: String,
    /// The file it was made of.
    pub path: String,
    /// Who answers it, in place of the session's model.
    pub model: Option<(Arc<Model>, Option<ThinkingLevel>)>,
    /// Which calls may run for it.
    pub limit: Option<CallLimit>,
}

impl Prepared {
    fn is_in(&self, message: &Message) -> bool {
        let Message::User(user) = message else { return false };
        user.content.iter().filter_map(Content::as_text).any(|text| text == self.text)
    }

    fn entry(&self) -> Custom {
        let data = json!({"typed": self.typed, "path": self.path});
        Custom { custom_type: TYPED_ENTRY.to_owned(), data: Some(data) }
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Prepared").field("typed", &self.typed).finish_non_exhaustive()
    }
}

/// What was typed, as an entry of a session's file tells it.
pub(crate) fn typed_in(entry: &Value) -> Option<&str> {
    let is_it = entry["type"] == "custom" && entry["customType"] == TYPED_ENTRY;
    entry["data"]["typed"].as_str().filter(|typed| is_it && !typed.trim().is_empty())
}

#[derive(Debug, Default)]
pub(crate) struct Preparations {
    waiting: VecDeque<Prepared>,
    /// Those that were said in the running prompt, or in the last one.
    said: Vec<Prepared>,
}

impl Preparations {
    pub fn add(&mut self, prepared: Prepared) {
        self.waiting.retain(|known| known.text != prepared.text);
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(prepared);
    }

    /// A prompt begins: who answers it, where that is not the session's model. Nothing said means that the last one is
    /// asked again, and what held for it holds.
    pub fn begin(&mut self, messages: &[Arc<Message>]) -> Option<(Arc<Model>, Option<ThinkingLevel>)> {
        if messages.is_empty() {
            return self.said.first().and_then(|prepared| prepared.model.clone());
        }
        self.said.clear();
        let first = self.waiting.iter().find(|prepared| messages.iter().any(|message| prepared.is_in(message)))?;
        first.model.clone()
    }

    /// A message is told to the model: what is to be written before it. Its limits count from now on.
    pub fn delivered(&mut self, message: &Message) -> Option<Custom> {
        if let Some(again) = self.said.iter().find(|prepared| prepared.is_in(message)) {
            return Some(again.entry());
        }
        let at = self.waiting.iter().position(|prepared| prepared.is_in(message))?;
        let prepared = self.waiting.remove(at)?;
        let entry = prepared.entry();
        self.said.push(prepared);
        Some(entry)
    }

    pub fn refusal(&self, call: &ToolCall) -> Option<String> {
        self.said.iter().filter_map(|prepared| prepared.limit.as_ref()).find_map(|limit| limit(call))
    }
}

#[cfg(test)]
mod tests {
    use omp_types::UserMessage;

    use super::*;

    fn prepared(text: &str, allowed: Option<&'static str>) -> Prepared {
        let limit = allowed.map(|name| {
            Arc::new(move |call: &ToolCall| (call.name != name).then(|| format!("only {name}"))) as CallLimit
        });
        Prepared { text: text.into(), typed: format!("/{text}"), path: "x.md".into(), model: None, limit }
    }

    fn said(text: &str) -> Arc<Message> {
        Arc::new(Message::User(UserMessage::new(vec![Content::text("attached"), Content::text(text)])))
    }

    fn refusal(preparations: &Preparations, tool: &str) -> Option<String> {
        preparations.refusal(&ToolCall { name: tool.into(), ..ToolCall::default() })
    }

    fn typed(entry: Option<Custom>) -> Option<String> {
        let entry = entry?;
        let line = json!({"type": "custom", "customType": entry.custom_type, "data": entry.data});
        typed_in(&line).map(str::to_owned)
    }

    #[test]
    fn a_limit_holds_from_the_delivery_to_the_next_prompt() {
        let mut preparations = Preparations::default();
        preparations.add(prepared("review", Some("read")));
        assert_eq!(refusal(&preparations, "bash"), None, "not said yet");
        preparations.begin(&[said("something else")]);
        assert_eq!(typed(preparations.delivered(&said("something else"))), None);
        assert_eq!(refusal(&preparations, "bash"), None);
        // It comes while the other one is worked on.
        assert_eq!(typed(preparations.delivered(&said("review"))).as_deref(), Some("/review"));
        assert_eq!(refusal(&preparations, "bash").as_deref(), Some("only read"));
        assert_eq!(refusal(&preparations, "read"), None);
        // Asked again after a failure, and said again by a loop.
        preparations.begin(&[]);
        assert_eq!(typed(preparations.delivered(&said("review"))).as_deref(), Some("/review"));
        assert_eq!(refusal(&preparations, "bash").as_deref(), Some("only read"));
        preparations.begin(&[said("next")]);
        assert_eq!(refusal(&preparations, "bash"), None);
    }

    #[test]
    fn every_limit_counts_and_what_waits_is_bounded() {
        let mut preparations = Preparations::default();
        for number in 0..MAX_WAITING + 1 {
            preparations.add(prepared(&number.to_string(), Some("read")));
        }
        preparations.add(prepared("1", None));
        preparations.add(prepared("last", Some("bash")));
        assert_eq!(preparations.waiting.len(), MAX_WAITING);
        preparations.begin(&[said("3")]);
        for (text, expect) in [("0", None), ("3", Some("/3")), ("last", Some("/last"))] {
            assert_eq!(typed(preparations.delivered(&said(text))).as_deref(), expect);
        }
        assert!(refusal(&preparations, "read").is_some() && refusal(&preparations, "bash").is_some());
    }

    #[test]
    fn only_entries_that_tell_what_was_typed_do() {
        let entry = |kind: &str, custom: &str, data: Value| json!({"type": kind, "customType": custom, "data": data});
        let typed = json!({"typed": "/x"});
        assert_eq!(typed_in(&entry("custom", TYPED_ENTRY, typed.clone())), Some("/x"));
        for other in [
            entry("message", TYPED_ENTRY, typed.clone()),
            entry("custom", "other", typed),
            entry("custom", TYPED_ENTRY, json!({"typed": " "})),
            entry("custom", TYPED_ENTRY, json!(3)),
        ] {
            assert_eq!(typed_in(&other), None, "{other}");
        }
    }
}
