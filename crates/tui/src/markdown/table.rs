//! Tables: columns fitted to the width and cells wrapped; if that is unreadable, one record below the other.

use pulldown_cmark::Alignment;

use crate::line::{Line, Span};
use crate::style::Style;
use crate::text::{wrap, wrap_narrow};
use crate::theme::{Theme, Token};

const BETWEEN: &str = " │ ";
const CROSSING: &str = "─┼─";
/// Columns are not narrower than this.
const NARROWEST: usize = 6;

/// Lines of a cell, before wrapping.
type CellLines = Vec<Line>;

pub struct MarkdownTable {
    alignments: Vec<Alignment>,
    /// The header is first.
    rows: Vec<Vec<CellLines>>,
}

impl MarkdownTable {
    pub fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub fn is_in_head(&self) -> bool {
        self.rows.len() == 1
    }

    pub fn cell(&mut self, cell: CellLines) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Returns the number of columns of the header.
    pub fn columns(&self) -> usize {
        self.alignments.len()
    }

    pub fn draw(&self, room: usize, theme: &Theme) -> Vec<Line> {
        match self.widths(room) {
            Some(widths) => self.grid(&widths, theme),
            None => self.records(room, theme),
        }
    }

    /// Returns the width of each column if all are readable.
    fn widths(&self, room: usize) -> Option<Vec<usize>> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0).max(self.alignments.len());
        let available = room.checked_sub(BETWEEN.chars().count() * columns.saturating_sub(1))?;
        let widest = |measure: fn(&Line) -> usize| -> Vec<usize> {
            let of = |column: usize| {
                let cells = self.rows.iter().filter_map(move |row| row.get(column));
                cells.flatten().map(measure).max().unwrap_or(0).max(1)
            };
            (0..columns).map(of).collect()
        };
        let natural = widest(Line::width);
        if natural.iter().sum::<usize>() <= available {
            return Some(natural);
        }
        let share = available / columns.max(1);
        let words = widest(longest_word);
        let least = |(natural, word): (&usize, &usize)| (*natural).min((*word).clamp(NARROWEST, share.max(NARROWEST)));
        let mut widths: Vec<usize> = natural.iter().zip(&words).map(least).collect();
        let mut left = available.checked_sub(widths.iter().sum())?;
        // All columns grow in turn, so that short ones are complete first.
        while left > 0 {
            let growing = widths.iter().zip(&natural).filter(|(width, natural)| width < natural).count();
            if growing == 0 {
                break;
            }
            let step = (left / growing).max(1);
            for (width, natural) in widths.iter_mut().zip(&natural) {
                let more = step.min(natural.saturating_sub(*width)).min(left);
                *width += more;
                left -= more;
            }
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize], theme: &Theme) -> Vec<Line> {
        let border = theme.fg(Token::MdHr);
        let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let rule = Line::styled(dashes.join(CROSSING), border);
        let wrapped: Vec<Vec<Line>> = self.rows.iter().map(|row| self.grid_row(row, widths, border)).collect();
        let tall = wrapped.iter().skip(1).any(|rows| rows.len() > 1);
        let last = wrapped.len().saturating_sub(1);
        let mut out = Vec::new();
        for (index, rows) in wrapped.into_iter().enumerate() {
            out.extend(rows);
            if index == 0 || (tall && index < last) {
                out.push(rule.clone());
            }
        }
        out
    }

    fn grid_row(&self, row: &[CellLines], widths: &[usize], border: Style) -> Vec<Line> {
        let wrap_cell = |(column, width): (usize, &usize)| -> Vec<Line> {
            row.get(column).into_iter().flatten().flat_map(|line| wrap_narrow(line, *width)).collect()
        };
        let cells: Vec<Vec<Line>> = widths.iter().enumerate().map(wrap_cell).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut out = Vec::with_capacity(height);
        for at in 0..height {
            let mut line = Line::default();
            let mut owed = 0;
            for (column, width) in widths.iter().enumerate() {
                if column > 0 {
                    pad(&mut line, owed);
                    line.push(BETWEEN, border);
                }
                let (spans, used) = cells[column].get(at).map_or((&[][..], 0), |cell| (&cell.spans[..], cell.width()));
                let missing = width.saturating_sub(used);
                let before = match self.alignments.get(column) {
                    Some(Alignment::Right) => missing,
                    Some(Alignment::Center) => missing / 2,
                    _ => 0,
                };
                if used > 0 {
                    pad(&mut line, before);
                }
                line.spans.extend(spans.iter().cloned());
                // Trailing spaces of the row are not written.
                owed = if used > 0 { missing - before } else { *width };
            }
            out.push(line);
        }
        out
    }

    /// Draws each row as a list of its columns.
    fn records(&self, room: usize, theme: &Theme) -> Vec<Line> {
        let Some((head, body)) = self.rows.split_first() else { return Vec::new() };
        let mut out = Vec::new();
        if body.is_empty() {
            out.extend(head.iter().flatten().flat_map(|line| wrap(line, room)));
        }
        for (index, row) in body.iter().enumerate() {
            if index > 0 {
                out.push(Line::styled("─".repeat(room.min(NARROWEST)), theme.fg(Token::MdHr)));
            }
            for (column, cell) in row.iter().enumerate() {
                let mut line = Line::default();
                let name = head.get(column).map(Vec::as_slice).unwrap_or_default();
                line.spans.extend(name.iter().flat_map(|line| line.spans.iter().cloned()));
                line.push(": ", Style::PLAIN.bold());
                line.spans.extend(cell.first().into_iter().flat_map(|line| line.spans.iter().cloned()));
                let lines = std::iter::once(&line).chain(cell.iter().skip(1));
                out.extend(lines.flat_map(|line| wrap(line, room)));
            }
        }
        out
    }
}

fn pad(line: &mut Line, columns: usize) {
    if columns > 0 {
        line.spans.push(Span::new(" ".repeat(columns), Style::PLAIN));
    }
}

fn longest_word(line: &Line) -> usize {
    let text = line.text();
    text.split(' ').map(omp_stdx::display_width::width).max().unwrap_or(0)
}

/// Returns the cells of a row as written.
pub fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').filter(|row| !row.ends_with('\\')).unwrap_or(row);
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in row.match_indices('|') {
        if !row[..at].ends_with('\\') {
            cells.push(row[start..at].trim());
            start = at + 1;
        }
    }
    cells.push(row[start..].trim());
    cells
}
