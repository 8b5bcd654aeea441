//! The frame of a dialog: a border with the title, sections with rules between them, and a footer. Where rows or columns are
//! scarce, decoration is left out before content.

use omp_stdx::display_width::pad;

use crate::component::Space;
use crate::line::{Line, Span};
use crate::style::Style;
use crate::text::clip;
use crate::theme::{Symbol, Token};

/// Columns of the border and its padding.
const SIDES: usize = 4;
/// Smaller windows get a rule with the title instead of a border.
const LEAST_WIDTH: usize = 32;
const LEAST_HEIGHT: usize = 14;
/// Rows of the window that are left to what is around the dialog: what runs, the status line.
const AROUND: usize = 4;

pub struct Panel<'a> {
    outer: Space<'a>,
    title: Line,
    sections: Vec<Vec<Line>>,
    border: Token,
}

/// How much decoration there is room for, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decoration {
    /// Rules between the sections and above the footer.
    Full,
    /// The last row of the footer is part of the border.
    FooterInBorder,
    /// Like `FooterInBorder`, but without rules between the sections.
    NoRules,
}

impl<'a> Panel<'a> {
    pub fn new(space: &Space<'a>, title: Line) -> Self {
        Self { outer: *space, title, sections: vec![Vec::new()], border: Token::Border }
    }

    pub fn border(mut self, token: Token) -> Self {
        self.border = token;
        self
    }

    /// Whether there is room for a border around the content.
    pub fn has_border(space: &Space<'_>) -> bool {
        space.width >= LEAST_WIDTH && space.height >= LEAST_HEIGHT
    }

    /// Returns the space of the content.
    pub fn inner(&self) -> Space<'a> {
        if Self::has_border(&self.outer) { self.outer.narrower(SIDES) } else { self.outer }
    }

    pub fn push(&mut self, line: Line) {
        if let Some(section) = self.sections.last_mut() {
            section.push(line);
        }
    }

    /// Begins a new section. Empty sections are not drawn.
    pub fn section(&mut self) {
        self.sections.push(Vec::new());
    }

    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut Line> {
        self.sections.iter_mut().flatten()
    }

    /// Draws the panel. `footer` may have several rows.
    pub fn finish(mut self, mut footer: Vec<Line>) -> Vec<Line> {
        self.sections.retain(|section| !section.is_empty());
        if !Self::has_border(&self.outer) {
            return self.bare(footer);
        }
        let decoration = self.decoration(footer.len());
        let mut sections = std::mem::take(&mut self.sections);
        let last = footer.pop_if(|_| decoration != Decoration::Full);
        match sections.last_mut().filter(|_| decoration != Decoration::Full) {
            Some(section) => section.append(&mut footer),
            None => sections.extend(Some(footer).filter(|rows| !rows.is_empty())),
        }
        let mut lines = vec![self.edge((Symbol::RoundTopLeft, Symbol::RoundTopRight), Some(&self.title))];
        for (at, section) in sections.into_iter().enumerate() {
            let has_rule = at > 0 && decoration != Decoration::NoRules;
            lines.extend(has_rule.then(|| self.edge((Symbol::SharpTeeRight, Symbol::SharpTeeLeft), None)));
            lines.extend(section.into_iter().map(|row| self.between_sides(row)));
        }
        lines.push(self.edge((Symbol::RoundBottomLeft, Symbol::RoundBottomRight), last.as_ref()));
        lines
    }

    /// Without a border: a rule with the title, the rows, the footer.
    fn bare(mut self, footer: Vec<Line>) -> Vec<Line> {
        let ends = (Symbol::RoundHorizontal, Symbol::RoundHorizontal);
        let mut lines = vec![self.edge(ends, Some(&self.title))];
        let rows = std::mem::take(&mut self.sections).into_iter().flatten().chain(footer);
        lines.extend(rows.map(|row| if row.width() > self.outer.width { clip(row, self.outer.width) } else { row }));
        lines
    }

    fn decoration(&self, footer: usize) -> Decoration {
        const EDGES: usize = 2;
        let rows: usize = self.sections.iter().map(Vec::len).sum();
        let rules = self.sections.len().saturating_sub(1);
        let most = self.outer.height.saturating_sub(AROUND);
        match () {
            () if EDGES + rows + rules + 1 + footer <= most => Decoration::Full,
            () if EDGES + rows + rules + footer.saturating_sub(1) <= most => Decoration::FooterInBorder,
            () => Decoration::NoRules,
        }
    }

    /// Draws a horizontal line, with text in it.
    fn edge(&self, ends: (Symbol, Symbol), text: Option<&Line>) -> Line {
        let (symbols, style) = (self.outer.theme.symbols(), self.outer.theme.fg(self.border));
        let bar = |columns: usize| symbols.get(Symbol::RoundHorizontal).repeat(columns);
        let mut line = Line::styled(symbols.get(ends.0).to_owned(), style);
        if let Some(text) = text.filter(|text| !text.is_blank()) {
            line.push(format!("{} ", bar(1)), style);
            line.spans.extend(clip(text.clone(), self.outer.width.saturating_sub(SIDES + 2)).spans);
            line.push(" ", style);
        }
        line.push(bar(self.outer.width.saturating_sub(line.width() + 1)), style);
        line.push(symbols.get(ends.1).to_owned(), style);
        clip(line, self.outer.width)
    }

    fn between_sides(&self, row: Line) -> Line {
        let style = self.outer.theme.fg(self.border);
        let side = self.outer.theme.symbols().get(Symbol::RoundVertical);
        let room = self.outer.width.saturating_sub(SIDES);
        let row = if row.width() > room { clip(row, room) } else { row };
        let missing = pad("", room.saturating_sub(row.width())).into_owned();
        let mut line = Line { cursor: row.cursor.map(|column| column + 2), escape: row.escape, ..Line::new() };
        line.push(format!("{side} "), style);
        line.spans.extend(row.spans);
        line.push(missing, row.fill.unwrap_or(Style::PLAIN)).push(format!(" {side}"), style);
        line
    }
}

/// A horizontal rule across the space.
pub fn horizontal_rule(space: &Space<'_>, color: Token) -> Line {
    let bar = space.theme.symbols().get(Symbol::RoundHorizontal).repeat(space.width);
    Line { spans: vec![Span::new(bar, space.theme.fg(color))], ..Line::new() }
}
