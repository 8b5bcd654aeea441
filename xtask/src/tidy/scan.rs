//! A minimal lexer: blanks out comments and literals, finds words and matching brackets.

/// Replaces comments, strings and character literals by spaces; line breaks and offsets stay.
pub fn blanked(text: &str) -> String {
    let mut scan = Blanking { bytes: text.as_bytes(), out: Vec::with_capacity(text.len()) };
    while scan.out.len() < scan.bytes.len() {
        scan.step();
    }
    // Only whole characters were replaced, so this is still UTF-8.
    String::from_utf8(scan.out).unwrap_or_default()
}

struct Blanking<'a> {
    bytes: &'a [u8],
    /// Has the length of the source that was read so far.
    out: Vec<u8>,
}

impl Blanking<'_> {
    fn step(&mut self) {
        let at = self.out.len();
        let rest = &self.bytes[at..];
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => block_comment(rest),
            [b'"', ..] => string(rest),
            [b'\'', ..] => character(rest),
            [b'r' | b'b' | b'c', ..] if !self.in_word() => prefixed_string(rest),
            _ => 0,
        };
        match length {
            0 => self.out.push(self.bytes[at]),
            _ => self.out.extend(rest[..length].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' })),
        }
    }

    fn in_word(&self) -> bool {
        self.out.last().is_some_and(|byte| is_word(*byte))
    }
}

fn block_comment(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at + 1 < text.len() {
        match &text[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the length of a character literal, or zero for a lifetime.
fn character(text: &[u8]) -> usize {
    let end = match text.get(1) {
        Some(b'\\') => text.iter().skip(3).position(|byte| *byte == b'\'').map(|at| at + 3),
        Some(first) => Some(1 + utf8_length(*first)).filter(|end| text.get(*end) == Some(&b'\'')),
        None => None,
    };
    end.map_or(0, |end| end + 1)
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// `r"…"`, `br#"…"#`, `b"…"`, `c"…"`, `b'…'`; zero for anything else.
fn prefixed_string(text: &[u8]) -> usize {
    let letters = text.iter().take(2).take_while(|byte| matches!(byte, b'r' | b'b' | b'c')).count();
    let hashes = text[letters..].iter().take_while(|byte| **byte == b'#').count();
    let quote = letters + hashes;
    match text.get(quote) {
        Some(b'"') if text[..letters].contains(&b'r') => raw_string(text, quote + 1, hashes),
        Some(b'"') if hashes == 0 => letters + string(&text[letters..]),
        Some(b'\'') if text.starts_with(b"b'") => 1 + character(&text[1..]),
        _ => 0,
    }
}

fn raw_string(text: &[u8], from: usize, hashes: usize) -> usize {
    let ends = |at: &usize| {
        text[*at] == b'"' && text[*at + 1..].iter().take(hashes).filter(|byte| **byte == b'#').count() == hashes
    };
    (from..text.len()).find(ends).map_or(text.len(), |at| at + 1 + hashes)
}

/// Words (identifiers and keywords) with their offsets.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = code.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|byte| is_word(*byte))?;
        let length = bytes[start..].iter().take_while(|byte| is_word(**byte)).count();
        at = start + length;
        Some((start, &code[start..at]))
    })
}

/// Offset of the bracket that closes the one at `open`, or the end of the text.
pub fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_blank() {
        for (text, want) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ \n */ d", "a              \n    d"),
            (r#"f("a\"b", 'x', '\'', b'{')"#, "f(      ,    ,     ,     )"),
            ("r#\"a\"b\"# x", "         x"),
            ("fn a<'a>(b: &'a str)", "fn a<'a>(b: &'a str)"),
            ("bar\"x\"", "bar   "),
            ("'é' x", "     x"),
            ("r#type", "r#type"),
            ("\"open", "     "),
        ] {
            assert_eq!(blanked(text), want, "{text}");
            assert_eq!(blanked(text).len(), text.len());
        }
    }

    #[test]
    fn brackets_close() {
        assert_eq!(closing("f(a[1]) }", 1), 6);
        assert_eq!(closing("f(", 1), 2);
        assert_eq!(words("fn a_1(x)").map(|(_, word)| word).collect::<Vec<_>>(), ["fn", "a_1", "x"]);
    }
}
