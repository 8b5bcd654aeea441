//! Maps text to rows. The layout is stored per line, so a key costs one line and not the whole text.

use std::ops::Range;

use omp_stdx::display_width;
use unicode_segmentation::UnicodeSegmentation;

const TAB: usize = 4;
const UNTIL_DRAWN: usize = 79;

#[derive(Clone, Debug)]
pub(crate) struct EditorLayout {
    width: usize,
    /// At least one line, in order.
    lines: Vec<LineRows>,
    text_len: usize,
}

/// One line of the text, from after a line break up to the next.
#[derive(Clone, Debug, Default)]
struct LineRows {
    start: usize,
    /// Index of its first row in the whole text.
    first_row: usize,
    /// Starts of its rows after the first, relative to `start`. `None` until it is laid out.
    breaks: Option<Vec<usize>>,
    /// The change since the last layout: keys that arrive in a burst are laid out together.
    changed: Option<LineEdit>,
}

/// A row on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditorRow {
    /// In bytes of the text, without the line break.
    pub range: Range<usize>,
    /// Whether the text continues in the next row without a line break.
    pub goes_on: bool,
}

impl Default for EditorLayout {
    fn default() -> Self {
        Self { width: UNTIL_DRAWN, lines: vec![LineRows::default()], text_len: 0 }
    }
}

impl EditorLayout {
    pub fn width(&self) -> usize {
        self.width
    }

    /// Lays out the lines that are not laid out at this width yet.
    pub fn fit(&mut self, text: &str, width: usize) {
        let width = width.max(1);
        let all = self.width != width;
        self.width = width;
        self.text_len = text.len();
        let mut row = 0;
        for at in 0..self.lines.len() {
            let end = self.lines.get(at + 1).map_or(text.len(), |next| next.start - 1);
            let line = &mut self.lines[at];
            let line_text = &text[line.start..end];
            match (line.changed.take(), &line.breaks) {
                (Some(edit), Some(old)) if !all => line.breaks = Some(edit.breaks(line_text, width, old)),
                (None, Some(_)) if !all => {}
                _ => line.breaks = Some(breaks(line_text, width)),
            }
            line.first_row = row;
            row += 1 + line.breaks.as_ref().map_or(0, Vec::len);
        }
    }

    /// Records that `range` of the old text became `new_len` bytes of `text`.
    pub fn edited(&mut self, text: &str, range: Range<usize>, new_len: usize) {
        let first = self.line_at(range.start);
        let last = self.line_at(range.end);
        let moved = |start: usize| start - range.len() + new_len;
        for line in &mut self.lines[last + 1..] {
            line.start = moved(line.start);
        }
        let start = self.lines[first].start;
        let inserted = &text[range.start..range.start + new_len];
        if first == last && !inserted.contains('\n') {
            let line = &mut self.lines[first];
            let edit = LineEdit { range: range.start - start..range.end - start, new_len };
            line.changed = Some(line.changed.take().map_or(edit.clone(), |before| before.then(&edit)));
            return;
        }
        let fresh = |start| LineRows { start, ..LineRows::default() };
        let new_lines = inserted.match_indices('\n').map(|(at, _)| fresh(range.start + at + 1));
        self.lines.splice(first..=last, std::iter::once(fresh(start)).chain(new_lines));
    }

    pub fn row_count(&self) -> usize {
        self.lines.last().map_or(1, |line| line.first_row + 1 + line.breaks.as_ref().map_or(0, Vec::len))
    }

    /// Returns the row of a cursor at `at`.
    pub fn row_at(&self, at: usize) -> usize {
        let line = &self.lines[self.line_at(at)];
        let within = at - line.start;
        line.first_row + line.breaks.as_ref().map_or(0, |breaks| breaks.partition_point(|start| *start <= within))
    }

    pub fn row(&self, row: usize) -> EditorRow {
        let index = self.lines.partition_point(|line| line.first_row <= row).saturating_sub(1);
        let line = &self.lines[index];
        let line_end = self.lines.get(index + 1).map_or(self.text_len, |next| next.start - 1);
        let breaks = line.breaks.as_deref().unwrap_or_default();
        let within = (row - line.first_row).min(breaks.len());
        let start = within.checked_sub(1).map_or(line.start, |before| line.start + breaks[before]);
        let end = breaks.get(within).map(|next| line.start + next);
        EditorRow { range: start..end.unwrap_or(line_end), goes_on: end.is_some() }
    }

    /// Returns the column of a cursor in its row.
    pub fn column(&self, text: &str, at: usize) -> usize {
        let row = self.row(self.row_at(at));
        text[row.range.start..at].graphemes(true).map(|grapheme| cells(grapheme, self.width)).sum()
    }

    /// Returns the cursor position closest to a column of a row.
    pub fn at_column(&self, text: &str, row: usize, column: usize) -> usize {
        let EditorRow { range, goes_on } = self.row(row);
        let (mut at, mut used) = (range.start, 0);
        for grapheme in text[range.clone()].graphemes(true) {
            used += cells(grapheme, self.width);
            let end = at + grapheme.len();
            // The position behind the last grapheme of a wrapped row belongs to the row below.
            if used > column || (goes_on && end == range.end) {
                break;
            }
            at = end;
        }
        at
    }

    fn line_at(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.start <= at).saturating_sub(1)
    }
}

/// Returns the columns of one grapheme.
pub(crate) fn cells(grapheme: &str, width: usize) -> usize {
    match grapheme.as_bytes() {
        [b'\t'] => TAB.min(width),
        [b' '..=b'~'] => 1,
        _ => display_width::width(grapheme),
    }
}

/// Returns the starts of a line's rows after the first: after spaces if a word does not fit, inside a word that is longer
/// than a row. One space may exceed the edge, in the column reserved for the cursor.
fn breaks(line: &str, width: usize) -> Vec<usize> {
    if line.len() <= width && !line.contains('\t') {
        return Vec::new();
    }
    let mut wrap = Wrap { width, ..Wrap::default() };
    wrap.put_all(line, |_| false);
    wrap.starts
}

/// Rows before a change that may break differently because of it: a word may move back to the previous row, and with
/// combining marks or double-width characters that row may affect the one before it.
const ROWS_BEFORE: usize = 3;

/// A change within a line.
#[derive(Clone, Debug)]
struct LineEdit {
    /// The range before the change, in bytes of the line.
    range: Range<usize>,
    new_len: usize,
}

impl LineEdit {
    /// Merges two changes, including the text between them.
    fn then(self, next: &LineEdit) -> LineEdit {
        let end = self.range.start + self.new_len;
        let behind = next.range.end.saturating_sub(end);
        let start = self.range.start.min(next.range.start);
        let kept_len = next.range.end.max(end) - start;
        LineEdit { range: start..self.range.end + behind, new_len: kept_len - next.range.len() + next.new_len }
    }

    /// Updates the breaks of a line after a change: only the rows around it are wrapped again, until a row starts where one
    /// started before.
    fn breaks(&self, line: &str, width: usize, old: &[usize]) -> Vec<usize> {
        let row = old.partition_point(|start| *start <= self.range.start);
        let kept = row.saturating_sub(ROWS_BEFORE);
        let start = kept.checked_sub(1).map_or(0, |before| old[before]);
        let mut wrap = Wrap { width, at: start, row_start: start, starts: old[..kept].to_vec(), ..Wrap::default() };
        let mut same = None;
        wrap.put_all(&line[start..], |begins| {
            let before = begins.checked_sub(self.range.start + self.new_len).map(|behind| self.range.end + behind);
            same = before.and_then(|before| old.binary_search(&before).ok());
            same.is_some()
        });
        let moved = |begins: &usize| begins - self.range.len() + self.new_len;
        wrap.starts.extend(same.map_or(&[][..], |at| &old[at + 1..]).iter().map(moved));
        wrap.starts
    }
}

#[derive(Default)]
struct Wrap {
    width: usize,
    starts: Vec<usize>,
    at: usize,
    column: usize,
    row_start: usize,
    /// Position and column behind the last space.
    last_break: (usize, usize),
}

impl Wrap {
    /// Adds text until `is_enough` accepts the start of a row.
    fn put_all(&mut self, text: &str, mut is_enough: impl FnMut(usize) -> bool) {
        let width = self.width;
        if text.is_ascii() {
            for byte in text.bytes() {
                if self.put(1, if byte == b'\t' { TAB.min(width) } else { 1 }, byte <= b' ')
                    && is_enough(self.row_start)
                {
                    return;
                }
            }
            return;
        }
        for grapheme in text.graphemes(true) {
            let is_space = grapheme.chars().all(char::is_whitespace);
            if self.put(grapheme.len(), cells(grapheme, width), is_space) && is_enough(self.row_start) {
                return;
            }
        }
    }

    /// Returns whether a new row started.
    fn put(&mut self, len: usize, cells: usize, is_space: bool) -> bool {
        let rows = self.starts.len();
        let hangs = is_space && cells == 1 && self.column == self.width;
        while self.column + cells > self.width && !hangs && self.at > self.row_start {
            let (start, column) = match self.last_break {
                (at, column) if at > self.row_start && !is_space => (at, column),
                _ => (self.at, self.column),
            };
            self.starts.push(start);
            self.row_start = start;
            self.column -= column;
        }
        self.at += len;
        self.column += cells;
        if is_space {
            self.last_break = (self.at, self.column);
        }
        self.starts.len() > rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(text: &str, width: usize) -> Vec<&str> {
        let mut layout = EditorLayout::default();
        layout.edited(text, 0..0, text.len());
        layout.fit(text, width);
        (0..layout.row_count()).map(|row| &text[layout.row(row).range]).collect()
    }

    #[test]
    fn lines_wrap_at_words() {
        for (text, width, want) in [
            ("", 5, vec![""]),
            ("hello world", 5, vec!["hello ", "world"]),
            ("hello world", 8, vec!["hello ", "world"]),
            ("a bb ccc", 4, vec!["a bb ", "ccc"]),
            ("abcdefgh ij", 3, vec!["abc", "def", "gh ", "ij"]),
            ("a\n\nb\n", 5, vec!["a", "", "b", ""]),
            ("日本語", 3, vec!["日", "本", "語"]),
            ("日本語", 1, vec!["日", "本", "語"]),
            ("a\tb", 3, vec!["a", "\t", "b"]),
            ("      x", 3, vec!["    ", "  x"]),
            ("e\u{301}e\u{301}e\u{301}", 2, vec!["e\u{301}e\u{301}", "e\u{301}"]),
        ] {
            assert_eq!(rows(text, width), want, "{text:?} at {width}");
        }
    }

    #[test]
    fn an_edit_lays_out_only_its_line() {
        let mut text = "one two\nthree four\nfive six".to_owned();
        let mut layout = EditorLayout::default();
        layout.edited(&text, 0..0, text.len());
        layout.fit(&text, 5);
        text.replace_range(8..13, "3\n3");
        layout.edited(&text, 8..13, 3);
        assert_eq!(
            layout.lines.iter().map(|line| line.breaks.is_some()).collect::<Vec<_>>(),
            [true, false, false, true]
        );
        layout.fit(&text, 5);
        let shown: Vec<_> = (0..layout.row_count()).map(|row| &text[layout.row(row).range]).collect();
        assert_eq!(shown, ["one ", "two", "3", "3 ", "four", "five ", "six"]);
        assert_eq!([0, 4, 8, 10, 12, 17].map(|at| layout.row_at(at)), [0, 1, 2, 3, 4, 5]);
    }

    proptest! {
        #[test]
        fn a_changed_line_wraps_as_if_it_were_new(
            text in PIECES, edits in prop::collection::vec((PIECES, 0usize..60, 0usize..12), 1..4), width in 1usize..12,
        ) {
            let mut layout = EditorLayout::default();
            layout.edited(&text, 0..0, text.len());
            layout.fit(&text, width);
            let mut changed = text;
            for (with, at, len) in edits {
                let boundary = |at: usize| changed.ceil_char_boundary(at.min(changed.len()));
                let range = boundary(at)..boundary(at + len);
                changed.replace_range(range.clone(), &with);
                layout.edited(&changed, range, with.len());
            }
            prop_assert!(layout.lines[0].breaks.is_some());
            layout.fit(&changed, width);
            let kept: Vec<&str> = (0..layout.row_count()).map(|row| &changed[layout.row(row).range]).collect();
            prop_assert_eq!(kept, rows(&changed, width));
        }
    }

    const PIECES: &str = "(a|bc|def| |  |日|e\u{301}|\u{301}|👩|\u{200d}|🇩|\t|longerword){0,16}";
}
