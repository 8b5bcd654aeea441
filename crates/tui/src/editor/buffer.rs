//! The text with its markers and its cursor, which is always between two graphemes and never inside a marker.
//!
//! All changes go through [`Buffer::replace`], so a single function keeps markers and cursor valid and determines which
//! lines must be laid out again.

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::fragment::{Fragment, Marker};
use super::layout::EditorLayout;

#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    content: Fragment,
    cursor: usize,
    layout: EditorLayout,
    /// Counts the changes.
    version: u64,
}

impl Buffer {
    pub fn text(&self) -> &str {
        &self.content.text
    }

    pub fn content(&self) -> &Fragment {
        &self.content
    }

    pub fn markers(&self) -> &[Marker] {
        &self.content.markers
    }

    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns a number that changes with the text.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns an empty buffer that continues the version counter.
    pub fn emptied(&self) -> Self {
        Self { version: self.version + 1, ..Self::default() }
    }

    /// Returns the layout of the last [`Buffer::fit`].
    pub fn layout(&self) -> &EditorLayout {
        &self.layout
    }

    pub fn fit(&mut self, width: usize) {
        self.layout.fit(&self.content.text, width);
    }

    /// Lays out changed lines again, at the width of the last draw.
    pub fn refit(&mut self) {
        self.fit(self.layout.width());
    }

    /// Moves the cursor to the next valid position.
    pub fn set_cursor(&mut self, to: usize) {
        self.cursor = self.settle(to.min(self.text().len()), true);
    }

    pub fn set_cursor_before(&mut self, to: usize) {
        self.cursor = self.settle(to.min(self.text().len()), false);
    }

    /// Returns the range, widened so that no grapheme and no marker is cut.
    pub fn widened(&self, range: Range<usize>) -> Range<usize> {
        let end = self.text().len();
        self.settle(range.start.min(end), false)..self.settle(range.end.min(end), true)
    }

    /// Replaces `range` by `with`, puts the cursor behind it and returns the old content. Both ends of the range must be
    /// valid cursor positions.
    pub fn replace(&mut self, range: Range<usize>, with: &Fragment) -> Fragment {
        self.version += 1;
        let removed_text = self.content.text[range.clone()].to_owned();
        let first = self.content.markers.partition_point(|marker| marker.range.end <= range.start);
        let last = self.content.markers.partition_point(|marker| marker.range.start < range.end).max(first);
        for marker in &mut self.content.markers[last..] {
            let moved = |at: usize| at - range.len() + with.text.len();
            marker.range = moved(marker.range.start)..moved(marker.range.end);
        }
        let arriving: Vec<Marker> = with.markers.iter().map(|marker| marker.moved(range.start)).collect();
        let removed = self.content.markers.splice(first..last, arriving);
        let away = |marker: Marker| Marker {
            range: marker.range.start - range.start..marker.range.end - range.start,
            means: marker.means,
        };
        let removed_markers = removed.map(away).collect();
        self.content.text.replace_range(range.clone(), &with.text);
        self.layout.edited(&self.content.text, range.clone(), with.text.len());
        self.set_cursor(range.start + with.text.len());
        Fragment { text: removed_text, markers: removed_markers }
    }

    /// Returns the end of the unit after `at`.
    pub fn next(&self, at: usize) -> usize {
        if let Some(marker) = self.markers().iter().find(|marker| marker.range.start == at) {
            return marker.range.end;
        }
        let end = self.stretch(at).end;
        self.text()[at..end].graphemes(true).next().map_or_else(
            // `at` is at the end of a line or before a marker.
            || self.text()[at..].chars().next().map_or(at, |char| at + char.len_utf8()),
            |grapheme| at + grapheme.len(),
        )
    }

    /// Returns the start of the unit before `at`.
    pub fn previous(&self, at: usize) -> usize {
        if let Some(marker) = self.markers().iter().find(|marker| marker.range.end == at) {
            return marker.range.start;
        }
        let start = self.stretch_before(at);
        self.text()[start..at].graphemes(true).next_back().map_or(at.saturating_sub(1), |unit| at - unit.len())
    }

    pub fn line_start(&self, at: usize) -> usize {
        self.text()[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    pub fn line_end(&self, at: usize) -> usize {
        self.text()[at..].find('\n').map_or(self.text().len(), |newline| at + newline)
    }

    /// Returns the text around `at` that contains neither a line break nor a marker.
    fn stretch(&self, at: usize) -> Range<usize> {
        let before = self.markers().partition_point(|marker| marker.range.end <= at);
        let start = before.checked_sub(1).map_or(0, |index| self.markers()[index].range.end);
        let end = self.markers().get(before).map_or(self.text().len(), |marker| marker.range.start.max(at));
        self.line_start(at).max(start)..self.line_end(at).min(end)
    }

    fn stretch_before(&self, at: usize) -> usize {
        let before = self.markers().partition_point(|marker| marker.range.end <= at);
        let start = before.checked_sub(1).map_or(0, |index| self.markers()[index].range.end);
        self.line_start(at).max(start)
    }

    /// Returns the nearest valid cursor position at or after (or before) `at`.
    fn settle(&self, mut at: usize, forward: bool) -> usize {
        // Most keys are typed at the end, where the line need not be scanned.
        if at == self.text().len() {
            return at;
        }
        while !self.text().is_char_boundary(at) {
            at = if forward { at + 1 } else { at - 1 };
        }
        if let Some(marker) = self.markers().iter().find(|marker| marker.range.start < at && at < marker.range.end) {
            return if forward { marker.range.end } else { marker.range.start };
        }
        let stretch = self.stretch(at);
        let text = &self.text()[stretch.clone()];
        let mut near = GraphemeCursor::new(at - stretch.start, text.len(), true);
        if near.is_boundary(text, 0).unwrap_or(true) {
            return at;
        }
        let found = if forward { near.next_boundary(text, 0) } else { near.prev_boundary(text, 0) };
        found.ok().flatten().map_or(at, |within| stretch.start + within)
    }
}
