//! Encodes one row: clipped to the width, without anything that could move the cursor.

use std::io::Write as _;

use omp_stdx::display_width;

use super::profile::Profile;
use super::sgr;
use crate::line::{Line, Span};
use crate::style::Style;

/// Shorter common prefixes are rewritten rather than skipped, because moving the cursor takes bytes too.
const WORTH_SKIPPING: usize = 6;

/// Writes a row over an old one. The cursor must be at the first column with plain style; afterwards the style is plain
/// again.
pub fn write_over(old: &Line, new: &Line, profile: &Profile, width: usize, out: &mut Vec<u8>) {
    let skip = common_columns(old, new).min(width);
    let skip = if skip < WORTH_SKIPPING { 0 } else { skip };
    if skip > 0 {
        // Writing to memory cannot fail.
        let _ = write!(out, "\x1b[{skip}C");
    }
    if in_doubt(old) || in_doubt(new) {
        return write_from(new, skip, profile, width, out);
    }
    let used = text(new, skip, profile, width, out);
    let shorter = used < old.width().min(width) || old.fill.is_some() || new.fill.is_some();
    if shorter {
        clear_rest(new, used, profile, width, out);
    }
}

/// Writes a row over unknown content.
pub fn write(new: &Line, profile: &Profile, width: usize, out: &mut Vec<u8>) {
    if in_doubt(new) {
        return write_cleared(new, profile, width, out);
    }
    let used = text(new, 0, profile, width, out);
    clear_rest(new, used, profile, width, out);
}

/// Clears the row, then writes it.
pub fn write_cleared(new: &Line, profile: &Profile, width: usize, out: &mut Vec<u8>) {
    write_from(new, 0, profile, width, out);
}

/// Terminals disagree on the width of some characters, so the end of such a row is unknown: the old content is cleared
/// before the row is written, not after.
fn write_from(new: &Line, skip: usize, profile: &Profile, width: usize, out: &mut Vec<u8>) {
    clear_rest(new, skip, profile, width, out);
    text(new, skip, profile, width, out);
}

fn in_doubt(line: &Line) -> bool {
    line.spans.iter().any(|span| !span.text.is_ascii() && span.text.chars().any(|char| agreed_width(char).is_none()))
}

/// Returns the width of a character if every terminal agrees on it and treats it as a separate character.
fn agreed_width(char: char) -> Option<usize> {
    match char {
        ' '..='~' => Some(1),
        // Latin and Greek letters, dashes, quotes, bullets, arrows, lines and blocks.
        '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{17f}' | '\u{391}'..='\u{3c9}' | '\u{410}'..='\u{44f}' => Some(1),
        '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{2193}' | '\u{2500}'..='\u{25a1}' => Some(1),
        // Kana, Chinese characters, Korean syllables.
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fa5}' | '\u{ac00}'..='\u{d7a3}' => {
            Some(2)
        }
        _ => None,
    }
}

/// Writes the text from a column on, which must not be inside a character. Returns the column after it.
fn text(line: &Line, skip: usize, profile: &Profile, width: usize, out: &mut Vec<u8>) -> usize {
    if let (0, Some(escape)) = (skip, &line.escape) {
        out.extend_from_slice(escape.as_bytes());
    }
    let mut at = 0;
    let mut style = Style::PLAIN;
    for span in &line.spans {
        if at >= width {
            break;
        }
        let (clipped, columns) = display_width::clip(&span.text, width - at);
        if at + columns > skip || columns == 0 {
            let shown = &clipped[display_width::clip(clipped, skip.saturating_sub(at)).0.len()..];
            sgr::change(style, span.style, profile.colors, out);
            style = span.style;
            with_link(span, profile, out, |out| push_visible(shown, out));
        }
        at += columns;
        if clipped.len() < span.text.len() {
            break;
        }
    }
    sgr::change(style, Style::PLAIN, profile.colors, out);
    at.max(skip)
}

/// At the right edge the cursor is on the last column, which an erase would remove.
fn clear_rest(line: &Line, used: usize, profile: &Profile, width: usize, out: &mut Vec<u8>) {
    if used >= width {
        return;
    }
    let fill = line.fill.unwrap_or_default();
    sgr::change(Style::PLAIN, fill, profile.colors, out);
    out.extend_from_slice(b"\x1b[K");
    sgr::change(fill, Style::PLAIN, profile.colors, out);
}

fn with_link(span: &Span, profile: &Profile, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    match span.link.as_deref().filter(|link| profile.links && is_harmless(link)) {
        None => write(out),
        Some(link) => {
            let _ = write!(out, "\x1b]8;;{link}\x1b\\");
            write(out);
            out.extend_from_slice(b"\x1b]8;;\x1b\\");
        }
    }
}

fn is_harmless(link: &str) -> bool {
    !link.is_empty() && !link.chars().any(char::is_control)
}

/// Text of a model or a command must never control the terminal, even if a component did not clean it.
fn push_visible(text: &str, out: &mut Vec<u8>) {
    if !text.chars().any(char::is_control) {
        return out.extend_from_slice(text.as_bytes());
    }
    let mut bytes = [0; 4];
    for char in text.chars().filter(|char| !char.is_control()) {
        out.extend_from_slice(char.encode_utf8(&mut bytes).as_bytes());
    }
}

/// Returns the leading columns that are equal in both rows, up to the first character of disputed width.
fn common_columns(old: &Line, new: &Line) -> usize {
    if old.escape.is_some() || new.escape.is_some() {
        return 0;
    }
    let mut columns = 0;
    for (old, new) in old.spans.iter().zip(&new.spans) {
        if old.style != new.style || old.link != new.link {
            break;
        }
        let (same, width) = common_start(&old.text, &new.text);
        columns += width;
        if same < old.text.len() || same < new.text.len() {
            break;
        }
    }
    columns
}

/// Returns the leading bytes and columns that are equal in both and of undisputed width.
fn common_start(old: &str, new: &str) -> (usize, usize) {
    let (mut bytes, mut columns, mut last) = (0, 0, 0);
    let mut pairs = old.chars().zip(new.chars());
    while let Some((char, width)) = pairs.next().and_then(|(a, b)| (a == b).then_some(a).zip(agreed_width(a))) {
        (bytes, columns, last) = (bytes + char.len_utf8(), columns + width, width);
    }
    // The next character may combine with the last one, such as an accent.
    let follows = |text: &str| text[bytes..].chars().next().is_some_and(|char| agreed_width(char).is_none());
    let doubtful = follows(old) || follows(new);
    (bytes, columns - if doubtful { last } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap().replace('\u{1b}', "ESC")
    }

    #[track_caller]
    fn check(old: Line, new: Line, expect: &str) {
        let mut out = Vec::new();
        write_over(&old, &new, &Profile::default(), 20, &mut out);
        assert_eq!(shown(out), expect);
    }

    #[test]
    fn only_what_changed_is_written() {
        check("".into(), "abc".into(), "abc");
        check("streamed text".into(), "streamed text more".into(), "ESC[13C more");
        check("streamed text more".into(), "streamed text".into(), "ESC[13CESC[K");
        check("abc".into(), "abd".into(), "abd");
        check("long enough e".into(), "long enough e\u{301}".into(), "ESC[12CESC[Ke\u{301}");
        check("日本語日本語".into(), "日本語日本".into(), "ESC[10CESC[K");
        let bold = Style::PLAIN.bold();
        check(Line::from("same so far "), Line::from("same so far ").with("b", bold), "ESC[12CESC[1mbESC[m");
        check(Line::styled("restyled", bold), "restyled".into(), "restyled");
    }

    #[test]
    fn rows_stay_inside_the_width() {
        check("".into(), "0123456789012345678901234".into(), "01234567890123456789");
        check("".into(), "日本語日本語日本語日x本".into(), "日本語日本語日本語日");
        check("01234567890123456789".into(), "0123456789012345678".into(), "ESC[19CESC[K");
    }

    #[test]
    fn nothing_steers_the_terminal() {
        check("".into(), "a\u{1b}[2Jb\u{7}\u{9b}c\nd".into(), "ESC[Ka[2Jbcd");
        let mut line = Line::from("link");
        line.spans[0].link = Some("http://x/\u{1b}\\evil".into());
        check("".into(), line, "link");
    }

    #[test]
    fn links_and_fills() {
        let mut line = Line::from("link");
        line.spans[0].link = Some("http://x".into());
        check("".into(), line, "ESC]8;;http://xESC\\linkESC]8;;ESC\\");
        let grey = Style::PLAIN.bg(crate::Color::Indexed(8));
        check("".into(), Line::styled("a", grey).filled(grey), "ESC[100maESC[mESC[100mESC[KESC[m");
        check(Line::from("a").filled(grey), "a".into(), "aESC[K");
    }
}
