//! Styled text into rows: wrapped at words, clipped with an ellipsis, split where nothing may be lost, or read from what
//! a command has printed.

mod ansi;
mod ansi_sgr;
mod wrap;

use std::borrow::Cow;

use omp_stdx::{display_width, sanitize};

use crate::line::{Line, Span};
use crate::style::Style;

pub use ansi::from_ansi;
pub use wrap::{split, wrap};

/// Columns from one tab stop to the next in prose and code.
pub const TAB: usize = 4;

/// Plain text into rows. Untrusted text is fine: escape sequences and control characters are taken out.
pub fn wrap_text(text: &str, width: usize, style: Style) -> Vec<Line> {
    let clean = sanitize::strip_control(text);
    let rows = clean.split('\n').map(|row| Line::styled(expand_tabs(row).into_owned(), style));
    rows.flat_map(|line| wrap(&line, width)).collect()
}

/// A row that fits, the last column an ellipsis when something was cut.
pub fn clip(mut line: Line, width: usize) -> Line {
    if line.width() <= width {
        return line;
    }
    let mut room = width.saturating_sub(1);
    let mut kept = 0;
    let mut style = Style::PLAIN;
    for span in &mut line.spans {
        let (shown, columns) = display_width::clip(&span.text, room);
        (kept, style, room) = (kept + 1, span.style, room - columns);
        if shown.len() < span.text.len() {
            let end = shown.len();
            cut(span, end);
            break;
        }
    }
    line.spans.truncate(kept);
    line.spans.retain(|span| !span.text.is_empty());
    if width > 0 {
        line.push("…", style);
    }
    line.cursor = line.cursor.map(|column| column.min(width));
    line
}

/// Tabs as spaces up to the next stop.
pub fn expand_tabs(text: &str) -> Cow<'_, str> {
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let mut expanded = String::with_capacity(text.len() + 16);
    let mut column = 0;
    for (index, piece) in text.split('\t').enumerate() {
        if index > 0 {
            let spaces = TAB - column % TAB;
            expanded.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        }
        expanded.push_str(piece);
        column += display_width::width(piece);
    }
    Cow::Owned(expanded)
}

/// Adds a piece to a row, to its last span when that looks the same.
pub(crate) fn append(line: &mut Line, text: &str, style: Style, link: Option<&std::sync::Arc<str>>) {
    match line.spans.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.style == style && last.link.as_ref() == link => last.text.to_mut().push_str(text),
        _ => line.spans.push(Span { text: Cow::Owned(text.to_owned()), style, link: link.cloned() }),
    }
}

fn cut(span: &mut Span, end: usize) {
    match &mut span.text {
        Cow::Borrowed(text) => *text = &text[..end],
        Cow::Owned(text) => text.truncate(end),
    }
}

#[cfg(test)]
pub(crate) mod marks;
#[cfg(test)]
mod tests;
