//! The completion list below the editor. It only inserts text into the editor.

use std::ops::Range;

use omp_stdx::display_width;

use crate::component::Space;
use crate::input::{Key, KeyCode};
use crate::line::Line;
use crate::widgets::{ListRow, ListWindow};

const MOST_ROWS: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub label: String,
    pub detail: String,
    /// The replaced range, in bytes of the editor's text.
    pub replace: Range<usize>,
    pub insert: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Completions {
    list: Vec<Completion>,
    window: ListWindow,
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
        let label_width = list.iter().map(|entry| display_width::width(&entry.label)).max().unwrap_or_default();
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
        let visible = self.window.visible(self.list.len(), MOST_ROWS.min(space.height / 2).max(1));
        let selected = self.window.selected();
        let rows = self.list[visible.clone()].iter().zip(visible).map(|(entry, at)| {
            let row =
                ListRow { selected: at == selected, label: &entry.label, detail: &entry.detail, ..ListRow::default() };
            row.draw(space, self.label_width)
        });
        let mut lines: Vec<Line> = rows.collect();
        lines.extend(self.window.position(self.list.len(), space));
        lines
    }
}
