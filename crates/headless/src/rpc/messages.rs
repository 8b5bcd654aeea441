//! `get_messages`, `get_messages_page`, `get_last_assistant_text`: returns the conversation.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use omp_types::Message;
use omp_wire::{MessagesPageReply, MessagesPageRequest, MessagesReply, TextReply};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::current::Current;
use super::frame::{Outcome, Refusal, data};
use super::input::Request;

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 256;
const MAX_PAGE_BYTES: usize = 768 << 10;
const MAX_CURSOR: usize = 2048;

pub fn get_messages(current: &Current) -> Outcome {
    data(&MessagesReply { messages: current.session.messages().into() })
}

pub fn get_last_assistant_text(current: &Current) -> Outcome {
    let messages = current.session.messages();
    let texts = messages.iter().rev().filter_map(|message| message.as_assistant());
    let text = texts.map(|answer| answer.text().trim().to_owned()).find(|text| !text.is_empty());
    data(&TextReply { text })
}

/// The start of the next page, and its conversation. Opaque to clients.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cursor {
    version: u32,
    session_id: String,
    /// How often the session had moved in its tree.
    moves: u64,
    message_count: usize,
    offset: usize,
}

pub fn get_messages_page(current: &Current, request: &Request) -> Outcome {
    let wanted: MessagesPageRequest = request.fields()?;
    if current.activity.works() {
        return Err(coded("Cannot page messages while the session is changing", "session_busy"));
    }
    let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT as f64);
    if limit.fract() != 0.0 || !(1.0..=MAX_LIMIT as f64).contains(&limit) {
        return Err(format!("RPC message page limit must be between 1 and {MAX_LIMIT}").into());
    }
    let messages = current.session.messages();
    let start = Cursor {
        version: 1,
        session_id: current.session.snapshot().session_id.clone(),
        moves: current.activity.moves(),
        message_count: messages.len(),
        offset: 0,
    };
    let offset = match wanted.cursor {
        None => 0,
        Some(text) => {
            let cursor = Cursor::decode(&text).ok_or("Invalid RPC message cursor")?;
            let offset = cursor.offset;
            if (Cursor { offset: 0, ..cursor }) != start {
                return Err(coded("RPC message cursor is stale", "stale_cursor"));
            }
            offset
        }
    };
    let page = page(messages.iter().skip(offset).map(|message| &**message), limit as usize)?;
    let next = offset + page.len();
    let next_cursor = (next < messages.len()).then(|| Cursor { offset: next, ..start }.encode());
    data(&MessagesPageReply { messages: page, next_cursor, total_messages: messages.len() })
}

/// Returns as many messages as fit, at least one.
fn page<'a>(messages: impl Iterator<Item = &'a Message>, limit: usize) -> Result<Vec<Box<RawValue>>, Refusal> {
    let mut page: Vec<Box<RawValue>> = Vec::new();
    let mut bytes = 2;
    for message in messages.take(limit) {
        let raw = to_raw_value(message).map_err(|error| error.to_string())?;
        bytes += raw.get().len() + 1;
        if bytes > MAX_PAGE_BYTES && !page.is_empty() {
            break;
        }
        page.push(raw);
    }
    Ok(page)
}

fn coded(error: &str, code: &'static str) -> Refusal {
    Refusal { error: error.to_owned(), code: Some(code) }
}

impl Cursor {
    fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_string(self).unwrap_or_default())
    }

    fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok().filter(|_| text.len() <= MAX_CURSOR)?;
        let cursor: Cursor = serde_json::from_slice(&bytes).ok()?;
        (cursor.version == 1 && cursor.offset <= cursor.message_count).then_some(cursor)
    }
}
