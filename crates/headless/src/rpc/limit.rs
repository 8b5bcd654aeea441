//! Limits the length of lines: version 2 of the protocol sends long frames in chunks, version 1 shortens them.

use base64::Engine;
use omp_wire::{ChunkFrame, MAX_FRAME, MAX_REASSEMBLED};
use serde::Serialize;
use serde_json::{Map, Value, json};

const CHUNK: usize = 256 << 10;
/// The limits for texts, lists and objects in each round, until the frame fits.
const ROUNDS: [(usize, usize, usize); 7] = [
    (256 << 10, 512, 512),
    (64 << 10, 256, 256),
    (16 << 10, 128, 128),
    (4 << 10, 64, 64),
    (1 << 10, 32, 32),
    (256, 8, 16),
    (64, 1, 8),
];
/// Caps the length of an id or a name.
const MAX_NAME: usize = 1024;

/// Encodes frames as lines.
#[derive(Default)]
pub struct Encoder {
    chunks: bool,
    sent: u64,
}

impl Encoder {
    pub fn use_chunks(&mut self) {
        self.chunks = true;
    }

    /// Whether a frame reaches the client in full.
    pub fn keeps(&self, json: &[u8]) -> bool {
        Self::fits(json) || (self.chunks && json.len() <= MAX_REASSEMBLED)
    }

    pub fn fits(json: &[u8]) -> bool {
        json.len() < MAX_FRAME
    }

    pub fn lines(&mut self, mut json: Vec<u8>) -> Vec<u8> {
        if Self::fits(&json) {
            json.push(b'\n');
            return json;
        }
        if self.chunks && json.len() <= MAX_REASSEMBLED {
            self.sent += 1;
            return chunked(&json, self.sent);
        }
        // The frame was just encoded, so it is valid JSON.
        let frame = serde_json::from_slice(&json).unwrap_or_default();
        drop(json);
        if self.chunks { encoded(&overflow(&frame)) } else { shortened(&frame) }
    }
}

fn chunked(json: &[u8], number: u64) -> Vec<u8> {
    let id = format!("rpc-{number}");
    let pieces = json.chunks(CHUNK);
    let count = pieces.len();
    let mut lines = Vec::with_capacity(json.len() / 3 * 4 + count * 128);
    for (index, piece) in pieces.enumerate() {
        let data = base64::engine::general_purpose::STANDARD.encode(piece);
        let chunk_id = id.as_str().into();
        let frame = ChunkFrame { chunk_id, index, count, byte_length: json.len(), data: data.into() };
        lines.extend(encoded(&frame));
    }
    lines
}

/// A truncated response would be taken for a complete one, so it becomes an error; events are shortened.
fn shortened(frame: &Value) -> Vec<u8> {
    if frame["type"] != "response" {
        for round in ROUNDS {
            let line = encoded(&shrink(frame, round));
            if line.len() <= MAX_FRAME {
                return line;
            }
        }
    }
    encoded(&overflow(frame))
}

fn shrink(value: &Value, round: (usize, usize, usize)) -> Value {
    let (text, items, keys) = round;
    match value {
        Value::String(string) => Value::String(cut(string, text)),
        Value::Array(all) => {
            let mut kept: Vec<Value> = all.iter().take(items).map(|item| shrink(item, round)).collect();
            if all.len() > items {
                kept.push(format!("…[{} items elided for RPC frame]", all.len() - items).into());
            }
            kept.into()
        }
        Value::Object(all) => {
            let mut kept: Map<_, _> =
                all.iter().take(keys).map(|(key, item)| (key.clone(), shrink(item, round))).collect();
            if all.len() > keys {
                kept.insert("rpcFrameElidedKeys".to_owned(), (all.len() - keys).into());
            }
            kept.into()
        }
        other => other.clone(),
    }
}

/// Room for the note that says how much is missing.
const NOTE: usize = 80;

fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let kept = text.floor_char_boundary(limit.saturating_sub(NOTE));
    format!("{}\n…[{} chars elided for RPC frame]", &text[..kept], text[kept..].chars().count())
}

fn overflow(frame: &Value) -> Value {
    let name = |key: &str| frame[key].as_str().map(|name| cut(name, MAX_NAME));
    if frame["type"] == "response" {
        let mut response = json!({
            "type": "response",
            "command": name("command").unwrap_or_else(|| "unknown".to_owned()),
            "success": false,
            "error": "RPC response exceeded the transport limit",
        });
        if let Some(id) = name("id") {
            response["id"] = id.into();
        }
        return response;
    }
    json!({"type": "rpc_frame_error", "originalType": name("type"), "error": "RPC frame exceeded the transport limit"})
}

fn encoded(value: &impl Serialize) -> Vec<u8> {
    // Encoding these values cannot fail.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(lines: &[u8]) -> Vec<Value> {
        let lines: Vec<_> = lines.split_inclusive(|byte| *byte == b'\n').collect();
        assert!(lines.iter().all(|line| line.len() <= MAX_FRAME));
        lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    #[test]
    fn short_frames_pass_unchanged() {
        assert_eq!(Encoder::default().lines(b"{}".to_vec()), b"{}\n");
    }

    #[test]
    fn version_1_shortens_events_and_refuses_responses() {
        let mut encoder = Encoder::default();
        let event = json!({"type": "message_end", "message": {"content": "ü".repeat(MAX_FRAME)}});
        let frame = parsed(&encoder.lines(event.to_string().into_bytes())).remove(0);
        let text = frame["message"]["content"].as_str().unwrap();
        assert!(text.len() > 200_000 && text.contains("chars elided for RPC frame]"), "{}", &text[text.len() - 80..]);

        let many = json!({"type": "agent_end", "messages": vec!["x".repeat(1000); 3000]});
        let frame = parsed(&encoder.lines(many.to_string().into_bytes())).remove(0);
        assert_eq!(frame["messages"].as_array().unwrap().len(), 513);

        let response = json!({"id": "7", "type": "response", "command": "get_messages", "success": true, "data": "x".repeat(MAX_FRAME)});
        let frame = parsed(&encoder.lines(response.to_string().into_bytes())).remove(0);
        insta::assert_json_snapshot!(frame, @r#"
        {
          "type": "response",
          "command": "get_messages",
          "success": false,
          "error": "RPC response exceeded the transport limit",
          "id": "7"
        }
        "#);
    }

    #[test]
    fn version_2_sends_chunks_that_make_up_the_frame() {
        let mut encoder = Encoder::default();
        encoder.use_chunks();
        let event = json!({"type": "message_end", "text": "y".repeat(MAX_FRAME * 2)}).to_string().into_bytes();
        let chunks = parsed(&encoder.lines(event.clone()));
        assert_eq!(chunks.len(), 9);
        let mut whole = Vec::new();
        for (index, chunk) in chunks.iter().enumerate() {
            assert_eq!((&chunk["index"], &chunk["count"]), (&json!(index), &json!(9)));
            assert_eq!((&chunk["chunkId"], &chunk["byteLength"]), (&json!("rpc-1"), &json!(event.len())));
            let data = base64::engine::general_purpose::STANDARD.decode(chunk["data"].as_str().unwrap());
            whole.extend(data.unwrap());
        }
        assert!(whole == event);
    }

    #[test]
    fn what_is_too_long_even_for_chunks_says_so() {
        let mut encoder = Encoder::default();
        encoder.use_chunks();
        let event = json!({"type": "message_end", "text": "z".repeat(MAX_REASSEMBLED)}).to_string().into_bytes();
        let frame = parsed(&encoder.lines(event)).remove(0);
        assert_eq!((&frame["type"], &frame["originalType"]), (&json!("rpc_frame_error"), &json!("message_end")));
    }
}
