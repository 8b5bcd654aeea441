//! Decodes server-sent events from a byte stream that may be split anywhere.
//!
//! A line is processed only when it is complete, so splits inside a character, between CR and LF or inside the byte order
//! mark need no special handling. Buffers are reused: an event only costs a copy of its data.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr2;

/// Limits the bytes of one event, including names and line ends.
pub const FRAME_LIMIT: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SseError {
    /// One event exceeds [`FRAME_LIMIT`].
    TooLarge,
}

impl fmt::Display for SseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SseError::TooLarge => write!(f, "an event of the stream is larger than {} MiB", FRAME_LIMIT >> 20),
        }
    }
}

impl std::error::Error for SseError {}

#[derive(Default)]
pub struct SseDecoder {
    /// The start of a line whose end has not arrived.
    partial: Vec<u8>,
    name: Vec<u8>,
    /// The data lines so far, each followed by a line feed.
    data: Vec<u8>,
    after_first_line: bool,
    /// The last line ended with CR: a following line feed belongs to it.
    skip_line_feed: bool,
}

impl SseDecoder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a chunk and calls `on_event` for every event that it completes, with its name (`message` if it has none) and
    /// data.
    pub fn push(&mut self, chunk: &[u8], mut on_event: impl FnMut(&str, &str)) -> Result<(), SseError> {
        let mut rest = chunk;
        while !rest.is_empty() {
            if std::mem::take(&mut self.skip_line_feed) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else { break };
            self.skip_line_feed = rest[end] == b'\r';
            if self.partial.is_empty() {
                self.line(&rest[..end], &mut on_event)?;
            } else {
                self.partial.extend_from_slice(&rest[..end]);
                self.partial_line(&mut on_event)?;
            }
            rest = &rest[end + 1..];
        }
        self.partial.extend_from_slice(rest);
        self.check_size(0)
    }

    /// Ends the stream: an event without its closing blank line is reported too.
    pub fn finish(&mut self, mut on_event: impl FnMut(&str, &str)) -> Result<(), SseError> {
        if !self.partial.is_empty() {
            self.partial_line(&mut on_event)?;
        }
        self.dispatch(&mut on_event);
        Ok(())
    }

    fn partial_line(&mut self, on_event: &mut impl FnMut(&str, &str)) -> Result<(), SseError> {
        let line = std::mem::take(&mut self.partial);
        let outcome = self.line(&line, on_event);
        self.partial = line;
        self.partial.clear();
        outcome
    }

    fn line(&mut self, mut line: &[u8], on_event: &mut impl FnMut(&str, &str)) -> Result<(), SseError> {
        if !self.after_first_line {
            self.after_first_line = true;
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(on_event);
            return Ok(());
        }
        if let Some(value) = field(line, b"data") {
            self.check_size(value.len())?;
            self.data.extend_from_slice(value);
            self.data.push(b'\n');
        } else if let Some(value) = field(line, b"event") {
            self.name.clear();
            self.name.extend_from_slice(value);
        }
        Ok(())
    }

    fn dispatch(&mut self, on_event: &mut impl FnMut(&str, &str)) {
        if let Some((_, data)) = self.data.split_last() {
            let name =
                if self.name.is_empty() { Cow::Borrowed("message") } else { String::from_utf8_lossy(&self.name) };
            on_event(&name, &String::from_utf8_lossy(data));
        }
        self.name.clear();
        self.data.clear();
    }

    fn check_size(&self, more: usize) -> Result<(), SseError> {
        let held = self.partial.len() + self.name.len() + self.data.len() + more;
        if held > FRAME_LIMIT { Err(SseError::TooLarge) } else { Ok(()) }
    }
}

/// Returns the value if the line is that field: everything after the colon, without one leading space.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(name)? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
