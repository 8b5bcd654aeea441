//! Converts styled text to rows: wrapped at words, clipped with an ellipsis, split without loss, or parsed from command
//! output.

mod ansi;
mod ansi_sgr;
mod wrap;

use std::borrow::Cow;

use omp_stdx::{display_width, sanitize};

use crate::line::{Line, Span};
use crate::style::Style;

pub use ansi::from_ansi;
pub use wrap::{split, wrap, wrap_narrow};

/// Columns between tab stops in prose and code.
pub const TAB: usize = 4;

/// Wraps plain text. Untrusted text is allowed: escape sequences and control characters are removed.
pub fn wrap_text(text: &str, width: usize, style: Style) -> Vec<Line> {
    let clean = sanitize::strip_control(text);
    let rows = clean.split('\n').map(|row| Line::styled(expand_tabs(row).into_owned(), style));
    rows.flat_map(|line| wrap(&line, width)).collect()
}

/// Clips a row to the width; the last column is an ellipsis if something was cut.
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

/// Replaces tabs by spaces up to the next stop.
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

/// Appends text to a row; extends its last span if the style and link are equal.
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
