//! Compares the requests of a session by a fingerprint for each message, which is computed once.
//!
//! A request is compared with the last one of the same model, part by part and message by message. Fingerprints of
//! identical messages are reused from the previous request, so only new messages have to be hashed. Messages are held by
//! weak references, so that an abandoned conversation is not kept in memory.

use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use omp_types::{
    Api, CacheRetention, Message, Model, ThinkingLevel, ToolSpec, estimate_message_tokens, estimate_tokens,
};
use serde::Serialize;

use super::cause::BreakCause;
use super::estimate::{Estimate, scale};

/// A provider's count outside this range of the estimate is not used as a correction.
const FACTORS: std::ops::RangeInclusive<f64> = 0.25..=4.0;

/// The parts of a request apart from the conversation.
#[derive(Clone)]
pub struct RequestParts {
    pub model: Arc<Model>,
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    pub thinking: ThinkingLevel,
    pub cache: CacheRetention,
    /// Whether the answer is forced to call a tool.
    pub forced: bool,
}

/// The last request sent to one model.
pub(super) struct Sent {
    pub model: Arc<Model>,
    tools: Print,
    system: Print,
    thinking: ThinkingLevel,
    forced: bool,
    messages: Vec<MessagePrint>,
    at: Instant,
    /// Why the next request will not extend this one, if announced.
    pub noted: Option<BreakCause>,
    /// Prompt tokens counted by the provider; 0 if it did not.
    pub counted: u64,
    /// Whether the provider has ever reported cache usage.
    pub caches: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Print {
    hash: u64,
    tokens: u64,
}

#[derive(Clone)]
struct MessagePrint {
    /// Keeps the address from being reused without keeping the message alive.
    message: Weak<Message>,
    print: Print,
}

/// The fingerprints of the parts that rarely change.
#[derive(Default)]
pub(super) struct Fixed {
    system: Option<(Arc<str>, Print)>,
    tools: Option<(Arc<[ToolSpec]>, Print)>,
}

/// The common prefix of a request and the last one of its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    /// Tokens that should still be in the provider's cache, in its own count.
    pub cached: u64,
    /// Tokens that could have been cached if the prefix had not changed.
    pub possible: u64,
    pub cause: Option<BreakCause>,
}

impl Fixed {
    fn system(&mut self, text: &Arc<str>) -> Print {
        match &self.system {
            Some((known, print)) if Arc::ptr_eq(known, text) => *print,
            _ => {
                let print = Print { hash: hashed(&**text), tokens: estimate_tokens(text) };
                self.system.insert((text.clone(), print)).1
            }
        }
    }

    fn tools(&mut self, specs: &Arc<[ToolSpec]>) -> Print {
        match &self.tools {
            Some((known, print)) if Arc::ptr_eq(known, specs) => *print,
            _ => {
                let tokens = |spec: &ToolSpec| {
                    estimate_tokens(&spec.name)
                        + estimate_tokens(&spec.description)
                        + estimate_tokens(&spec.parameters.to_string())
                };
                let print = Print { hash: hashed(&**specs), tokens: specs.iter().map(tokens).sum() };
                self.tools.insert((specs.clone(), print)).1
            }
        }
    }
}

impl Sent {
    /// `newest` is the previous request of any model, from which most fingerprints are reused.
    pub fn new(
        fixed: &mut Fixed,
        asked: &RequestParts,
        messages: &[Arc<Message>],
        newest: Option<&Sent>,
        now: Instant,
    ) -> (Self, Estimate) {
        let (tools, system) = (fixed.tools(&asked.tools), fixed.system(&asked.system));
        let mut estimate = Estimate { system: system.tokens, tools: tools.tokens, ..Estimate::default() };
        let known = newest.map(|sent| sent.messages.as_slice()).unwrap_or_default();
        let mut prints = Vec::with_capacity(messages.len());
        for (at, message) in messages.iter().enumerate() {
            let same = known.get(at).filter(|known| std::ptr::eq(known.message.as_ptr(), Arc::as_ptr(message)));
            let print = same.cloned().unwrap_or_else(|| MessagePrint::of(message));
            estimate.add(message, print.print.tokens);
            prints.push(print);
        }
        let sent = Self {
            model: asked.model.clone(),
            tools,
            system,
            thinking: asked.thinking,
            forced: asked.forced,
            messages: prints,
            at: now,
            noted: None,
            counted: 0,
            caches: false,
        };
        (sent, estimate)
    }

    pub fn is_of(&self, model: &Model) -> bool {
        self.model.provider == model.provider && self.model.id == model.id
    }

    /// The provider's tokens per estimated token.
    pub fn factor(&self) -> f64 {
        let estimated = self.estimated();
        let factor = self.counted as f64 / estimated.max(1) as f64;
        if self.counted == 0 || !FACTORS.contains(&factor) { 1.0 } else { factor }
    }

    fn estimated(&self) -> u64 {
        self.tools.tokens + self.system.tokens + self.messages.iter().map(|it| it.print.tokens).sum::<u64>()
    }

    /// The size of the request in the provider's own tokens.
    fn size(&self) -> u64 {
        if self.counted > 0 { self.counted } else { self.estimated() }
    }

    /// Compares a later request of the same model with this one.
    pub fn shared_with(&self, later: &Sent, messages: &[Arc<Message>], cache: CacheRetention) -> Shared {
        let possible = self.size();
        let part = |tokens: u64| scale(tokens, self.factor());
        let broken = |cached: u64, cause: BreakCause| Shared { cached, possible, cause: Some(cause) };
        if self.tools.hash != later.tools.hash {
            return broken(0, BreakCause::ToolSet);
        }
        if self.system.hash != later.system.hash {
            return broken(0, BreakCause::SystemPrompt);
        }
        if later.at.saturating_duration_since(self.at) > lifetime(&self.model.api, cache) {
            return broken(0, BreakCause::Expired);
        }
        let before_messages = part(self.tools.tokens + self.system.tokens);
        if splits_by_thinking(&self.model.api) && self.thinking != later.thinking {
            return broken(before_messages, BreakCause::Thinking);
        }
        if splits_by_thinking(&self.model.api) && self.forced != later.forced {
            return broken(before_messages, BreakCause::ForcedTool);
        }
        let same = |(old, new): &(&MessagePrint, &MessagePrint)| old.print.hash == new.print.hash;
        let common = self.messages.iter().zip(&later.messages).take_while(same).count();
        if common == self.messages.len() {
            return Shared { cached: possible, possible, cause: None };
        }
        let kept: u64 = self.messages[..common].iter().map(|it| it.print.tokens).sum();
        let cause = self.noted.or_else(|| told_by(messages.get(common)?)).unwrap_or(BreakCause::Unknown);
        broken(before_messages + part(kept), cause)
    }
}

impl MessagePrint {
    fn of(message: &Arc<Message>) -> Self {
        let print = Print { hash: hashed(&Written::of(message)), tokens: estimate_message_tokens(message) };
        Self { message: Arc::downgrade(message), print }
    }
}

/// The part of a message that is sent to the provider.
#[derive(Serialize)]
struct Written<'a> {
    role: &'a str,
    call: Option<&'a str>,
    is_error: bool,
    content: &'a [omp_types::Content],
}

impl<'a> Written<'a> {
    fn of(message: &'a Message) -> Self {
        let (call, is_error) = match message {
            Message::ToolResult(result) => (Some(result.tool_call_id.as_str()), result.is_error),
            _ => (None, false),
        };
        Self { role: message.role(), call, is_error, content: message.content() }
    }
}

/// The cause that a message itself shows.
fn told_by(message: &Arc<Message>) -> Option<BreakCause> {
    match &**message {
        Message::Custom(custom) => match custom.custom_type.as_str() {
            "compactionSummary" => Some(BreakCause::Compaction),
            "branchSummary" => Some(BreakCause::Moved),
            "rewind-report" => Some(BreakCause::Rewind),
            _ => None,
        },
        _ => None,
    }
}

/// How long the provider caches a prompt after its last use.
pub(crate) fn lifetime(api: &Api, cache: CacheRetention) -> Duration {
    const MINUTE: u64 = 60;
    Duration::from_secs(match (api, cache) {
        (Api::AnthropicMessages, CacheRetention::Long) => 60 * MINUTE,
        (Api::OpenaiResponses | Api::OpenaiCompletions, CacheRetention::Long) => 24 * 60 * MINUTE,
        (Api::OpenaiResponses | Api::OpenaiCompletions, CacheRetention::Short) => 10 * MINUTE,
        _ => 5 * MINUTE,
    })
}

/// Whether the provider caches separately by thinking setting and forced tool.
fn splits_by_thinking(api: &Api) -> bool {
    matches!(api, Api::AnthropicMessages)
}

/// Hash of the serialized value, without storing its text.
fn hashed(value: &(impl Serialize + ?Sized)) -> u64 {
    struct Into(DefaultHasher);
    impl io::Write for Into {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut into = Into(DefaultHasher::new());
    // Neither the hasher nor our types can fail; a partial write would only change the hash.
    let _ = serde_json::to_writer(&mut into, value);
    into.0.finish()
}
