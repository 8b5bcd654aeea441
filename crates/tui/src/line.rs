//! One row of styled text.

use std::borrow::Cow;
use std::sync::Arc;

use omp_stdx::display_width;

use crate::style::Style;

/// A run of text in one style. Never holds a line break, a tab or an escape sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub text: Cow<'static, str>,
    pub style: Style,
    /// Where it leads when it is a link.
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

/// A row. What is too wide for the terminal is clipped when it is painted, so nothing ever wraps by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Line {
    pub spans: Vec<Span>,
    /// Colours the rest of the row up to the right edge.
    pub fill: Option<Style>,
    /// The column of the cursor when it stands in this row.
    pub cursor: Option<usize>,
    /// Bytes of no width that stand before the text, such as a picture.
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

    /// Whether it is a part of a picture, or of what stands for one that was there: it may change where nothing else may.
    pub fn is_picture(&self) -> bool {
        let placeholder = |span: &Span| span.text.starts_with(crate::image::PLACEHOLDER);
        self.escape.is_some() || self.spans.iter().any(placeholder)
    }

    /// Whether it looks the same, wherever the cursor is.
    pub fn looks_like(&self, other: &Line) -> bool {
        self.spans == other.spans && self.fill == other.fill && self.escape == other.escape
    }

    /// Without colours, as a test or a screen reader wants it.
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
