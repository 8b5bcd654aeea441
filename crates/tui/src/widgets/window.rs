//! The visible part of a list and its selected entry.

use std::ops::Range;

use omp_stdx::display_width;

use crate::component::Space;
use crate::input::{Key, KeyCode};
use crate::line::Line;
use crate::theme::Token;

/// A selection in a list of any length, and the entries around it that were last drawn.
#[derive(Clone, Debug, Default)]
pub struct ListWindow {
    selected: usize,
    top: usize,
    /// Visible rows of the last draw.
    rows: usize,
}

impl ListWindow {
    pub fn selected(&self) -> usize {
        self.selected
    }

    pub fn select(&mut self, index: usize) {
        self.selected = index;
    }

    /// Up and down wrap around, pages stop at the ends.
    pub fn key(&mut self, key: &Key, len: usize) -> bool {
        if !key.mods.is_empty() {
            return false;
        }
        let last = len.saturating_sub(1);
        let page = self.rows.max(1);
        self.selected = match key.code {
            KeyCode::Up if self.selected == 0 => last,
            KeyCode::Up => self.selected - 1,
            KeyCode::Down if self.selected >= last => 0,
            KeyCode::Down => self.selected + 1,
            KeyCode::PageUp => self.selected.saturating_sub(page),
            KeyCode::PageDown => (self.selected + page).min(last),
            KeyCode::Home => 0,
            KeyCode::End => last,
            _ => return false,
        };
        true
    }

    /// Returns the entries to draw, including the selected one.
    pub fn visible(&mut self, len: usize, rows: usize) -> Range<usize> {
        self.rows = rows.min(len);
        self.selected = self.selected.min(len.saturating_sub(1));
        let least = (self.selected + 1).saturating_sub(self.rows);
        self.top = self.top.clamp(least, self.selected.max(least)).min(len - self.rows);
        self.top..self.top + self.rows
    }

    /// Shows the position in the list if not all entries are visible.
    pub fn position(&self, len: usize, space: &Space<'_>) -> Option<Line> {
        let text = format!("  ({}/{len})", self.selected + 1);
        let shown = display_width::ellipsize(&text, space.width).into_owned();
        (self.rows < len).then(|| Line::styled(shown, space.theme.fg(Token::Dim)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_entry_stays_in_the_list_and_in_sight() {
        use KeyCode::{Down, End, Home, PageDown, PageUp, Up};
        for (len, keys, at, rows) in [
            (10, vec![], 0, 0..4),
            (10, vec![Up], 9, 6..10),
            (10, vec![Up, Down], 0, 0..4),
            (10, vec![PageDown, Down], 5, 2..6),
            (10, vec![End, PageUp, Up], 4, 4..8),
            (10, vec![PageDown, PageDown, PageDown], 9, 6..10),
            (10, vec![End, Home], 0, 0..4),
            (2, vec![PageDown], 1, 0..2),
            (0, vec![Up, Down, End], 0, 0..0),
        ] {
            let mut window = ListWindow::default();
            window.visible(len, 4);
            for code in &keys {
                assert!(window.key(&Key::plain(*code), len));
                window.visible(len, 4);
            }
            assert_eq!((window.selected(), window.visible(len, 4)), (at, rows), "{len} {keys:?}");
        }
        assert!(
            !ListWindow::default().key(&Key::ctrl('a'), 3)
                && !ListWindow::default().key(&Key::plain(KeyCode::Enter), 3)
        );
    }
}
