//! Makes untrusted text safe to show: no terminal escapes, no control characters, nothing invisible.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::escape::{EscapePiece, pieces};

/// Removes terminal escape sequences.
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(0x1b, 0xc2, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let plain = pieces(text).filter_map(|piece| match piece {
        EscapePiece::Text(text) => Some(text),
        EscapePiece::Escape(_) => None,
    });
    Cow::Owned(plain.collect())
}

/// Removes escape sequences and every control character except tab and line feed; `\r\n` and a lone `\r` become `\n`, so
/// that a line cannot overwrite another.
pub fn strip_control(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(may_be_control) || !text.chars().any(|char| char.is_control() && !matches!(char, '\n' | '\t'))
    {
        return Cow::Borrowed(text);
    }
    let plain = strip_ansi(text);
    let mut clean = String::with_capacity(plain.len());
    let mut chars = plain.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => clean.push('\n'),
            '\n' | '\t' => clean.push(char),
            control if control.is_control() => {}
            visible => clean.push(visible),
        }
    }
    Cow::Owned(clean)
}

/// Scanning bytes is faster than decoding characters; `0xc2` begins the control characters beyond ASCII, among others.
fn may_be_control(byte: u8) -> bool {
    (byte < b' ' && !matches!(byte, b'\n' | b'\t')) || matches!(byte, 0x7f | 0xc2)
}

/// Writes characters that take no space or reorder text as `<U+200B>`, so that nothing can hide in the text. Joiners and
/// selectors stay where scripts and emoji need them.
pub fn reveal_invisible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(may_hide) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut in_flag = false;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        in_flag = char == '\u{1f3f4}' || (in_flag && is_tag(char));
        let needed = in_flag || !may_hide(char) || is_needed(shown.chars().next_back(), char, chars.peek().copied());
        if needed {
            shown.push(char);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(shown, "<U+{:04X}>", u32::from(char));
        }
    }
    Cow::Owned(shown)
}

/// Shows control characters as their pictures (`␛`), and characters without width by their number. Line feeds and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    pictured(text, |char| char.is_control() && !matches!(char, '\n' | '\t'))
}

/// Like [`visible`], but for a single line: line breaks are shown as well, so that no part of the text looks like another
/// line.
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    pictured(text, |char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}'))
}

fn pictured(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return reveal_invisible(text);
    }
    let picture = |char: char| match u32::from(char) {
        _ if !is_hidden(char) => char,
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('␣'),
        0x7f => '␡',
        _ => '␣',
    };
    let shown: String = text.chars().map(picture).collect();
    Cow::Owned(reveal_invisible(&shown).into_owned())
}

/// Whether `reveal_invisible` would change the text.
pub fn hides_something(text: &str) -> bool {
    matches!(reveal_invisible(text), Cow::Owned(shown) if shown != text)
}

fn may_hide(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether the character is a joiner between two visible non-ASCII characters, or one variation selector after a visible
/// one.
fn is_needed(previous: Option<char>, char: char, next: Option<char>) -> bool {
    let shapes = |other: Option<char>| other.is_some_and(|other| !other.is_ascii() && !other.is_whitespace());
    match char {
        '\u{200c}' | '\u{200d}' => {
            shapes(previous) && shapes(next) && !next.is_some_and(may_hide) && previous.is_some_and(may_be_joined)
        }
        '\u{fe00}'..='\u{fe0f}' => previous
            .is_some_and(|base| matches!(base, '0'..='9' | '#' | '*') || (shapes(Some(base)) && !may_hide(base))),
        _ => false,
    }
}

fn may_be_joined(previous: char) -> bool {
    previous == '\u{fe0f}' || !may_hide(previous)
}

fn is_tag(char: char) -> bool {
    matches!(char, '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_and_controls() {
        for (text, want) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[2J\u{1b}[1mbold\u{1b}[0m", "bold"),
            ("\u{1b}]52;c;c2VjcmV0\u{7}x", "x"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("a\u{0}b\u{8}c\u{7f}\u{85}d", "abcd"),
            ("é\u{9b}31mx", "éx"),
        ] {
            assert_eq!(strip_control(text), want, "{text:?}");
        }
    }

    #[test]
    fn invisible() {
        for (text, want) in [
            ("plain", "plain"),
            ("a\u{200b}b", "a<U+200B>b"),
            ("\u{202e}gnp.exe", "<U+202E>gnp.exe"),
            ("hi\u{e0041}\u{e0042}", "hi<U+E0041><U+E0042>"),
            ("a\u{200d}b", "a<U+200D>b"),
            ("\u{feff}x", "<U+FEFF>x"),
            ("x\u{e0100}\u{e0101}", "x<U+E0100><U+E0101>"),
            ("❤\u{fe0f}\u{fe01}", "❤\u{fe0f}<U+FE01>"),
            ("x\u{fe0f}", "x<U+FE0F>"),
            ("👩‍👩‍👧 ❤\u{fe0f}‍🔥 1\u{fe0f}\u{20e3}", "👩‍👩‍👧 ❤\u{fe0f}‍🔥 1\u{fe0f}\u{20e3}"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴\u{e0067}\u{e0062}\u{e007f}"),
        ] {
            assert_eq!(reveal_invisible(text), want, "{text:?}");
            assert_eq!(hides_something(text), text != want, "{text:?}");
        }
    }

    #[test]
    fn pictures() {
        for (text, lines, line) in [
            ("plain", "plain", "plain"),
            ("a\n\tb", "a\n\tb", "a␊␉b"),
            ("a\r\u{1b}[2J\u{7f}\u{85}\u{2028}", "a␍␛[2J␡␣\u{2028}", "a␍␛[2J␡␣␣"),
            ("\u{202e}x\n", "<U+202E>x\n", "<U+202E>x␊"),
        ] {
            assert_eq!((visible(text), on_one_line(text)), (lines.into(), line.into()), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_dangerous_is_left(text in any::<String>()) {
            let clean = strip_control(&text);
            prop_assert!(clean.chars().all(|char| matches!(char, '\n' | '\t') || !char.is_control()));
            prop_assert_eq!(strip_control(&clean), clean.clone());
        }

        #[test]
        fn revealing_twice_changes_nothing(text in "(a|é|👩|\u{200b}|\u{200d}|\u{fe0f}|\u{e0041}|\u{feff}){0,20}") {
            let once = reveal_invisible(&text).into_owned();
            prop_assert_eq!(reveal_invisible(&once), once.clone());
        }
    }
}
