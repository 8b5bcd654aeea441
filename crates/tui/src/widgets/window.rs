//! Which entries of a list are in sight, and which of them is selected.

use std::ops::Range;

use omp_stdx::display_width;

use crate::component::Space;
use crate::input::{Key, KeyCode};
use crate::line::Line;
use crate::theme::Token;

#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    selected: usize,
    top: usize,
    /// As of the last draw.
    rows: usize,
}

impl Window {
    pub fn selected(&self) -> usize {
        self.selected
    }

    pub fn select(&mut self, index: usize) {
        self.selected = index;
    }

    /// Up and down go around the ends, pages stop there.
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

    /// The entries to be drawn, the selected one among them.
    pub fn visible(&mut self, len: usize, rows: usize) -> Range<usize> {
        self.rows = rows.min(len);
        self.selected = self.selected.min(len.saturating_sub(1));
        let least = (self.selected + 1).saturating_sub(self.rows);
        self.top = self.top.clamp(least, self.selected.max(least)).min(len - self.rows);
        self.top..self.top + self.rows
    }

    /// Says where in the list one is, when not all of it is in sight.
    pub fn position(&self, len: usize, space: &Space<'_>) -> Option<Line> {
        let text = format!("  ({}/{len})", self.selected + 1);
        let shown = display_width::ellipsize(&text, space.width).into_owned();
        (self.rows < len).then(|| Line::styled(shown, space.theme.fg(Token::Dim)))
    }
}
