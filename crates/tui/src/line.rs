//! One row of styled text.

use std::borrow::Cow;
use std::sync::Arc;

use omp_stdx::display_width;

use crate::style::Style;

/// A run of text in one style. Never contains a line break, a tab or an escape sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub text: Cow<'static, str>,
    pub style: Style,
    /// The target, if the span is a link.
    pub link: Option<Arc<str>>,
}

impl Span {
    pub fn new(text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        Self { text: text.into(), style, link: None }
    }

    pub fn width(&self) -> usize {
        display_width::width(&self.text)
    }
}

/// A row. Text beyond the width of the terminal is clipped when painted, so the terminal never wraps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Line {
    pub spans: Vec<Span>,
    /// The style of the rest of the row up to the right edge.
    pub fill: Option<Style>,
    /// The column of the cursor, if it is in this row.
    pub cursor: Option<usize>,
    /// Zero-width bytes before the text, such as a picture.
    pub escape: Option<Arc<str>>,
}

impl Line {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn styled(text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        Self { spans: vec![Span::new(text, style)], ..Self::default() }
    }

    pub fn push(&mut self, text: impl Into<Cow<'static, str>>, style: Style) -> &mut Self {
        self.spans.push(Span::new(text, style));
        self
    }

    pub fn with(mut self, text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        self.push(text, style);
        self
    }

    pub fn filled(mut self, style: Style) -> Self {
        self.fill = Some(style);
        self
    }

    pub fn width(&self) -> usize {
        self.spans.iter().map(Span::width).sum()
    }

    pub fn is_blank(&self) -> bool {
        self.escape.is_none() && self.spans.iter().all(|span| span.text.trim().is_empty())
    }

    /// Whether the row is part of a picture or of its replacement; such rows may change where no others may.
    pub fn is_picture(&self) -> bool {
        let placeholder = |span: &Span| span.text.starts_with(crate::image::PLACEHOLDER);
        self.escape.is_some() || self.spans.iter().any(placeholder)
    }

    /// Whether the row looks the same, regardless of the cursor.
    pub fn looks_like(&self, other: &Line) -> bool {
        self.spans == other.spans && self.fill == other.fill && self.escape == other.escape
    }

    /// Returns the text without styles, for tests and screen readers.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| &*span.text).collect()
    }
}

impl From<&'static str> for Line {
    fn from(text: &'static str) -> Self {
        Line::styled(text, Style::PLAIN)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Line::styled(text, Style::PLAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_wide_as_its_spans() {
        let line = Line::from("日本").with(" ok", Style::PLAIN.bold());
        assert_eq!((line.width(), line.text().as_str()), (7, "日本 ok"));
        assert!(!line.is_blank() && Line::from("  ").is_blank() && Line::new().is_blank());
    }
}
