//! Blocks that a provider may refuse: how each is identified, and which text replaces it.

use omp_types::{AssistantMessage, Content, Message};
use sha2::{Digest, Sha256};

/// Hex digits of the hash that identifies a block.
const HASH_DIGITS: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Image,
    Thinking,
    /// A call together with its result.
    Call,
    Text,
}

/// Identifies a block by its content, so that it is found again in a resumed session and in any other message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(String);

impl Key {
    pub fn of(block: &Content) -> Self {
        let hashed = |kind: &str, text: &str| Self(format!("{kind}:{}", hash(text)));
        match block {
            Content::Image(image) => hashed("image", &image.data),
            Content::Thinking(block) => {
                hashed("thinking", block.thinking_signature.as_ref().unwrap_or(&block.thinking))
            }
            Content::RedactedThinking(block) => hashed("thinking", &block.data),
            Content::ToolCall(call) => Self(format!("call:{}", call.id)),
            Content::Text(text) => hashed("text", &text.text),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Key {
    fn from(key: &str) -> Self {
        Self(key.to_owned())
    }
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// A block that may have caused the refusal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Suspect<'a> {
    pub kind: Kind,
    pub block: &'a Content,
    /// Index of its message.
    pub message: usize,
}

/// Every block of a conversation, the newest first.
pub(super) fn suspects<'a>(messages: &'a [impl AsRef<Message>]) -> impl Iterator<Item = Suspect<'a>> {
    messages.iter().enumerate().rev().flat_map(|(message, holder)| {
        let blocks = holder.as_ref().content().iter().rev();
        blocks.map(move |block| Suspect { kind: kind_of(block), block, message })
    })
}

fn kind_of(block: &Content) -> Kind {
    match block {
        Content::Image(_) => Kind::Image,
        Content::Thinking(_) | Content::RedactedThinking(_) => Kind::Thinking,
        Content::ToolCall(_) => Kind::Call,
        Content::Text(_) => Kind::Text,
    }
}

/// A short description of a block.
pub(super) fn described(block: &Content) -> String {
    match block {
        Content::Image(image) => format!("{} image, {} kB", image.mime_type, (image.data.len() * 3 / 4).div_ceil(1000)),
        Content::Thinking(_) | Content::RedactedThinking(_) => "thinking".to_owned(),
        Content::ToolCall(call) => format!("call of {} and its result", call.name),
        Content::Text(text) => format!("text, {} characters", text.text.chars().count()),
    }
}

/// The text that replaces a block. The same block always gives the same text, so that prompt caches stay valid.
fn stand_in(block: &Content) -> Content {
    let what = described(block);
    Content::text(format!(
        "[Left out: {what}. The provider refused it; the session file still holds it, see history://.]"
    ))
}

/// Replaces the blocks for which `is_held` is true; `None` if the message has none.
pub(super) fn without(message: &Message, is_held: impl Fn(&Content) -> bool) -> Option<Message> {
    if !message.content().iter().any(&is_held) {
        return None;
    }
    let mut message = message.clone();
    let content = match &mut message {
        Message::User(user) => &mut user.content,
        Message::Assistant(AssistantMessage { content, .. }) => content,
        Message::ToolResult(result) => &mut result.content,
        Message::Custom(custom) => &mut custom.content,
        Message::Other(_) => return None,
    };
    for block in content.iter_mut().filter(|block| is_held(block)) {
        *block = stand_in(block);
    }
    Some(message)
}
