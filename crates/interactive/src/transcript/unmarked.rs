//! Stands in for Markdown until it is there: plain text that wraps.

use omp_tui::text::wrap_text;
use omp_tui::{Line, Space, Style};

#[derive(Default)]
pub struct Markdown {
    text: String,
    rows: Vec<Line>,
    done: bool,
}

impl Markdown {
    pub fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
    }

    pub fn draw(&mut self, space: &Space<'_>) -> &[Line] {
        self.rows = wrap_text(self.text.trim_end(), space.width, Style::PLAIN);
        &self.rows
    }

    pub fn settled_rows(&self) -> usize {
        if self.done { self.rows.len() } else { self.rows.len().saturating_sub(2) }
    }

    pub fn finish(&mut self) {
        self.done = true;
    }
}
