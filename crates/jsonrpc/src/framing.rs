//! Splits a byte stream into JSON messages: one per line, or after `Content-Length` headers.
//!
//! Chunks may end anywhere. Text that is not JSON, such as a server's banner, is returned as noise if the message boundaries
//! are still certain; otherwise the stream fails.

use std::borrow::Cow;

use omp_stdx::format;
use omp_stdx::lines::{JsonLineFrame as Line, JsonLines};
use omp_stdx::sanitize::on_one_line;
use omp_stdx::truncate::{Keep, by_bytes};
use serde_json::Value;

/// Maximum length of noise that is kept.
const NOISE_BYTES: usize = 200;

/// How messages are delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One JSON value per line: MCP over stdio.
    Lines,
    /// One JSON value per line; a line that is too long is skipped and reported, and the stream goes on.
    LenientLines,
    /// `Content-Length: 12`, an empty line, and that many bytes: LSP and DAP.
    ContentLength,
}

/// Size limits of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLimits {
    /// Limit for all headers of one message.
    pub header_bytes: usize,
    pub message_bytes: usize,
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self { header_bytes: 8 << 10, message_bytes: 64 << 20 }
    }
}

/// A complete part of the stream.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageFrame {
    /// A message and its encoded size in bytes.
    Message { value: Value, bytes: usize },
    /// Text that is not JSON, shortened.
    Noise(String),
    /// A line of [`Framing::LenientLines`] that was longer than a message may be.
    TooLong { bytes: usize },
}

/// Why a stream cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    #[error(
        "the headers of a message are longer than {}\nhint: the other side does not seem to speak this protocol; check the command that starts it",
        format::bytes(*limit as u64)
    )]
    HeaderTooLong { limit: usize },
    #[error(
        "`{line}` is not a message header\nhint: the other side prints something else to its standard output; check the command that starts it"
    )]
    BadHeader { line: String },
    #[error("a message came without `Content-Length`\nhint: check that the other side speaks LSP or DAP over stdio")]
    NoLength,
    #[error("a message of {} is longer than the limit of {}\nhint: ask the server for less at once", format::bytes(*bytes as u64), format::bytes(*limit as u64))]
    MessageTooLong { bytes: usize, limit: usize },
    #[error("the stream ended in the middle of a message")]
    Unfinished,
}

/// Encodes one message.
pub fn encode(framing: Framing, message: &Value) -> Vec<u8> {
    // Serialized JSON contains no newline: those within strings are escaped.
    let text = message.to_string();
    match framing {
        Framing::Lines | Framing::LenientLines => (text + "\n").into_bytes(),
        Framing::ContentLength => format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes(),
    }
}

/// Decodes frames from chunks of a stream.
#[derive(Debug)]
pub struct FrameDecoder {
    cutter: Cutter,
    limits: FrameLimits,
}

#[derive(Debug)]
enum Cutter {
    Lines { lines: JsonLines, is_lenient: bool },
    ContentLength(Headed),
}

impl FrameDecoder {
    pub fn new(framing: Framing, limits: FrameLimits) -> Self {
        let cutter = match framing {
            Framing::Lines | Framing::LenientLines => Cutter::Lines {
                lines: JsonLines::new(limits.message_bytes),
                is_lenient: framing == Framing::LenientLines,
            },
            Framing::ContentLength => Cutter::ContentLength(Headed::default()),
        };
        Self { cutter, limits }
    }

    /// Adds complete frames to `frames`, even if an error follows. After an error nothing more can be read.
    pub fn push(&mut self, piece: &[u8], frames: &mut Vec<MessageFrame>) -> Result<(), FramingError> {
        match &mut self.cutter {
            Cutter::Lines { lines, is_lenient } => {
                let mut taken = Ok(());
                lines.push(piece, |line| take_line(line, *is_lenient, self.limits, frames, &mut taken));
                taken
            }
            Cutter::ContentLength(headed) => headed.push(piece, self.limits, frames),
        }
    }

    /// Handles the end of the stream: the last line may lack a newline.
    pub fn finish(&mut self, frames: &mut Vec<MessageFrame>) -> Result<(), FramingError> {
        match &mut self.cutter {
            Cutter::Lines { lines, is_lenient } => {
                let mut taken = Ok(());
                lines.finish(|line| take_line(line, *is_lenient, self.limits, frames, &mut taken));
                taken
            }
            Cutter::ContentLength(headed) if headed.is_between_messages() => Ok(()),
            Cutter::ContentLength(_) => Err(FramingError::Unfinished),
        }
    }
}

fn take_line(
    line: Line<'_>,
    is_lenient: bool,
    limits: FrameLimits,
    frames: &mut Vec<MessageFrame>,
    taken: &mut Result<(), FramingError>,
) {
    match line {
        _ if taken.is_err() => {}
        Line::Text { bytes, .. } => frames.push(frame_of(bytes)),
        Line::TooLong { bytes, .. } if is_lenient => frames.push(MessageFrame::TooLong { bytes }),
        Line::TooLong { bytes, .. } => {
            *taken = Err(FramingError::MessageTooLong { bytes, limit: limits.message_bytes });
        }
    }
}

fn frame_of(bytes: &[u8]) -> MessageFrame {
    match serde_json::from_slice(bytes).or_else(|error| from_broken_utf8(bytes).ok_or(error)) {
        Ok(value) => MessageFrame::Message { value, bytes: bytes.len() },
        Err(_) => MessageFrame::Noise(shown(bytes)),
    }
}

/// Bytes in strings that are not UTF-8 become replacement characters.
fn from_broken_utf8(bytes: &[u8]) -> Option<Value> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => serde_json::from_str(&text).ok(),
    }
}

/// Formats bytes for display.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(NOISE_BYTES * 4)];
    let text = String::from_utf8_lossy(start);
    let text = on_one_line(text.trim_end());
    by_bytes(&text, NOISE_BYTES, Keep::Head).join(|_| "…".to_owned()).into_owned()
}

/// Decoder for messages with headers.
#[derive(Debug, Default)]
struct Headed {
    buffer: Vec<u8>,
    /// Number of header bytes read for the next message.
    header_bytes: usize,
    length: Option<usize>,
    /// Length of the body, once the headers are complete.
    body: Option<usize>,
}

impl Headed {
    fn push(&mut self, piece: &[u8], limits: FrameLimits, frames: &mut Vec<MessageFrame>) -> Result<(), FramingError> {
        self.buffer.extend_from_slice(piece);
        let mut at = 0;
        let result = loop {
            match self.step(at, limits, frames) {
                Ok(Some(next)) => at = next,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.buffer.drain(..at);
        // Releases the memory of a very large message.
        if self.buffer.is_empty() {
            self.buffer.shrink_to(64 << 10);
        }
        result
    }

    /// Parses a body or a header line at `at` and returns its end, or `None` if it is incomplete.
    fn step(
        &mut self,
        at: usize,
        limits: FrameLimits,
        frames: &mut Vec<MessageFrame>,
    ) -> Result<Option<usize>, FramingError> {
        let rest = &self.buffer[at..];
        if let Some(length) = self.body {
            let Some(body) = rest.get(..length) else { return Ok(None) };
            frames.push(frame_of(body));
            self.body = None;
            return Ok(Some(at + length));
        }
        let line_bytes = rest.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
        if self.header_bytes + line_bytes.unwrap_or(rest.len()) > limits.header_bytes {
            return Err(FramingError::HeaderTooLong { limit: limits.header_bytes });
        }
        let Some(line_bytes) = line_bytes else { return Ok(None) };
        let line = rest[..line_bytes].trim_ascii();
        if !line.is_empty() {
            self.length = length_of(line)?.or(self.length);
            self.header_bytes += line_bytes;
        } else if self.header_bytes > 0 {
            self.body = Some(self.checked_length(limits)?);
            (self.header_bytes, self.length) = (0, None);
        }
        Ok(Some(at + line_bytes))
    }

    fn checked_length(&self, limits: FrameLimits) -> Result<usize, FramingError> {
        let limit = limits.message_bytes;
        match self.length {
            None => Err(FramingError::NoLength),
            Some(bytes) if bytes > limit => Err(FramingError::MessageTooLong { bytes, limit }),
            Some(bytes) => Ok(bytes),
        }
    }

    fn is_between_messages(&self) -> bool {
        self.body.is_none() && self.header_bytes == 0 && self.buffer.is_empty()
    }
}

/// Returns the value of a `Content-Length` header; `None` for other headers.
fn length_of(line: &[u8]) -> Result<Option<usize>, FramingError> {
    let bad = || FramingError::BadHeader { line: shown(line) };
    let colon = line.iter().position(|byte| *byte == b':').ok_or_else(bad)?;
    let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
    if !name.eq_ignore_ascii_case(b"content-length") {
        return Ok(None);
    }
    let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|text| text.parse().ok()).map(Some).ok_or_else(bad)
}

#[cfg(test)]
mod tests;
