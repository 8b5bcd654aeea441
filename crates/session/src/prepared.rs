//! Prompts: messages to the model, and the limits that apply while a prompt made by a command runs.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use omp_agent::{Effect, MAX_QUEUED};
use omp_store::Custom;
use omp_types::{Content, Message, Model, ThinkingLevel, ToolCall, UserMessage, text_of};
use serde_json::{Value, json};

/// Type of the entry before a message that records what the user typed; the message has the expanded text.
pub(crate) const TYPED_ENTRY: &str = "slash_command";
/// Prompts that may wait to be delivered: the capacity of both queues plus the running one. The oldest is dropped.
const MAX_WAITING: usize = 2 * MAX_QUEUED + 1;

/// Returns a reason, in words for the model, if a call must not run.
pub type CallLimit = Arc<dyn Fn(&ToolCall) -> Option<String> + Send + Sync>;

/// Returns a reason, in words for the user, if a call with these effects must be asked about.
pub type CallQuestion = Arc<dyn Fn(&[Effect]) -> Option<String> + Send + Sync>;

/// A message to the model, with the data that a command prepared for it.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    pub content: Vec<Content>,
    /// Set if the prompt was expanded from something else that was typed.
    pub prepared: Option<Arc<Prepared>>,
}

impl Prompt {
    pub fn text(text: impl Into<String>) -> Self {
        vec![Content::text(text)].into()
    }

    /// Appends content blocks.
    pub fn with(mut self, more: impl IntoIterator<Item = Content>) -> Self {
        self.content.extend(more);
        self
    }

    /// The text that the user typed, and its attachments.
    pub fn typed(&self) -> (String, &[Content]) {
        match &self.prepared {
            Some(prepared) => (prepared.typed.clone(), self.content.get(prepared.blocks..).unwrap_or_default()),
            None => (text_of(&self.content), &self.content),
        }
    }

    pub(crate) fn message(&self) -> Arc<Message> {
        Arc::new(Message::User(UserMessage::new(self.content.clone())))
    }
}

impl From<Vec<Content>> for Prompt {
    fn from(content: Vec<Content>) -> Self {
        Self { content, prepared: None }
    }
}

/// The data of a prompt that was expanded from typed text.
#[derive(Clone)]
pub struct Prepared {
    /// What the user typed.
    pub typed: String,
    /// How many blocks of the prompt come from the expansion; the others were attached by the user.
    pub blocks: usize,
    /// The file that it was expanded from.
    pub path: String,
    /// The model that answers the prompt instead of the session's model.
    pub model: Option<(Arc<Model>, Option<ThinkingLevel>)>,
    /// Which calls may run for the prompt.
    pub limit: Option<CallLimit>,
    /// Which calls are asked about in every mode, if somebody can be asked.
    pub question: Option<CallQuestion>,
}

impl Prepared {
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

/// The typed text in an entry of a session's file.
pub(crate) fn typed_in(entry: &Value) -> Option<&str> {
    let is_it = entry["type"] == "custom" && entry["customType"] == TYPED_ENTRY;
    entry["data"]["typed"].as_str().filter(|typed| is_it && !typed.trim().is_empty())
}

/// Messages made from prepared prompts, each with its data.
#[derive(Debug, Default)]
pub(crate) struct Preparations {
    waiting: VecDeque<(Arc<Message>, Arc<Prepared>)>,
    /// Preparations delivered in the running prompt, or in the last one.
    delivered: Vec<Arc<Prepared>>,
}

impl Preparations {
    /// Creates the message of a prompt, to be delivered now or later.
    pub fn message(&mut self, prompt: &Prompt) -> Arc<Message> {
        let message = prompt.message();
        if let Some(prepared) = &prompt.prepared {
            if self.waiting.len() >= MAX_WAITING {
                self.waiting.pop_front();
            }
            self.waiting.push_back((message.clone(), prepared.clone()));
        }
        message
    }

    /// The prompt of a message that will not be delivered.
    pub fn prompt(&mut self, message: &Arc<Message>) -> Option<Prompt> {
        let prepared = self.take(message);
        match &**message {
            Message::User(user) => Some(Prompt { content: user.content.clone(), prepared }),
            _ => None,
        }
    }

    /// The data of a waiting message.
    pub fn of(&self, message: &Arc<Message>) -> Option<&Arc<Prepared>> {
        self.waiting.iter().find(|(waiting, _)| Arc::ptr_eq(waiting, message)).map(|(_, prepared)| prepared)
    }

    /// Starts a prompt. Returns the model that answers it, if that is not the session's. Without messages the last prompt
    /// is asked again, and its limits still apply.
    pub fn begin(&mut self, messages: &[Arc<Message>]) -> Option<(Arc<Model>, Option<ThinkingLevel>)> {
        if messages.is_empty() {
            return self.delivered.first().and_then(|prepared| prepared.model.clone());
        }
        self.delivered.clear();
        messages.iter().find_map(|message| self.of(message)).and_then(|prepared| prepared.model.clone())
    }

    /// A message is delivered to the model. Returns the entry to be written before it; its limits apply from now on.
    pub fn delivered(&mut self, message: &Arc<Message>) -> Option<Custom> {
        let prepared = self.take(message)?;
        let entry = prepared.entry();
        if !self.delivered.iter().any(|known| Arc::ptr_eq(known, &prepared)) {
            self.delivered.push(prepared);
        }
        Some(entry)
    }

    pub fn refusal(&self, call: &ToolCall) -> Option<String> {
        self.delivered.iter().filter_map(|prepared| prepared.limit.as_ref()).find_map(|limit| limit(call))
    }

    /// Why the user is asked about a call that would run otherwise.
    pub fn question(&self, effects: &[Effect]) -> Option<String> {
        self.delivered.iter().filter_map(|prepared| prepared.question.as_ref()).find_map(|asks| asks(effects))
    }

    fn take(&mut self, message: &Arc<Message>) -> Option<Arc<Prepared>> {
        let at = self.waiting.iter().position(|(waiting, _)| Arc::ptr_eq(waiting, message))?;
        self.waiting.remove(at).map(|(_, prepared)| prepared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str, allowed: Option<&'static str>) -> Prompt {
        let limit = allowed.map(|name| {
            Arc::new(move |call: &ToolCall| (call.name != name).then(|| format!("only {name}"))) as CallLimit
        });
        let prepared =
            Prepared { typed: format!("/{text}"), blocks: 1, path: "x.md".into(), model: None, limit, question: None };
        Prompt { prepared: Some(Arc::new(prepared)), ..Prompt::text(text) }
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
        let review = prompt("review", Some("read"));
        let message = preparations.message(&review);
        assert_eq!(refusal(&preparations, "bash"), None, "not said yet");
        // The same text, typed by the user.
        let other = preparations.message(&Prompt::text("review"));
        preparations.begin(std::slice::from_ref(&other));
        assert_eq!(typed(preparations.delivered(&other)), None);
        assert_eq!(refusal(&preparations, "bash"), None);
        // It arrives while the other prompt runs.
        assert_eq!(typed(preparations.delivered(&message)).as_deref(), Some("/review"));
        assert_eq!(refusal(&preparations, "bash").as_deref(), Some("only read"));
        assert_eq!(refusal(&preparations, "read"), None);
        // The prompt is asked again after a failure, and repeated by a loop.
        preparations.begin(&[]);
        let again = preparations.message(&review);
        assert_eq!(typed(preparations.delivered(&again)).as_deref(), Some("/review"));
        assert_eq!(refusal(&preparations, "bash").as_deref(), Some("only read"));
        assert_eq!(preparations.delivered.len(), 1);
        preparations.begin(&[Prompt::text("next").message()]);
        assert_eq!(refusal(&preparations, "bash"), None);
    }

    #[test]
    fn every_limit_counts_and_what_waits_is_bounded() {
        let mut preparations = Preparations::default();
        let mut first = None;
        for number in 0..=MAX_WAITING {
            let message = preparations.message(&prompt(&number.to_string(), Some("read")));
            first.get_or_insert(message);
        }
        assert_eq!(preparations.waiting.len(), MAX_WAITING);
        assert_eq!(typed(preparations.delivered(&first.unwrap())), None);
        for allowed in ["read", "bash"] {
            let message = preparations.message(&prompt(allowed, Some(allowed)));
            assert_eq!(typed(preparations.delivered(&message)), Some(format!("/{allowed}")));
        }
        assert!(refusal(&preparations, "read").is_some() && refusal(&preparations, "bash").is_some());
    }

    #[test]
    fn what_is_not_delivered_comes_back_with_all_that_belongs_to_it() {
        let mut preparations = Preparations::default();
        let attached = Content::text("attached");
        let message = preparations.message(&prompt("review", Some("read")).with([attached.clone()]));
        let back = preparations.prompt(&message).unwrap();
        assert_eq!(back.typed(), ("/review".to_owned(), [attached].as_slice()));
        assert!(back.prepared.is_some_and(|prepared| prepared.limit.is_some()) && preparations.waiting.is_empty());
        let plain = preparations.message(&Prompt::text("hi"));
        assert_eq!(preparations.prompt(&plain).unwrap().typed().0, "hi");
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
