//! Turns the bytes of a terminal program into plain text: drops escapes and control characters, converts line ends to `\n`
//! and replaces invalid UTF-8 by U+FFFD. Input chunks may end anywhere, even inside a character or an escape.

use omp_types::Stripped;

use super::scan::plain_prefix;

/// Limits a title or clipboard escape; a longer one is not treated as an escape.
const MAX_STRING: usize = 4096;
/// Bytes of an escape that are kept for the report.
const REMEMBERED: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Cleaner {
    state: EscapeState,
    /// The incomplete character at the end of the last chunk.
    held: Vec<u8>,
    /// The last chunk ended with a carriage return.
    after_return: bool,
    /// The bytes of the current escape.
    escape: Vec<u8>,
    pub(super) dropped: Stripped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EscapeState {
    #[default]
    Text,
    Escape,
    /// `ESC [`, up to its final letter.
    Sequence,
    /// `ESC ]` and similar escapes, up to BEL or `ESC \`; holds the number of bytes so far.
    String(usize),
    StringEscape,
}

impl Cleaner {
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut String) {
        let joined;
        let mut rest = bytes;
        if !self.held.is_empty() {
            joined = [std::mem::take(&mut self.held).as_slice(), bytes].concat();
            rest = &joined;
        }
        while !rest.is_empty() {
            let used = match self.state {
                EscapeState::Text => self.text(rest, out),
                _ => self.escape_byte(rest[0]),
            };
            rest = &rest[used..];
        }
    }

    pub(super) fn finish(&mut self, out: &mut String) {
        self.settle_return(out);
        if !std::mem::take(&mut self.held).is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        self.note_escape();
    }

    /// Consumes text or one control character and returns the number of bytes.
    fn text(&mut self, bytes: &[u8], out: &mut String) -> usize {
        let first = bytes[0];
        let length = plain_prefix(bytes);
        if length > 0 {
            if first != b'\n' {
                self.settle_return(out);
            }
            self.after_return = false;
            // Plain bytes are ASCII, so nothing is replaced here.
            out.push_str(&String::from_utf8_lossy(&bytes[..length]));
            return length;
        }
        if !first.is_ascii() {
            self.settle_return(out);
            return self.beyond_ascii(bytes, out);
        }
        match first {
            b'\r' => self.after_return = true,
            0x1b => {
                self.state = EscapeState::Escape;
                self.drop_bytes(&bytes[..1]);
            }
            _ => {
                self.drop_bytes(&bytes[..1]);
                self.note_escape();
            }
        }
        1
    }

    fn beyond_ascii(&mut self, bytes: &[u8], out: &mut String) -> usize {
        let length = bytes.iter().position(u8::is_ascii).unwrap_or(bytes.len());
        let (valid, invalid) = match std::str::from_utf8(&bytes[..length]) {
            Ok(valid) => (valid, None),
            Err(error) => {
                let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
                (valid, Some(error.error_len()))
            }
        };
        if let Some((at, control)) = valid.char_indices().find(|(_, char)| char.is_control()) {
            out.push_str(&valid[..at]);
            self.state = match control {
                '\u{9b}' => EscapeState::Sequence,
                '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => EscapeState::String(0),
                _ => EscapeState::Text,
            };
            let end = at + control.len_utf8();
            self.drop_bytes(&bytes[at..end]);
            if self.state == EscapeState::Text {
                self.note_escape();
            }
            return end;
        }
        out.push_str(valid);
        match invalid {
            None => length,
            Some(None) if length == bytes.len() => {
                self.held = bytes[valid.len()..].to_vec();
                length
            }
            Some(error) => {
                out.push(char::REPLACEMENT_CHARACTER);
                error.map_or(length, |wrong| valid.len() + wrong)
            }
        }
    }

    fn escape_byte(&mut self, byte: u8) -> usize {
        let used = self.escape(byte);
        self.drop_bytes(&[byte][..used]);
        if self.state == EscapeState::Text {
            self.note_escape();
        }
        used
    }

    fn drop_bytes(&mut self, bytes: &[u8]) {
        self.dropped.control += bytes.len() as u64;
        let room = REMEMBERED.saturating_sub(self.escape.len());
        self.escape.extend(bytes.iter().take(room));
    }

    fn note_escape(&mut self) {
        if !self.escape.is_empty() {
            self.dropped.sequence(&String::from_utf8_lossy(&self.escape));
            self.escape.clear();
        }
    }

    /// Consumes one byte of an escape, or none if the escape has already ended.
    fn escape(&mut self, byte: u8) -> usize {
        let (next, used) = match (self.state, byte) {
            (EscapeState::Escape, b'[') => (EscapeState::Sequence, 1),
            (EscapeState::Escape, b']' | b'P' | b'X' | b'^' | b'_') => (EscapeState::String(0), 1),
            (EscapeState::Escape, 0x20..=0x2f) => (EscapeState::Escape, 1),
            (EscapeState::Escape, 0x30..=0x7e) => (EscapeState::Text, 1),
            (EscapeState::Sequence, 0x20..=0x3f) => (EscapeState::Sequence, 1),
            (EscapeState::Sequence, 0x40..=0x7e) => (EscapeState::Text, 1),
            (EscapeState::String(_), 0x07) => (EscapeState::Text, 1),
            (EscapeState::String(_), 0x1b) => (EscapeState::StringEscape, 1),
            (EscapeState::String(_), b'\n' | b'\r') => (EscapeState::Text, 0),
            (EscapeState::String(length), _) if length < MAX_STRING => (EscapeState::String(length + 1), 1),
            (EscapeState::StringEscape, b'\\') => (EscapeState::Text, 1),
            (EscapeState::StringEscape, _) => (EscapeState::Escape, 0),
            _ => (EscapeState::Text, 0),
        };
        self.state = next;
        used
    }

    /// Turns a carriage return without line feed into a line end, so that no line can overwrite another.
    fn settle_return(&mut self, out: &mut String) {
        if std::mem::take(&mut self.after_return) {
            out.push('\n');
        }
    }
}
