//! How many terminal columns a text takes, counted by what the reader sees as one character.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::escape::{Piece, pieces};

/// Columns of one line of text. Escape sequences and control characters take none; a tab takes one, so expand tabs
/// first where they matter.
pub fn width(text: &str) -> usize {
    if is_plain_ascii(text) {
        return text.len();
    }
    let plain = pieces(text).filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Escape(_) => None,
    });
    plain.flat_map(|text| text.graphemes(true)).map(grapheme_width).sum()
}

/// The longest start of `text` that fits into `columns`, and its width. Escape sequences are kept while they stand
/// before the cut.
pub fn clip(text: &str, columns: usize) -> (&str, usize) {
    if is_plain_ascii(text) {
        let end = text.len().min(columns);
        return (&text[..end], end);
    }
    let (mut end, mut used) = (0, 0);
    for piece in pieces(text) {
        let Piece::Text(plain) = piece else {
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

/// Clips to `columns`, the last of them an ellipsis when something was cut.
pub fn ellipsize(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    match columns {
        0 => Cow::Borrowed(""),
        _ => Cow::Owned(format!("{}…", clip(text, columns - 1).0)),
    }
}

/// Fills up with spaces to `columns`; longer text stays as it is.
pub fn pad(text: &str, columns: usize) -> Cow<'_, str> {
    match columns.saturating_sub(width(text)) {
        0 => Cow::Borrowed(text),
        missing => Cow::Owned(format!("{text}{}", " ".repeat(missing))),
    }
}

fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn piece_length(piece: Piece<'_>) -> usize {
    match piece {
        Piece::Text(text) | Piece::Escape(text) => text.len(),
    }
}

fn grapheme_width(grapheme: &str) -> usize {
    match grapheme {
        "\t" => 1,
        control if control.chars().all(char::is_control) => 0,
        visible => visible.width(),
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
            ("❤\u{fe0f}", 2),
            ("\u{1b}[31mred\u{1b}[0m", 3),
            ("\u{1b}]8;;http://x\u{7}日\u{1b}]8;;\u{7}", 2),
            ("a\tb\r\n", 3),
            ("\u{200b}x", 1),
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
        fn clip_holds_its_limit(text in "(\\PC|\u{1b}\\[1m){0,30}", columns in 0usize..20) {
            let (clipped, used) = clip(&text, columns);
            prop_assert!(used <= columns);
            prop_assert_eq!(width(clipped), used);
            prop_assert!(text.starts_with(clipped));
            prop_assert!(width(&ellipsize(&text, columns)) <= columns);
        }
    }
}
