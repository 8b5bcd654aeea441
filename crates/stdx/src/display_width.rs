//! Computes the terminal columns of a text by graphemes.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::escape::{EscapePiece, pieces};

/// Returns the columns of one line of text. Escape sequences and control characters take none, except sized text (OSC 66); a
/// tab takes one, so expand tabs first if they matter.
pub fn width(text: &str) -> usize {
    match simple_prefix(text) {
        (end, columns) if end == text.len() => columns,
        _ => pieces(text).map(piece_width).sum(),
    }
}

/// Returns the columns of one grapheme.
pub fn grapheme_width(grapheme: &str) -> usize {
    let mut chars = grapheme.chars();
    match (chars.next(), chars.next()) {
        (None, _) | (Some('\r'), Some('\n')) => 0,
        (Some('\t'), None) => 1,
        (Some(char), None) if char.is_control() => 0,
        (Some(char), None) if let Some(columns) = simple_width(char) => columns,
        _ if grapheme.chars().all(char::is_control) => 0,
        // A wide character stays one, however many characters are joined to it.
        (Some(char), _) if char.width() == Some(2) => grapheme.width().min(2),
        _ => grapheme.width(),
    }
}

/// Returns the longest prefix of `text` that fits in `columns`, and its width. Escape sequences before the cut are kept.
pub fn clip(text: &str, columns: usize) -> (&str, usize) {
    if is_plain_ascii(text) {
        let end = text.len().min(columns);
        return (&text[..end], end);
    }
    let (mut end, mut used) = (0, 0);
    for piece in pieces(text) {
        let EscapePiece::Text(plain) = piece else {
            used += piece_width(piece);
            if used > columns {
                return (&text[..end], used - piece_width(piece));
            }
            end += piece_length(piece);
            continue;
        };
        for grapheme in plain.graphemes(true) {
            let next = used + grapheme_width(grapheme);
            if next > columns {
                return (&text[..end], used);
            }
            used = next;
            end += grapheme.len();
        }
    }
    (text, used)
}

/// Clips to `columns`; the last column is an ellipsis if something was cut.
pub fn ellipsize(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    match columns {
        0 => Cow::Borrowed(""),
        _ => Cow::Owned(format!("{}…", clip(text, columns - 1).0)),
    }
}

/// Pads with spaces to `columns`; longer text stays as it is.
pub fn pad(text: &str, columns: usize) -> Cow<'_, str> {
    match columns.saturating_sub(width(text)) {
        0 => Cow::Borrowed(text),
        missing => Cow::Owned(format!("{text}{}", " ".repeat(missing))),
    }
}

fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns the length and columns of the leading characters that never join their neighbours.
fn simple_prefix(text: &str) -> (usize, usize) {
    if is_plain_ascii(text) {
        return (text.len(), text.len());
    }
    let mut columns = 0;
    for (at, char) in text.char_indices() {
        match simple_width(char) {
            Some(width) => columns += width,
            None => return (at, columns),
        }
    }
    (text.len(), columns)
}

/// Common ranges in which every character has the same width and only characters outside of them could change that.
fn simple_width(char: char) -> Option<usize> {
    match char {
        ' '..='~'
        | '\u{a1}'..='\u{a8}'
        | '\u{aa}'..='\u{ac}'
        | '\u{af}'..='\u{2ff}'
        | '\u{391}'..='\u{481}'
        | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{203b}'
        | '\u{2070}'..='\u{209c}'
        | '\u{2200}'..='\u{22ff}'
        | '\u{2500}'..='\u{259f}' => Some(1),
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => {
            Some(2)
        }
        _ => None,
    }
}

fn piece_width(piece: EscapePiece<'_>) -> usize {
    match piece {
        EscapePiece::Text(text) => match simple_prefix(text) {
            (end, columns) if end == text.len() => columns,
            _ => text.graphemes(true).map(grapheme_width).sum(),
        },
        EscapePiece::Escape(escape) => sized_text_width(escape).unwrap_or(0),
    }
}

/// Parses `ESC ] 66 ; s=<scale>:w=<cells> ; text ST`: text that the terminal draws larger, or in a given number of cells.
fn sized_text_width(escape: &str) -> Option<usize> {
    let body = escape.strip_prefix("\u{1b}]66;").or_else(|| escape.strip_prefix("\u{9d}66;"))?;
    let (settings, text) = body.split_once(';')?;
    let setting = |name: &str| {
        let value = settings.split(':').find_map(|setting| setting.strip_prefix(name)?.strip_prefix('='));
        value.and_then(|value| value.parse::<usize>().ok())
    };
    let scale = setting("s").unwrap_or(1).clamp(1, 7);
    let cells = setting("w").unwrap_or(0).min(7);
    // The terminator consists of control characters and a backslash that belongs to its escape.
    let text = text.trim_end_matches(['\u{7}', '\u{9c}']);
    let text = text.strip_suffix("\u{1b}\\").unwrap_or(text);
    let natural = || text.graphemes(true).map(grapheme_width).sum();
    Some(scale * if cells > 0 { cells } else { natural() })
}

fn piece_length(piece: EscapePiece<'_>) -> usize {
    match piece {
        EscapePiece::Text(text) | EscapePiece::Escape(text) => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths() {
        for (text, want) in [
            ("", 0),
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("👩‍👩‍👧", 2),
            ("🇩🇪", 2),
            ("👩\u{301}\u{200d}👧", 2),
            ("❤\u{fe0f}", 2),
            ("\u{1b}[31mred\u{1b}[0m", 3),
            ("\u{1b}]8;;http://x\u{7}日\u{1b}]8;;\u{7}", 2),
            ("a\tb\r\n", 3),
            ("\u{200b}x", 1),
            ("naïve – ─┼─ Ωя", 14),
            ("한국어 かな カナ", 16),
            ("1\u{fe0f}\u{20e3}", 2),
            ("☺\u{fe0e}☺\u{fe0f}", 3),
            ("한", 2),
            ("क्ष", 2),
            ("\u{1b}]66;s=2;Big\u{7}", 6),
            ("\u{1b}]66;s=3:w=2;x\u{1b}\\!", 7),
            ("\u{1b}]66;w=2;日本\u{1b}\\", 2),
            ("\u{1b}]66;s=99;x\u{7}", 7),
            ("\r\n", 0),
        ] {
            assert_eq!(width(text), want, "{text:?}");
        }
    }

    #[test]
    fn clipping() {
        for (text, columns, want) in [
            ("abc", 2, "ab"),
            ("日本", 3, "日"),
            ("👩‍👩‍👧x", 1, ""),
            ("\u{1b}[31mred\u{1b}[0m", 2, "\u{1b}[31mre"),
            ("日本", 9, "日本"),
            ("a\u{1b}]66;s=2;Big\u{7}", 6, "a"),
            ("a\u{1b}]66;s=2;Big\u{7}b", 7, "a\u{1b}]66;s=2;Big\u{7}"),
        ] {
            assert_eq!(clip(text, columns).0, want, "{text:?} {columns}");
        }
    }

    #[test]
    fn ellipsis_and_padding() {
        assert_eq!(ellipsize("日本語", 4), "日…");
        assert_eq!(ellipsize("ab", 2), "ab");
        assert_eq!(ellipsize("ab", 0), "");
        assert_eq!(pad("日", 4), "日  ");
        assert_eq!(pad("long", 2), "long");
    }

    proptest! {
        #[test]
        fn the_fast_path_counts_like_the_slow_one(text in "[ -~¡-ɏΑ-ҁ‐-※⁰-ₜ∀-⋿─-▟ぁ-ゖァ-ヺ一-鿿가-힣]{0,20}") {
            let slow: usize = text.graphemes(true).map(UnicodeWidthStr::width).sum();
            prop_assert_eq!(width(&text), slow);
        }

        #[test]
        fn clip_holds_its_limit(text in "(\\PC|\u{1b}\\[1m){0,30}", columns in 0usize..20) {
            let (clipped, used) = clip(&text, columns);
            prop_assert!(used <= columns);
            prop_assert_eq!(width(clipped), used);
            prop_assert!(text.starts_with(clipped));
            prop_assert!(width(&ellipsize(&text, columns)) <= columns);
        }
    }
}
