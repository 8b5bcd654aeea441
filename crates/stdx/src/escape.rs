//! Splits text into plain pieces and terminal escape sequences.

/// A run of text that is, or is not, an escape sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapePiece<'a> {
    Text(&'a str),
    Escape(&'a str),
}

/// Iterates over the pieces of `text` in linear time. A string sequence without a terminator counts as an escape only up to
/// its opening, so that it cannot hide the rest of the text.
pub fn pieces(text: &str) -> Pieces<'_> {
    Pieces { rest: text, unclosed: false }
}

#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    rest: &'a str,
    /// No string terminator follows, so no further search is needed.
    unclosed: bool,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = EscapePiece<'a>;

    fn next(&mut self) -> Option<EscapePiece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let plain = plain_length(self.rest);
        let (length, wrap): (usize, fn(&'a str) -> EscapePiece<'a>) =
            if plain > 0 { (plain, EscapePiece::Text) } else { (self.escape_length(), EscapePiece::Escape) };
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(wrap(piece))
    }
}

impl Pieces<'_> {
    /// Returns the length of the sequence at the start of `rest`, which begins with an introducer.
    fn escape_length(&mut self) -> usize {
        let mut chars = self.rest.chars();
        match chars.next() {
            Some('\u{9b}') => 2 + csi_length(&self.rest[2..]),
            Some('\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => self.string_length(2),
            Some('\u{1b}') => match chars.next() {
                Some('[') => 2 + csi_length(&self.rest[2..]),
                Some('P' | 'X' | ']' | '^' | '_') => self.string_length(2),
                _ => 1 + plain_escape_length(&self.rest[1..]),
            },
            Some(other) => other.len_utf8(),
            None => 0,
        }
    }

    fn string_length(&mut self, introducer: usize) -> usize {
        if self.unclosed {
            return introducer;
        }
        let body = &self.rest[introducer..];
        let end = body.char_indices().find_map(|(at, char)| match char {
            '\u{7}' => Some(at + 1),
            '\u{9c}' => Some(at + 2),
            '\u{1b}' if body[at + 1..].starts_with('\\') => Some(at + 2),
            _ => None,
        });
        self.unclosed = end.is_none();
        introducer + end.unwrap_or(0)
    }
}

fn plain_length(text: &str) -> usize {
    let introducer = |at: usize| {
        let bytes = text.as_bytes();
        bytes[at] == 0x1b || matches!(bytes.get(at + 1), Some(0x90 | 0x98 | 0x9b | 0x9d..=0x9f))
    };
    memchr::memchr2_iter(0x1b, 0xc2, text.as_bytes()).find(|&at| introducer(at)).unwrap_or(text.len())
}

/// Returns the length of the parameters, intermediates and final byte of a control sequence; stops before an invalid byte.
fn csi_length(body: &str) -> usize {
    let bytes = body.as_bytes();
    let parameters = bytes.iter().take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
    parameters + usize::from(matches!(bytes.get(parameters), Some(0x40..=0x7e)))
}

fn plain_escape_length(body: &str) -> usize {
    let bytes = body.as_bytes();
    let intermediates = bytes.iter().take_while(|byte| (0x20..=0x2f).contains(*byte)).count();
    intermediates + usize::from(matches!(bytes.get(intermediates), Some(0x30..=0x7e)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        let wrap = |piece| match piece {
            EscapePiece::Text(text) => text.to_owned(),
            EscapePiece::Escape(text) => format!("<{}>", text.escape_default()),
        };
        pieces(text).map(wrap).collect()
    }

    #[test]
    fn sequences() {
        for (text, want) in [
            ("plain é", "plain é"),
            ("\u{1b}[1;31mred\u{1b}[0m", "<\\u{1b}[1;31m>red<\\u{1b}[0m>"),
            ("\u{1b}]8;;http://a\u{7}link", "<\\u{1b}]8;;http://a\\u{7}>link"),
            ("\u{1b}]0;title\u{1b}\\x", "<\\u{1b}]0;title\\u{1b}\\\\>x"),
            ("\u{1b}(Bx", "<\\u{1b}(B>x"),
            ("\u{9b}31mx", "<\\u{9b}31m>x"),
            ("\u{9d}0;t\u{9c}x", "<\\u{9d}0;t\\u{9c}>x"),
            ("\u{1b}[3éx", "<\\u{1b}[3>éx"),
            ("a\u{1b}", "a<\\u{1b}>"),
            ("\u{1b}]open\u{1b}]again", "<\\u{1b}]>open<\\u{1b}]>again"),
        ] {
            assert_eq!(shown(text), want, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_add_up(text in "([a-zé]|\u{1b}|\u{9b}|\u{9d}|\u{9c}|\u{7}|[\\[\\]\\\\0-9;m]){0,40}") {
            let joined: String = pieces(&text).map(|piece| match piece { EscapePiece::Text(t) | EscapePiece::Escape(t) => t }).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
