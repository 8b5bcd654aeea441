//! Models the screen below the scrollback, as it was last painted.

use omp_stdx::display_width;
use unicode_segmentation::UnicodeSegmentation;

use super::Size;
use crate::frame::Overlay;
use crate::line::{Line, Span};
use crate::style::Style;

/// Rows and columns are relative to the first row of the window, wherever that is on the screen.
#[derive(Debug, Default)]
pub struct ScreenWindow {
    /// Frame index of its first row.
    pub top: usize,
    pub rows: Vec<Line>,
    pub cursor_row: usize,
    /// The column of the cursor; `None` after other output.
    pub cursor_column: Option<usize>,
    /// `None` if the state is unknown.
    pub cursor_shown: Option<bool>,
    /// The cursor position at the end of the frame.
    pub wanted: Option<(usize, usize)>,
    pub painted: bool,
}

impl ScreenWindow {
    /// A terminal that shrinks keeps the cursor row and pushes the top rows into the scrollback. Returns how many of our
    /// rows were pushed; rows below the cursor may be lost and are painted again.
    pub fn resized(&mut self, from: Size, to: Size, rewraps: bool) -> usize {
        if to.width < from.width && rewraps {
            self.cursor_row = self.rows_above_cursor(from.width, to.width);
        }
        self.cursor_column = None;
        let gone = self.cursor_row.saturating_sub(to.height - 1);
        self.cursor_row -= gone;
        match to.width < from.width {
            false => gone.min(self.rows.len()),
            true if rewraps => self.rows_within(gone, from.width, to.width),
            // Truncated rows are written again.
            true => 0,
        }
    }

    /// Returns how many whole rows are among the first `wrapped` rows after rows have wrapped. If in doubt it returns fewer:
    /// terminals disagree on the width of some characters, and rows appear twice rather than never.
    fn rows_within(&self, wrapped: usize, from: usize, to: usize) -> usize {
        let sure = self.rows.iter().take_while(|line| line.spans.iter().all(|span| span.text.is_ascii()));
        let ends = sure.scan(0, |end, line| {
            *end += wrapped_rows(line, from, to);
            Some(*end)
        });
        ends.take_while(|end| *end <= wrapped).count()
    }

    /// Returns the number of rows above the cursor after rows that are too wide have wrapped. If in doubt it returns fewer:
    /// one row too few shows a row twice, one too many erases output that is not ours.
    fn rows_above_cursor(&self, from: usize, to: usize) -> usize {
        let above: usize = self.rows.iter().take(self.cursor_row).map(|line| wrapped_rows(line, from, to)).sum();
        // A cursor beyond the end of the text does not wrap to another row.
        let text = self.rows.get(self.cursor_row).map_or(0, |line| painted_width(line, from));
        above + self.cursor_column.unwrap_or(0).min(text.saturating_sub(1)) / to
    }
}

fn painted_width(line: &Line, screen: usize) -> usize {
    if line.fill.is_some() { screen } else { line.width().min(screen) }
}

/// Returns the number of rows that a painted row takes after the terminal has wrapped it.
fn wrapped_rows(line: &Line, from: usize, to: usize) -> usize {
    if line.fill.is_some() || line.spans.iter().all(|span| span.text.is_ascii()) {
        return painted_width(line, from).div_ceil(to).max(1);
    }
    let (mut rows, mut used, mut all) = (1, 0, 0);
    for cluster in line.spans.iter().flat_map(|span| span.text.graphemes(true)) {
        let width = display_width::width(cluster);
        all += width;
        if all > from {
            break;
        }
        if used + width > to {
            (rows, used) = (rows + 1, 0);
        }
        used += width;
    }
    rows
}

/// Draws an overlay over the rows of a window, and extends the window if needed.
pub fn lay_over(rows: &mut Vec<Line>, overlay: &Overlay<'_>, size: Size) {
    let needed = overlay.top.saturating_add(overlay.lines.len()).min(size.height);
    if rows.len() < needed {
        rows.resize(needed, Line::new());
    }
    for (row, over) in rows.iter_mut().skip(overlay.top).zip(overlay.lines) {
        *row = composed(row, over, overlay, size.width);
    }
}

fn composed(below: &Line, over: &Line, overlay: &Overlay<'_>, width: usize) -> Line {
    let left = overlay.left.min(width);
    let right = left.saturating_add(overlay.width).min(width);
    let mut line = Line { cursor: over.cursor.map(|column| column.saturating_add(left)), ..Line::new() };
    line.spans.extend(columns(below, 0, left));
    line.spans.extend(columns(over, 0, right - left));
    line.spans.extend(columns(below, right, below.width().max(right)));
    line.fill = below.fill;
    line
}

/// Returns exactly the columns from `start` to `end`; missing columns and split characters become spaces.
pub fn columns(line: &Line, start: usize, end: usize) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut filled = start;
    for span in &line.spans {
        let width = span.width();
        let (from, to) = (start.saturating_sub(at).min(width), end.saturating_sub(at).min(width));
        if from < to {
            let (head, head_width) = display_width::clip(&span.text, from);
            // A wide character at the cut is dropped; its other half becomes a space.
            let skipped = if head_width < from { next_cluster(&span.text[head.len()..]) } else { 0 };
            let rest = &span.text[head.len() + skipped..];
            let begins = at + head_width + display_width::width(&span.text[head.len()..head.len() + skipped]);
            push_spaces(&mut found, begins.saturating_sub(filled), Style::PLAIN);
            let (text, text_width) = display_width::clip(rest, (at + to).saturating_sub(begins));
            found.push(Span { text: text.to_owned().into(), ..span.clone() });
            filled = begins + text_width;
        }
        at += width;
    }
    // Half a character may be missing before the fill begins.
    let text_end = at.clamp(filled.min(end), end);
    push_spaces(&mut found, text_end.saturating_sub(filled), Style::PLAIN);
    push_spaces(&mut found, end.saturating_sub(text_end.max(filled)), line.fill.unwrap_or_default());
    found
}

fn next_cluster(text: &str) -> usize {
    text.graphemes(true).next().map_or(0, str::len)
}

fn push_spaces(spans: &mut Vec<Span>, count: usize, style: Style) {
    if count > 0 {
        spans.push(Span::new(" ".repeat(count), style));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &'static str, start: usize, end: usize, expect: &str) {
        let cut: String = columns(&Line::from(text), start, end).iter().map(|span| &*span.text).collect();
        assert_eq!(cut, expect, "{text:?} {start}..{end}");
    }

    #[test]
    fn columns_are_cut_exactly() {
        check("abcdef", 1, 3, "bc");
        check("ab", 1, 4, "b  ");
        check("日本語", 0, 2, "日");
        check("日本語", 1, 4, " 本");
        check("日本語", 0, 3, "日 ");
        check("日本語", 1, 3, "  ");
        check("", 0, 2, "  ");
    }

    #[test]
    fn an_overlay_covers_its_columns_and_nothing_else() {
        let mut rows = vec![Line::from("aaaaaaaa")];
        let lines = [Line::from("XY"), Line::from("Z")];
        let size = Size { width: 8, height: 3 };
        lay_over(&mut rows, &Overlay { lines: &lines, top: 0, left: 2, width: 3 }, size);
        let texts: Vec<String> = rows.iter().map(Line::text).collect();
        assert_eq!(texts, ["aaXY aaa", "  Z  "]);
    }
}
