//! A scrollable view of rows.

use omp_stdx::display_width;

use crate::component::{Component, Reaction, Space};
use crate::input::{Input, KeyCode, MouseKind};
use crate::line::Line;
use crate::theme::Token;

const WHEEL: usize = 3;

#[derive(Clone, Debug, Default)]
pub struct ScrollView {
    rows: Vec<Line>,
    top: usize,
    max_rows: Option<usize>,
    /// The number of rows shown last.
    shown: usize,
}

impl ScrollView {
    pub fn new(rows: Vec<Line>) -> Self {
        Self { rows, ..Self::default() }
    }

    /// The default is half of the screen.
    pub fn max_rows(mut self, rows: usize) -> Self {
        self.max_rows = Some(rows.max(1));
        self
    }

    /// Replaces the rows; a view at the end stays at the end.
    pub fn set_rows(&mut self, rows: Vec<Line>) {
        let at_end = self.top > 0 && self.top == self.last_top();
        self.rows = rows;
        if at_end {
            self.top = self.last_top();
        }
    }

    /// Returns the first visible row.
    pub fn top(&self) -> usize {
        self.top
    }

    pub fn scroll_to(&mut self, row: usize) {
        self.top = row.min(self.last_top());
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.shown.max(1))
    }

    fn target(&self, input: &Input) -> Option<usize> {
        let page = self.shown.saturating_sub(1).max(1);
        match input {
            Input::Key(key) if key.mods.is_empty() => Some(match key.code {
                KeyCode::Up => self.top.saturating_sub(1),
                KeyCode::Down => self.top + 1,
                KeyCode::PageUp => self.top.saturating_sub(page),
                KeyCode::PageDown | KeyCode::Char(' ') => self.top + page,
                KeyCode::Home => 0,
                KeyCode::End => self.rows.len(),
                _ => return None,
            }),
            Input::Mouse(mouse) => match mouse.kind {
                MouseKind::ScrollUp => Some(self.top.saturating_sub(WHEEL)),
                MouseKind::ScrollDown => Some(self.top + WHEEL),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Component for ScrollView {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let most = self.max_rows.unwrap_or(space.height / 2).max(1);
        self.shown = self.rows.len().min(most);
        self.top = self.top.min(self.last_top());
        let end = (self.top + self.shown).min(self.rows.len());
        let mut lines = self.rows[self.top..end].to_vec();
        if self.shown < self.rows.len() {
            let mark = format!("  ({}–{end}/{})", self.top + 1, self.rows.len());
            let shown = display_width::ellipsize(&mark, space.width).into_owned();
            lines.push(Line::styled(shown, space.theme.fg(Token::Dim)));
        }
        lines
    }

    fn input(&mut self, input: &Input) -> Reaction {
        let Some(row) = self.target(input) else { return Reaction::Ignored };
        self.scroll_to(row);
        Reaction::Taken
    }
}
