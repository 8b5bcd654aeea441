//! Code blocks: slightly indented, highlighted line by line, long lines wrapped.

use super::source::{first_line, is_unsafe};
use super::writer::MarkdownLook;
use crate::diagram::LONGEST_SOURCE;
use crate::highlight::Highlighter;
use crate::line::{Line, Span};
use crate::style::Style;
use crate::text::split;
use crate::theme::Token;

const INDENT: &str = "  ";

/// Draws the lines of a code block one by one.
#[derive(Clone)]
pub struct CodeRows {
    highlighter: Highlighter,
    label: String,
}

impl CodeRows {
    /// `info` is the text after the opening fence.
    pub fn new(info: &str) -> Self {
        let label: String = info.split_whitespace().next().unwrap_or_default().chars().take(30).collect();
        let highlighter = Highlighter::new(Some(&label).filter(|label| !label.is_empty()).map(String::as_str));
        Self { highlighter, label }
    }

    /// Returns the name of the language, if there is one.
    pub fn heading(&self, look: MarkdownLook<'_>) -> Option<Line> {
        let rule = look.theme.fg(Token::MdCodeBlockBorder);
        let label = || Line::styled("── ", rule).with(self.label.clone(), look.theme.fg(Token::Muted));
        let heading = || crate::text::clip(label(), look.width);
        (!self.label.is_empty()).then(heading)
    }

    pub fn line(&mut self, text: &str, look: MarkdownLook<'_>) -> Vec<Line> {
        let clean: String;
        let text = if text.contains(is_unsafe) {
            clean = text.chars().filter(|char| !is_unsafe(*char)).collect();
            &clean
        } else {
            text
        };
        let line = self.highlighter.line(text, look.theme);
        if line.spans.is_empty() {
            return vec![line];
        }
        let mut rows = split(&line, look.width.saturating_sub(INDENT.len()));
        for row in &mut rows {
            row.spans.insert(0, Span::new(INDENT, Style::PLAIN));
        }
        rows
    }
}

/// An open top-level fenced code block.
#[derive(Clone)]
pub struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    rows: CodeRows,
}

impl Fence {
    /// `line` must open a code block.
    pub fn open(line: &str) -> Self {
        let body = line.trim_start_matches(' ');
        let mark = body.chars().next().unwrap_or('`');
        let length = body.chars().take_while(|char| *char == mark).count();
        let rows = CodeRows::new(body.trim_start_matches(mark).trim());
        Self { mark, length, indent: line.len() - body.len(), rows }
    }

    pub fn heading(&self, look: MarkdownLook<'_>) -> Option<Line> {
        self.rows.heading(look)
    }

    fn is_diagram(&self) -> bool {
        self.rows.label.eq_ignore_ascii_case("mermaid")
    }

    fn diagram(&self, source: &str, look: MarkdownLook<'_>) -> Option<Vec<Line>> {
        let diagrams = look.diagrams.filter(|_| self.is_diagram())?;
        let drawn = diagrams.draw(source.trim(), look.width.saturating_sub(INDENT.len()))?;
        let style = look.theme.fg(Token::MdCodeBlock);
        let rows = drawn.iter().map(|row| Line::styled(INDENT, Style::PLAIN).with(row.clone(), style));
        Some(self.heading(look).into_iter().chain(rows).collect())
    }

    pub fn closes(&self, line: &str) -> bool {
        let body = line.trim_start_matches(' ');
        let marks = body.chars().take_while(|char| *char == self.mark).count();
        line.len() - body.len() <= 3 && marks >= self.length && body[marks..].trim().is_empty()
    }

    /// Whether more text may turn the line into the closing fence.
    pub fn may_close(&self, line: &str) -> bool {
        let body = line.trim_start_matches(' ');
        line.len() - body.len() <= 3 && !body.is_empty() && body.chars().all(|char| char == self.mark)
    }

    pub fn line(&mut self, line: &str, look: MarkdownLook<'_>) -> Vec<Line> {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let spaces = line.bytes().take(self.indent).take_while(|byte| *byte == b' ').count();
        self.rows.line(&line[spaces..], look)
    }
}

/// Whether the block at the start of the text is a diagram that is drawn when it is complete, and not line by line.
pub fn waits_for_its_end(text: &str, look: MarkdownLook<'_>) -> bool {
    look.diagrams.is_some() && text.len() <= LONGEST_SOURCE && Fence::open(first_line(text)).is_diagram()
}

/// Draws a whole block.
pub fn draw_fence(text: &str, look: MarkdownLook<'_>) -> Vec<Line> {
    let opening = first_line(text);
    let mut fence = Fence::open(opening);
    let mut rows: Vec<Line> = fence.heading(look).into_iter().collect();
    let mut rest = &text[opening.len()..];
    let body = rest;
    while !rest.is_empty() {
        let line = first_line(rest);
        let source = &body[..body.len() - rest.len()];
        rest = &rest[line.len()..];
        let hidden = rest.is_empty() && !line.ends_with('\n') && fence.may_close(line);
        if fence.closes(line) || hidden {
            let diagram = if hidden && !fence.closes(line) { None } else { fence.diagram(source, look) };
            return diagram.unwrap_or(rows);
        }
        rows.extend(fence.line(line, look));
    }
    rows
}
