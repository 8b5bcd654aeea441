//! The completion list below the editor. It only inserts text into the editor.

use std::ops::Range;

use omp_stdx::display_width;

use crate::component::Space;
use crate::input::{Key, KeyCode};
use crate::line::Line;
use crate::text::clip;
use crate::theme::Token;
use crate::widgets::{ListRow, ListWindow};

const MOST_ROWS: usize = 10;
/// Details of longer labels are not aligned with the others.
const WIDEST_LABEL: usize = 30;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub label: String,
    pub detail: String,
    /// The replaced range, in bytes of the editor's text.
    pub replace: Range<usize>,
    pub insert: String,
    /// A heading above the entries of a group; empty for none.
    pub group: &'static str,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Completions {
    list: Vec<Completion>,
    window: ListWindow,
    /// The rows in view, with headings.
    rows: ListWindow,
    label_width: usize,
    /// The text has changed since, so the list may be outdated.
    expired: bool,
}

/// The effect of a key on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompletionKey {
    Ignored,
    Moved,
    Accept {
        /// Whether the key falls through if accepting changes nothing.
        or_ignore: bool,
    },
}

impl Completions {
    pub fn set(&mut self, list: Vec<Completion>) {
        let widths = list.iter().map(|entry| display_width::width(&entry.label));
        let label_width = widths.max().unwrap_or_default().min(WIDEST_LABEL);
        *self = Self { list, label_width, ..Self::default() };
    }

    pub fn close(&mut self) {
        self.set(Vec::new());
    }

    pub fn expire(&mut self) {
        self.expired = true;
    }

    pub fn is_live(&self) -> bool {
        !self.list.is_empty() && !self.expired
    }

    pub fn selected(&self) -> Option<&Completion> {
        self.list.get(self.window.selected()).filter(|_| self.is_live())
    }

    pub fn take_selected(&mut self) -> Option<Completion> {
        let selected = self.selected().cloned();
        self.close();
        selected
    }

    pub fn key(&mut self, key: &Key) -> CompletionKey {
        if self.list.is_empty() || !key.mods.is_empty() || (self.expired && key.code != KeyCode::Escape) {
            return CompletionKey::Ignored;
        }
        match key.code {
            KeyCode::Tab => CompletionKey::Accept { or_ignore: false },
            KeyCode::Enter => CompletionKey::Accept { or_ignore: true },
            KeyCode::Escape => {
                self.close();
                CompletionKey::Moved
            }
            KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => {
                self.window.key(key, self.list.len());
                CompletionKey::Moved
            }
            _ => CompletionKey::Ignored,
        }
    }

    pub fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        if self.list.is_empty() {
            return Vec::new();
        }
        let selected = self.window.selected();
        let rows = self.rows();
        let most = MOST_ROWS.min(space.height / 2).max(1);
        let at = rows.iter().position(|row| *row == MenuRow::Entry(selected)).unwrap_or_default();
        // The heading of the first entry of a group comes into view with it.
        if at > 0 && matches!(rows[at - 1], MenuRow::Heading(_)) && most > 1 {
            self.rows.select(at - 1);
            self.rows.visible(rows.len(), most);
        }
        self.rows.select(at);
        let visible = self.rows.visible(rows.len(), most);
        self.window.visible(self.list.len(), most);
        let mut lines: Vec<Line> = rows[visible].iter().map(|row| self.draw_row(*row, space)).collect();
        lines.extend(self.window.position(self.list.len(), space));
        lines
    }

    /// Returns the entries, with a heading before each group.
    fn rows(&self) -> Vec<MenuRow> {
        let mut rows = Vec::with_capacity(self.list.len());
        let mut group = "";
        for (at, entry) in self.list.iter().enumerate() {
            if entry.group != group {
                group = entry.group;
                rows.push(MenuRow::Heading(at));
            }
            rows.push(MenuRow::Entry(at));
        }
        rows
    }

    fn draw_row(&self, row: MenuRow, space: &Space<'_>) -> Line {
        match row {
            MenuRow::Heading(at) => {
                clip(Line::styled(self.list[at].group, space.theme.fg(Token::Muted).bold()), space.width)
            }
            MenuRow::Entry(at) => {
                let (entry, selected) = (&self.list[at], at == self.window.selected());
                let row = ListRow { selected, label: &entry.label, detail: &entry.detail, ..ListRow::default() };
                row.draw(space, self.label_width)
            }
        }
    }
}

/// A row of the list, by the index of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MenuRow {
    /// The heading before this entry.
    Heading(usize),
    Entry(usize),
}
