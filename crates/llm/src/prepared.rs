//! Normalizes every request before its wire API encodes it.
//!
//! Call IDs are made unique: servers restart numbering in every answer, and after a switch to another model the IDs may
//! collide. Images are converted to a format and size that the server accepts: old session files, tool results and client
//! messages may hold any. Both depend only on the preceding messages, so each request is still a prefix of the next.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use omp_pictures::{PictureFormat, fit_encoded, is_fit};
use omp_types::{Api, Content, ImageContent, InputKind, Message, Model, Request, ToolCall, UserMessage};

use crate::wire::is_local;

/// Limits on the number and bytes of converted images that are cached for the next request.
const MAX_KEPT: usize = 32;
const MAX_KEPT_BYTES: usize = 64 << 20;

/// Prepares requests and caches expensive results.
#[derive(Clone, Default)]
pub(crate) struct Preparation {
    fitted: Arc<Mutex<VecDeque<Fitted>>>,
}

struct Fitted {
    key: u64,
    /// `None` for an image that can be sent unchanged; otherwise the converted image, or a text in place of one that cannot
    /// be sent.
    content: Option<Content>,
}

impl Preparation {
    pub fn of<'a>(&self, request: &'a Request) -> Cow<'a, Request> {
        let messages = with_unique_calls(&request.messages);
        let known = messages.as_ref().unwrap_or(&request.messages);
        let fitted = self.with_fit_pictures(known, &request.model);
        let mut changed = fitted.or(messages);
        if begins_with_an_answer(&request.messages) {
            let start = Arc::new(Message::User(UserMessage { timestamp: 0, ..UserMessage::text(NO_BEGINNING) }));
            changed.get_or_insert_with(|| request.messages.clone()).insert(0, start);
        }
        match changed {
            Some(messages) => Cow::Owned(Request { messages, ..request.clone() }),
            None => Cow::Borrowed(request),
        }
    }

    /// Returns `None` if nothing had to change.
    fn with_fit_pictures(&self, messages: &[Arc<Message>], model: &Model) -> Option<Vec<Arc<Message>>> {
        // Models without image input get a line of text instead.
        if !model.accepts(InputKind::Image) {
            return None;
        }
        let mut changed: Option<Vec<Arc<Message>>> = None;
        for (position, message) in messages.iter().enumerate() {
            let Some(content) = content_of(message) else { continue };
            let replaced: Vec<Option<Content>> = content.iter().map(|block| self.instead_of(block, model)).collect();
            if replaced.iter().all(Option::is_none) {
                continue;
            }
            let new = content.iter().zip(replaced).map(|(block, new)| new.unwrap_or_else(|| block.clone())).collect();
            let mut message = (**message).clone();
            match &mut message {
                Message::User(user) => user.content = new,
                Message::ToolResult(result) => result.content = new,
                Message::Custom(custom) => custom.content = new,
                Message::Assistant(_) | Message::Other(_) => {}
            }
            changed.get_or_insert_with(|| messages.to_vec())[position] = Arc::new(message);
        }
        changed
    }

    /// Returns the replacement for an image that cannot be sent as it is.
    fn instead_of(&self, block: &Content, model: &Model) -> Option<Content> {
        let Content::Image(image) = block else { return None };
        let takes = |kind: PictureFormat| takes(model, kind);
        // An image in a blob that could not be loaded is reported by the wire API.
        if image.data.starts_with("blob:") || is_fit(&image.data, &image.mime_type, takes) == Some(true) {
            return None;
        }
        let key = key_of(image, model);
        if let Some(known) = self.lock().iter().find(|fitted| fitted.key == key) {
            return known.content.clone();
        }
        let content = match fit_encoded(&image.data, takes) {
            Ok(fit) if fit.data == image.data && fit.mime_type == image.mime_type => None,
            Ok(fit) => Some(Content::Image(ImageContent { data: fit.data, mime_type: fit.mime_type.to_owned() })),
            Err(why) => Some(Content::text(format!("[An image was left out because {why}.]"))),
        };
        self.keep(Fitted { key, content: content.clone() });
        content
    }

    fn keep(&self, fitted: Fitted) {
        let mut kept = self.lock();
        kept.push_back(fitted);
        while kept.len() > MAX_KEPT || kept.iter().map(Fitted::size).sum::<usize>() > MAX_KEPT_BYTES {
            kept.pop_front();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Fitted>> {
        self.fitted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fitted {
    fn size(&self) -> usize {
        match &self.content {
            Some(Content::Image(image)) => image.data.len(),
            _ => 0,
        }
    }
}

/// No vendor accepts a conversation that starts with an assistant message; a damaged file may contain one.
const NO_BEGINNING: &str = "[The beginning of this conversation is missing.]";

fn begins_with_an_answer(messages: &[Arc<Message>]) -> bool {
    let first = messages.iter().find(|message| !matches!(***message, Message::Other(_)));
    first.is_some_and(|message| message.as_assistant().is_some())
}

fn key_of(image: &ImageContent, model: &Model) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&image.data, &image.mime_type, model.api.as_str(), is_local(model)).hash(&mut hasher);
    hasher.finish()
}

/// Returns whether a server accepts an image format. Anthropic accepts animations and uses their first frame, OpenAI refuses
/// them, Gemini does not support GIF, and the decoders of local servers support neither GIF nor WebP reliably.
fn takes(model: &Model, kind: PictureFormat) -> bool {
    match kind {
        PictureFormat::Png | PictureFormat::Jpeg => true,
        PictureFormat::WebP => !is_local(model),
        PictureFormat::Gif => model.api == Api::AnthropicMessages,
        PictureFormat::Bmp => false,
    }
}

fn content_of(message: &Message) -> Option<&[Content]> {
    match message {
        Message::User(user) => Some(&user.content),
        Message::ToolResult(result) => Some(&result.content),
        Message::Custom(custom) => Some(&custom.content),
        Message::Assistant(_) | Message::Other(_) => None,
    }
}

/// Gives every call whose ID was used before a new ID, and its result too. Returns `None` if all IDs are unique.
fn with_unique_calls(messages: &[Arc<Message>]) -> Option<Vec<Arc<Message>>> {
    let mut taken: HashSet<String> = HashSet::new();
    // Old and new IDs of the previous answer's calls, in call order.
    let mut renamed: Vec<(String, String)> = Vec::new();
    let mut changed: Option<Vec<Arc<Message>>> = None;
    for (position, message) in messages.iter().enumerate() {
        let new = match &**message {
            Message::Assistant(answer) => {
                renamed.clear();
                let mut answer = Cow::Borrowed(answer);
                for at in 0..answer.content.len() {
                    let Some(call) = answer.content[at].as_tool_call() else { continue };
                    let id = unique(call, &mut taken);
                    renamed.push((call.id.clone(), id.clone().unwrap_or_else(|| call.id.clone())));
                    if let Some(id) = id
                        && let Content::ToolCall(call) = &mut answer.to_mut().content[at]
                    {
                        call.id = id;
                    }
                }
                match answer {
                    Cow::Owned(answer) => Message::Assistant(answer),
                    Cow::Borrowed(_) => continue,
                }
            }
            Message::ToolResult(result) => {
                // Results are in the order of their calls, so the first pending call with this ID is the right one.
                let Some(found) = renamed.iter().position(|(old, _)| *old == result.tool_call_id) else { continue };
                let (old, new) = renamed.remove(found);
                if old == new {
                    continue;
                }
                let mut result = result.clone();
                result.tool_call_id = new;
                Message::ToolResult(result)
            }
            _ => continue,
        };
        changed.get_or_insert_with(|| messages.to_vec())[position] = Arc::new(new);
    }
    changed
}

/// Returns a new ID for a call whose ID is taken. Of the two IDs in the Responses API only the first is kept; the other
/// names an item on the server and must not be shared by two calls.
fn unique(call: &ToolCall, taken: &mut HashSet<String>) -> Option<String> {
    let base = call.id.split('|').next().unwrap_or_default();
    if taken.insert(base.to_owned()) {
        return None;
    }
    let free = (2..).map(|number| format!("{base}_{number}")).find(|id| !taken.contains(id))?;
    taken.insert(free.clone());
    Some(free)
}

#[cfg(test)]
mod tests;
